/** The store as a limiter uses it: receipts as text, priorities by name, keys that the limiter makes. */
import { strict as assert } from 'node:assert';
import {
  createLimiter,
  fixedWindow,
  type Step,
  type Store,
  type SyncStore,
  slidingWindowLog,
  tokenBucket,
} from '@limiter/core';
import type { Bench } from '../bench.js';
import type { Group } from '../check.js';

/** 139 years: no window ends and no token comes back while a check runs. */
const LONG: `${number}ms` = `${2 ** 42}ms`;

const LIMITS = {
  requests: slidingWindowLog({ limit: 10, window: LONG, reserve: { low: '50%', normal: 2, high: 0 } }),
  bytes: fixedWindow({ limit: 1_000, window: LONG }),
  tries: tokenBucket({ capacity: 4, refill: { tokens: 1, per: LONG }, mode: 'shadow' }),
};

const limiterOn = (store: Store, name: string) =>
  createLimiter({ name, store, limits: LIMITS, onStoreFailure: 'throw', storeTimeout: '60s' });
type Ours = ReturnType<typeof limiterOn>;

const newName = (bench: Bench): string => `suite-${bench.name().replaceAll(/[^a-z0-9]+/g, '-')}`;

/** What is left of requests and bytes for the most important call. */
async function left(limiter: Ours, subject: string): Promise<readonly number[]> {
  const { limits } = await limiter.inspect(subject, { priority: 'high' });
  return [limits.requests.remaining, limits.bytes.remaining];
}

async function oneQuestion(bench: Bench): Promise<void> {
  const limiter = limiterOn(bench.store, newName(bench));
  const cost = { requests: 1, bytes: 400, tries: 1 };
  const first = await limiter.consume('someone', { cost });
  assert.deepEqual([first.allowed, first.reason, first.decidedBy], [true, 'admitted', 'store']);
  await limiter.consume('someone', { cost });
  const refused = await limiter.consume('someone', { cost });
  assert.deepEqual([refused.allowed, refused.reason, refused.tightest?.name], [false, 'over-limit', 'bytes']);
  assert.deepEqual(await left(limiter, 'someone'), [8, 200], 'the refusal has charged neither');
  assert.deepEqual(await left(limiter, 'someone else'), [10, 1_000]);
  const never = await limiter.consume('someone', { cost: { requests: 1, bytes: 1_001, tries: 1 } });
  assert.deepEqual([never.reason, never.retryAfterMs], ['cost-above-limit', Number.POSITIVE_INFINITY]);
  await limiter.close();
}

async function byPriority(bench: Bench): Promise<void> {
  const limiter = limiterOn(bench.store, newName(bench));
  const admitted = async (priority: 'low' | 'normal' | 'high'): Promise<number> => {
    for (let n = 0; ; n += 1) {
      const { allowed, reason } = await limiter.consume('someone', { priority });
      if (allowed) continue;
      assert.equal(reason, priority === 'high' ? 'over-limit' : 'held-back');
      return n;
    }
  };
  assert.deepEqual([await admitted('low'), await admitted('normal'), await admitted('high')], [5, 3, 2]);
  await limiter.close();
}

async function receiptsAreText(bench: Bench): Promise<void> {
  const name = newName(bench);
  const limiter = limiterOn(bench.store, name);
  const subject = 'any {one}: \0 at all';
  const { receipt } = await limiter.consume(subject, { cost: { requests: 3, bytes: 500, tries: 5 } });
  const kept = JSON.parse(JSON.stringify(receipt)) as string;
  // Another limiter of the same name, as another process would have it.
  const other = limiterOn(bench.store, name);
  const done = await other.refund(kept, { requests: 2, bytes: 100, tries: 5 });
  assert.deepEqual(done.limits.requests, { givenBack: 2, charged: 0, cut: 0 });
  assert.deepEqual(done.limits.bytes, { givenBack: 100, charged: 0, cut: 0 });
  assert.equal(done.limits.tries?.givenBack ?? 0, 0, 'the shadow limit did not admit, and was not charged');
  assert.deepEqual(await left(limiter, subject), [9, 600]);
  assert.equal((await other.refund(kept)).closed, true, 'a receipt is closed by its first use');
  assert.deepEqual(await left(limiter, subject), [9, 600]);
  for (const one of [limiter, other]) await one.close();
}

