import {
  createLimiter,
  type Decision,
  type Duration,
  fixedWindow,
  type Limit,
  type Limiter,
  type Names,
  type NeverFails,
  type Store,
  type Subject,
  type SyncLimiter,
  type SyncStore,
  slidingWindowLog,
  tokenBucket,
} from '../src/index.js';

declare function memoryStore(): SyncStore & NeverFails;
declare function redisStore(): Store;
type Same<X, Y> = (<T>() => T extends X ? 1 : 2) extends <T>() => T extends Y ? 1 : 2 ? true : false;
declare function same<X, Y>(ok: Same<X, Y>): void;

// ---- the example of chapter 3, word for word ------------------------------------------------------------------
const uploads = createLimiter({
  name: 'uploads',
  store: memoryStore(),
  limits: {
    device: tokenBucket({ by: 'device', capacity: 120, refill: '120/1m' }),
    org: slidingWindowLog({
      by: 'org',
      limit: { free: 200, pro: 2_000, internal: 'unlimited' },
      window: '1m',
      ledger: 'org-ceiling',
    }),
    day: fixedWindow({ by: 'org', limit: 50_000, window: '1d', mode: 'shadow', reserve: { low: '50%' } }),
  },
  onStoreFailure: 'allow',
});
const d = await uploads.consume({ device: 'd7', org: 'o1' }, { cost: 3, tier: 'pro', priority: 'low' });
d.allowed;
d.retryAfterMs;
d.limits.org.remaining;
d.tightest?.name;
d.decidedBy;
d.receipt;
same<typeof d, Decision<'device' | 'org' | 'day', 'free' | 'pro' | 'internal'>>(true);
same<NonNullable<typeof d.tightest>['name'], 'device' | 'org' | 'day'>(true);
same<typeof d.limits.org.name, 'org'>(true);
same<typeof d.tier, 'free' | 'pro' | 'internal' | undefined>(true);
if (d.tightest?.name === 'org') d.tightest.remaining;
for (const status of Object.values(d.limits)) status.name satisfies 'device' | 'org' | 'day';
// @ts-expect-error misspelt limit in the decision
d.limits.ogr;
// @ts-expect-error compared with a name that is no limit
d.tightest?.name === 'ogr';

// ---- axes -----------------------------------------------------------------------------------------------------
const one = createLimiter({
  name: 'one',
  store: memoryStore(),
  limits: { a: fixedWindow({ by: 'org', limit: 1, window: '1m' }) },
});
const two = createLimiter({
  name: 'two',
  store: memoryStore(),
  limits: { a: fixedWindow({ by: ['org', 'route'], limit: 1, window: '1m' }) },
});
const all = createLimiter({
  name: 'all',
  store: memoryStore(),
  limits: { a: fixedWindow({ by: '*', limit: 1, window: '1m' }) },
});
const plain = createLimiter({
  name: 'plain',
  store: memoryStore(),
  limits: {
    a: fixedWindow({ limit: 1, window: '1m' }),
    b: tokenBucket({ capacity: 1, refill: { tokens: 1, per: '1s' } }),
  },
});
const plainAll = createLimiter({
  name: 'plain',
  store: memoryStore(),
  limits: { a: fixedWindow({ limit: 1, window: '1m' }), b: fixedWindow({ by: '*', limit: 9, window: '1m' }) },
});
const union = createLimiter({
  name: 'union',
  store: memoryStore(),
  limits: {
    a: fixedWindow({ by: 'org', limit: 1, window: '1m' }),
    b: slidingWindowLog({ by: ['org', 'route'], limit: 1, window: '1m' }),
    c: tokenBucket({ by: 'ip', capacity: 1, refill: '1/1s' }),
    d: fixedWindow({ by: '*', limit: 1, window: '1m' }),
  },
});
const mixed = createLimiter({
  name: 'mixed',
  store: memoryStore(),
  limits: { a: fixedWindow({ limit: 1, window: '1m' }), b: fixedWindow({ by: 'org', limit: 9, window: '1m' }) },
});
one.consume({ org: 'x' });
one.consume({ org: null });
two.consume({ org: 'x', route: '/' });
all.consume({});
plain.consume('user:1');
plainAll.consume('user:1');
union.consume({ org: 'x', route: null, ip: '::1' });
mixed.consume({ subject: 'user:1', org: 'x' });
const request = { org: 'x', route: '/', ip: '::1', agent: 'curl' };
union.consume(request);
one.consume(request); // one record for many limiters: a variable may know more
// @ts-expect-error misspelt axis
one.consume({ ogr: 'x' });
// @ts-expect-error misspelt axis beside a right one
one.consume({ org: 'x', rout: '/' });
// @ts-expect-error missing axis
union.consume({ org: 'x', route: '/' });
declare const maybe: { user?: string };
// @ts-expect-error undefined axis value
one.consume({ org: maybe.user });
one.consume({ org: maybe.user ?? null });
// @ts-expect-error a number is no axis value
one.consume({ org: 7 });
// @ts-expect-error string subject for keyed limits
one.consume('x');
// @ts-expect-error record subject for unkeyed limits
plain.consume({ org: 'x' });
// @ts-expect-error null for an unkeyed limit
plain.consume(null);
// @ts-expect-error an axis where no limit has one
all.consume({ org: 'x' });
// @ts-expect-error string subject where no limit has an axis
all.consume('x');
// @ts-expect-error one limit without by beside one with: it has to be named
mixed.consume({ org: 'x' });
// @ts-expect-error no axes
fixedWindow({ by: [], limit: 1, window: '1m' });
// @ts-expect-error misspelt option
fixedWindow({ by: 'org', limit: 1, window: '1m', mdoe: 'shadow' });
// @ts-expect-error missing window
fixedWindow({ by: 'org', limit: 1 });