async function settled(bench: Bench): Promise<void> {
  const limiter = limiterOn(bench.store, newName(bench));
  const { receipt = '' } = await limiter.consume('someone', { cost: { requests: 0, bytes: 500, tries: 1 } });
  const done = await limiter.settle(receipt, { requests: 1, bytes: 2_700 });
  assert.deepEqual(done.limits.requests, { givenBack: 0, charged: 1, cut: 0 });
  assert.deepEqual(done.limits.bytes, { givenBack: 0, charged: 1_500, cut: 700 }, 'up to twice the limit');
  assert.deepEqual(await left(limiter, 'someone'), [9, 0]);
  const less = await limiter.consume('someone else', { cost: { requests: 1, bytes: 500, tries: 1 } });
  await limiter.settle(less.receipt ?? '', { requests: 1, bytes: 20 });
  assert.deepEqual(await left(limiter, 'someone else'), [9, 980]);
  await limiter.close();
}

async function usedOnceEverywhere(bench: Bench): Promise<void> {
  const name = newName(bench);
  const sent: Step[] = [];
  const { traits } = bench.store;
  const watched: Store = {
    traits,
    run: (steps, signal) => {
      sent.push(...steps);
      return bench.store.run(steps, signal);
    },
  };
  const limiter = limiterOn(watched, name);
  const other = limiterOn(bench.store, name);
  const { receipt = '' } = await limiter.consume('someone', { cost: 4 });
  await limiter.consume('someone', { cost: 4 });
  assert.equal((await limiter.refund(receipt, 1, { once: 'everywhere' })).closed, false);
  assert.equal((await other.refund(receipt, 1, { once: 'everywhere' })).closed, true);
  // This process remembers what it has used; another one sends the same step, and finds the marker.
  const [again] = await bench.store.run([sent.findLast(({ op }) => op === 'adjust') as Step]);
  assert.equal(again?.ok && again.op === 'adjust' && again.closed, true, 'another process uses it too');
  assert.deepEqual(await left(limiter, 'someone'), [3, 993]);
  for (const one of [limiter, other]) await one.close();
}

async function resetOfOneLimit(bench: Bench): Promise<void> {
  const limiter = limiterOn(bench.store, newName(bench));
  await limiter.consume('user', { cost: 5 });
  await limiter.consume('user:admin', { cost: 5 });
  await limiter.reset('user', { limits: ['bytes'] });
  assert.deepEqual(await left(limiter, 'user'), [5, 1_000]);
  await limiter.reset('user');
  assert.deepEqual(await left(limiter, 'user'), [10, 1_000]);
  assert.deepEqual(await left(limiter, 'user:admin'), [5, 995]);
  await limiter.close();
}

async function atOnce(bench: Bench): Promise<void> {
  const store: SyncStore = bench.syncStore;
  const limiter = createLimiter({ name: newName(bench), store, limits: LIMITS, onStoreFailure: 'throw' });
  const first = limiter.consumeSync('someone', { cost: 6 });
  assert.deepEqual([first.allowed, first.limits.requests.remaining], [true, 2]);
  assert.equal(limiter.consumeSync('someone', { cost: 3 }).reason, 'held-back');
  assert.equal(limiter.refundSync(first.receipt ?? '', 2).limits.requests?.givenBack, 2);
  assert.equal(limiter.peekSync('someone', { cost: 4 }).allowed, true);
  assert.equal((await limiter.peek('someone', { cost: 4 })).allowed, true);
  await limiter.close();
}

export const throughALimiter: Group = {
  name: 'through a limiter',
  checks: [
    { title: 'a limiter asks several limits as one question, and a refusal costs nothing', run: oneQuestion },
    { title: 'reports are shed before uploads: 5 low, 3 normal and 2 high of 10', run: byPriority },
    { title: 'a receipt survives JSON, is used by another limiter of the name, and once', run: receiptsAreText },
    { title: 'a settlement charges more or gives back, and says what was cut', run: settled },
    {
      title: 'a receipt that is used once everywhere is closed for every limiter',
      needs: ['once'],
      run: usedOnceEverywhere,
    },
    { title: 'a reset forgets one limit or all of a subject, and of no other subject', run: resetOfOneLimit },
    { title: 'a limiter on a store that answers at once does too', needs: ['sync'], run: atOnce },
  ],
};