// ---- tiers, reserve, priority -----------------------------------------------------------------------------------
uploads.peek({ device: null, org: 'o' }, { tier: 'internal' });
// @ts-expect-error missing tier: no options
uploads.consume({ device: 'd', org: 'o' });
// @ts-expect-error missing tier: other options
uploads.consume({ device: 'd', org: 'o' }, { cost: 3 });
// @ts-expect-error unknown tier
uploads.consume({ device: 'd', org: 'o' }, { tier: 'gold' });
// @ts-expect-error tier from a string
uploads.consume({ device: 'd', org: 'o' }, { tier: String(1) });
// @ts-expect-error no limit has tiers
one.consume({ org: 'o' }, { tier: 'pro' });
// @ts-expect-error unknown priority
uploads.consume({ device: 'd', org: 'o' }, { tier: 'pro', priority: 'lwo' });
// @ts-expect-error no limit names it
one.consume({ org: 'o' }, { priority: 'low' });
uploads.consume({ device: 'd', org: 'o' }, { tier: 'pro', priority: 'normal' });
const bucketTiers = createLimiter({
  name: 'b',
  store: memoryStore(),
  limits: {
    a: tokenBucket({ capacity: { free: 1, pro: 9 }, refill: { free: '1/1s', pro: '9/1s' } }),
    b: tokenBucket({ capacity: 5, refill: { free: '1/1s', pro: '9/1s' } }),
    c: fixedWindow({ limit: { free: 1, pro: 1, extra: 2 }, window: '1d' }),
  },
});
bucketTiers.consume('x', { tier: 'free' });
// @ts-expect-error a tier that one of the limits with tiers does not name
bucketTiers.consume('x', { tier: 'extra' });
// @ts-expect-error capacity and refill in different tiers
tokenBucket({ capacity: { free: 1, pro: 9 }, refill: { free: '1/1s' } });
// @ts-expect-error bad value in a tier
fixedWindow({ limit: { free: 1, pro: 'many' }, window: '1m' });
// @ts-expect-error half a unit
fixedWindow({ limit: 9, window: '1m', reserve: { low: '12.5%' } });

// ---- cost, per-call limits, failure -----------------------------------------------------------------------------
uploads.consume(
  { device: 'd', org: 'o' },
  {
    tier: 'pro',
    cost: { device: 1, org: 300, day: 0 },
    limits: { org: 12_000, day: 'unlimited' },
    onStoreFailure: 'deny',
  },
);
// @ts-expect-error unknown cost name
uploads.consume({ device: 'd', org: 'o' }, { tier: 'pro', cost: { device: 1, org: 300, dya: 0 } });
// @ts-expect-error unknown cost name beside all
uploads.consume({ device: 'd', org: 'o' }, { tier: 'pro', cost: { device: 1, org: 300, day: 0, dya: 0 } });
// @ts-expect-error incomplete cost record
uploads.consume({ device: 'd', org: 'o' }, { tier: 'pro', cost: { device: 1, org: 300 } });
// @ts-expect-error cost may not be undefined
uploads.consume({ device: 'd', org: 'o' }, { tier: 'pro', cost: [1][0] });
// @ts-expect-error unknown limit in the per-call limits
uploads.consume({ device: 'd', org: 'o' }, { tier: 'pro', limits: { ogr: 1 } });

// ---- stores, failure --------------------------------------------------------------------------------------------
const limits = { a: fixedWindow({ by: 'ip', limit: 1, window: '1m' }) };
const remote = createLimiter({ name: 'r', store: redisStore(), limits, onStoreFailure: 'deny' });
const falls = createLimiter({
  name: 'f',
  store: redisStore(),
  limits,
  onStoreFailure: 'fallback',
  fallback: { store: memoryStore(), share: 0.25 },
});
const perCall = createLimiter({
  name: 'p',
  store: redisStore(),
  limits,
  onStoreFailure: 'deny',
  fallback: { store: memoryStore(), share: 0.25 },
});
perCall.consume({ ip: 'x' }, { onStoreFailure: 'fallback' });
const either = createLimiter({
  name: 'e',
  store: Math.random() > 0.5 ? memoryStore() : redisStore(),
  limits,
  onStoreFailure: 'deny',
  mode: 'shadow',
});
one.consumeSync({ org: 'x' }).limits.a.remaining;
one.peekSync({ org: 'x' });
one.inspectSync({ org: 'x' });
one.resetSync({ org: 'x' });
(await falls.consume({ ip: 'x' })).wouldBe;
remote.close();
// @ts-expect-error consumeSync on an asynchronous store
remote.consumeSync({ ip: 'x' });
// @ts-expect-error one of two stores is asynchronous
either.consumeSync({ ip: 'x' });
// @ts-expect-error missing onStoreFailure on an asynchronous store
createLimiter({ name: 'r', store: redisStore(), limits });
// @ts-expect-error ... and when only one of two is
createLimiter({ name: 'e', store: Math.random() > 0.5 ? memoryStore() : redisStore(), limits });
// @ts-expect-error fallback without one
createLimiter({ name: 'r', store: redisStore(), limits, onStoreFailure: 'fallback' });
// @ts-expect-error fallback without one, in-process store
createLimiter({ name: 'r', store: memoryStore(), limits, onStoreFailure: 'fallback' });
// @ts-expect-error unknown policy
createLimiter({ name: 'r', store: redisStore(), limits, onStoreFailure: 'alow' });
// @ts-expect-error misspelt option
createLimiter({ name: 'm', store: memoryStore(), limits, onStoreFailur: 'deny' });
// @ts-expect-error a fallback that was not configured
remote.consume({ ip: 'x' }, { onStoreFailure: 'fallback' });

// ---- receipts, reset, inspect -----------------------------------------------------------------------------------
if (d.receipt !== undefined) {
  await uploads.refund(d.receipt);
  await uploads.refund(d.receipt, { org: 2 });
  await uploads.settle(d.receipt, 5);
  await uploads.settle(d.receipt, { device: 1, org: 2, day: 3 }, { once: 'everywhere' });
}
// @ts-expect-error a decision may have charged nothing
uploads.refund(d.receipt);
// @ts-expect-error unknown limit in a refund
uploads.refund('r', { ogr: 2 });
uploads.reset({ device: 'd', org: 'o' });
uploads.reset({ device: null, org: 'o' }, { limits: ['org', 'day'] });
uploads.inspect({ device: 'd', org: 'o' }, { tier: 'pro' });
// @ts-expect-error unknown limit in reset
uploads.reset({ device: 'd', org: 'o' }, { limits: ['ogr'] });
// @ts-expect-error inspect needs the tier
uploads.inspect({ device: 'd', org: 'o' });
// @ts-expect-error inspect has no cost
uploads.inspect({ device: 'd', org: 'o' }, { tier: 'pro', cost: 3 });

// ---- text -------------------------------------------------------------------------------------------------------
const n = 5;
declare const ms: number;
for (const window of ['250ms', '10s', '5m', '1h', '7d', `${n}ms`, `${ms}ms`] satisfies Duration[])
  fixedWindow({ limit: 1, window });
tokenBucket({ capacity: 120, refill: '120/1m' });
tokenBucket({ capacity: 120, refill: { tokens: 120, per: '1m' } });
tokenBucket({ capacity: 1, refill: `${ms}/${ms}ms` });
tokenBucket({ capacity: ms, refill: { tokens: ms, per: `${ms}ms` } });
// @ts-expect-error a bare number
fixedWindow({ limit: 1, window: 60 });
// @ts-expect-error no such unit
fixedWindow({ limit: 1, window: '1 fortnight' });
// @ts-expect-error a space
fixedWindow({ limit: 1, window: '1 m' });
// @ts-expect-error half a minute
fixedWindow({ limit: 1, window: '0.5m' });
// @ts-expect-error an exponent
fixedWindow({ limit: 1, window: '1e3s' });
// @ts-expect-error text that is not known
fixedWindow({ limit: 1, window: String('1m') });
// @ts-expect-error no unit after the slash
tokenBucket({ capacity: 1, refill: '1/60' });
// @ts-expect-error too much
tokenBucket({ capacity: 1, refill: '1/1m/1' });
fixedWindow({ limit: 1, window: '-5m' });
fixedWindow({ limit: 1, window: '0s' });
fixedWindow({ limit: 1, window: '0.5ms' });
fixedWindow({ limit: -0.5, window: '1m' }); // compile: run time only

// ---- a policy from JSON: names unknown --------------------------------------------------------------------------
declare const policy: Record<string, Limit>;
const loose = createLimiter({ name: 'json', store: memoryStore(), limits: policy });
same<
  typeof loose,
  SyncLimiter<{ axes: string; limits: string; tiers: string; priorities: string; failures: 'allow' | 'deny' | 'throw' }>
>(true);
const l = await loose.consume(
  { org: 'x', anything: null },
  { tier: 'whatever', priority: 'low', cost: { a: 1 }, limits: { a: 3 } },
);
loose.consume('x');
loose.consumeSync({ org: 'x' }, { cost: 3 });
loose.reset({ org: 'x' }, { limits: ['a'] });
l.limits['a']?.remaining;
l.tightest?.name satisfies string | undefined;
// @ts-expect-error an unknown name may be absent
l.limits['a'].remaining;
// @ts-expect-error undefined axis values are refused here too
loose.consume({ org: maybe.user });
const more: Record<string, Limit> = { ...policy, extra: fixedWindow({ by: 'org', limit: 1, window: '1m' }) }; // without the annotation TypeScript forgets the names of `policy`
const partly = createLimiter({ name: 'half', store: memoryStore(), limits: more });
partly.consume({ org: 'x', route: '/' });
const axis: string = 'org';
const dynamic = createLimiter({
  name: 'dyn',
  store: memoryStore(),
  limits: { a: fixedWindow({ by: axis, limit: 1, window: '1m' }) },
});
dynamic.consume({ [axis]: 'x' });

// ---- written by others: any limiter, a guard, an exported limiter -------------------------------------------------
declare function watch(limiter: Limiter): void;
watch(uploads);
watch(one);
watch(plain);
watch(all);
watch(remote);
watch(loose);
declare function guard<N extends Names>(
  limiter: Limiter<N>,
  subject: (request: { ip: string }) => Subject<N['axes']>,
): void;
guard(remote, (r) => ({ ip: r.ip }));
guard(plain, (r) => r.ip);
guard(uploads, (r) => ({ device: r.ip, org: null }));
// @ts-expect-error misspelt axis in a guard
guard(remote, (r) => ({ pi: r.ip }));
declare const specific: Limiter<{
  axes: 'ip';
  limits: 'a';
  tiers: never;
  priorities: never;
  failures: 'allow' | 'deny' | 'throw';
}>;
const assigned: typeof specific = remote;

export { assigned as remoteOne };
export const exported: SyncLimiter<{
  axes: 'org';
  limits: 'a';
  tiers: never;
  priorities: never;
  failures: 'allow' | 'deny' | 'throw';
}> = one;
