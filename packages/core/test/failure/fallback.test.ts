import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LimiterError } from '../../src/errors.js';
import { withFallback } from '../../src/failure/fallback.js';
import type {
  AdjustStep,
  AskOutcome,
  AskStep,
  Charge,
  Failure,
  Fault,
  Rule,
  Step,
  SyncStore,
} from '../../src/index.js';
import { flakyStore, flakySyncStore } from './flaky-store.js';
import { naiveStore } from './naive-store.js';
import { asked, bucket, charge, consume, faulty, peek, perMinute, window } from './steps.js';

const down = { does: 'fail', fault: 'unreachable' } as const;
const works = { does: 'work' } as const;

function two(share = 0.25) {
  const store = flakyStore();
  const fallback = naiveStore({ fails: 'never' });
  const both = withFallback(store, { store: fallback, share });
  const ask = async (step: Step) => (await both.run([step]))[0];
  const turn = (ms: number): void => {
    store.behind.now += ms;
    fallback.now += ms;
  };
  return { store, fallback, both, ask, turn };
}

/** The adjust step of a limiter that holds a receipt of this outcome. */
function giveBack(step: AskStep, outcome: AskOutcome, amount?: number): AdjustStep {
  return {
    op: 'adjust',
    by: outcome.by === 'fallback' ? 'fallback' : undefined,
    adjustments: step.charges.map((of, i) => ({
      ledger: of.ledger,
      rule: of.rule,
      mark: outcome.verdicts[i]?.mark,
      charged: of.cost,
      change: 'give-back',
      amount: amount ?? of.cost,
    })),
  };
}

describe('while the store decides', () => {
  it('the fallback is never asked, and nothing is different', async () => {
    const { store, fallback, both, ask } = two();
    expect(both.traits).toBe(store.traits);
    expect('runSync' in both).toBe(false);
    const outcome = asked(await ask(consume(charge(perMinute(10)), 'fallback')));
    expect(outcome).toMatchObject({ allowed: true, verdicts: [{ remaining: 9 }] });
    expect(outcome.by).toBeUndefined();
    expect(fallback.decided).toBe(0);
  });

  it('a denial is an answer: it is never taken to the looser side', async () => {
    const { fallback, ask } = two();
    const step = consume(charge(perMinute(10), 10), 'fallback');
    expect(asked(await ask(step)).allowed).toBe(true);
    expect(asked(await ask(step)).allowed).toBe(false);
    expect(fallback.decided).toBe(0);
  });

  it('a question without steps is passed through', async () => {
    expect(await two().both.run([])).toEqual([]);
  });

  it('a mistake passes through and the fallback does nothing', async () => {
    const { store, fallback, ask } = two();
    const mistake = new LimiterError('ERR_LIMITER_CROSS_SLOT', 'the ledgers of a step must lie in one slot, got two');
    store.behaviour = { does: 'reject', error: mistake };
    await expect(ask(consume(charge(perMinute(10)), 'fallback'))).rejects.toBe(mistake);
    expect(fallback.decided).toBe(0);
  });
});

describe('when the store cannot decide', () => {
  it.each<[Fault]>([['unreachable'], ['unknown-outcome'], ['refused'], ['corrupt']])(
    'the fallback decides on %s, with the share of the limit, and says so',
    async (fault) => {
      const { store, ask } = two();
      const cause = new Error('ECONNREFUSED');
      store.behaviour = { does: 'fail', fault, cause };
      const step = consume(charge(perMinute(10)), 'fallback');
      const outcome = asked(await ask(step));
      expect(outcome).toMatchObject({
        allowed: true,
        by: 'fallback',
        bound: 2,
        cause: { ok: false, fault, cause },
        verdicts: [{ remaining: 1 }],
      });
      expect(asked(await ask(step)).allowed).toBe(true);
      expect(asked(await ask(step))).toMatchObject({
        allowed: false,
        by: 'fallback',
        verdicts: [{ retryAfterMs: 60_000 }],
      });
    },
  );

  it.each<[Failure | undefined]>([['allow'], ['deny'], ['throw'], [undefined]])(
    'a step with the word %s keeps its fault',
    async (word) => {
      const { store, fallback, ask } = two();
      store.behaviour = down;
      expect(faulty(await ask(consume(charge(perMinute(10)), word))).fault).toBe('unreachable');
      expect(fallback.decided).toBe(0);
    },
  );

  it('decides only the steps that failed, in their order', async () => {
    const { store, both } = two();
    store.behaviour = {
      does: 'answer',
      outcomes: ([, second]) => [
        { ok: false, fault: 'corrupt', cause: 'x' },
        second,
        { ok: false, fault: 'corrupt', cause: 'x' },
      ],
    };
    const step = consume(charge(perMinute(10)), 'fallback');
    const outcomes = await both.run([step, step, consume(charge(perMinute(10)), 'deny')]);
    expect(asked(outcomes[0])).toMatchObject({ by: 'fallback', verdicts: [{ remaining: 1 }] });
    expect(asked(outcomes[1]).verdicts[0]?.remaining).toBe(8);
    expect(faulty(outcomes[2]).fault).toBe('corrupt');
  });

  it('asks all limits as one question: a refusal charges none of them', async () => {
    const { store, ask } = two();
    store.behaviour = down;
    const [small, large] = [charge(perMinute(4)), charge(window(100))];
    expect(asked(await ask(consume([small, large], 'fallback'))).allowed).toBe(true);
    expect(asked(await ask(consume([small, large], 'fallback'))).allowed).toBe(false);
    expect(asked(await ask(peek([small, large], 'fallback'))).verdicts.map(({ remaining }) => remaining)).toEqual([
      0, 24,
    ]);
  });

  it('bound is the largest scaled limit among those that are enforced and asked for a cost', async () => {
    const { store, ask } = two();
    store.behaviour = down;
    const charges = [
      charge(perMinute(40)),
      charge(bucket(100)),
      charge(window(4_000), 1, { enforce: false }),
      charge(window(8_000), 0, { key: 'other' }),
    ];
    expect(asked(await ask(consume(charges, 'fallback'))).bound).toBe(25);
    expect(asked(await ask(peek(charge(perMinute(40), 0), 'fallback'))).bound).toBe(0);
  });

  it('holds back a share rounded up, so that nothing is lost to the priority that it was kept for', async () => {
    const { store, ask } = two();
    store.behaviour = down;
    const low = charge(perMinute(20), 1, { holdBack: 5 });
    expect(asked(await ask(peek(low, 'fallback'))).verdicts[0]?.remaining).toBe(3);
  });

  it('refills a bucket at exactly its share', async () => {
    const { store, ask, turn } = two(1 / 3);
    store.behaviour = down;
    const step = consume(charge(bucket(9, 1, 1_000), 3), 'fallback');
    expect(asked(await ask(step)).allowed).toBe(true);
    expect(asked(await ask(step)).verdicts[0]?.retryAfterMs).toBe(9_000);
    turn(8_999);
    expect(asked(await ask(step)).allowed).toBe(false);
    turn(1);
    expect(asked(await ask(step)).allowed).toBe(true);
  });

  it('a cost above its share but within the limit is a failure of the store with a finite wait, not never', async () => {
    const { store, ask } = two();
    store.behaviour = { does: 'fail', fault: 'unknown-outcome', cause: 'link lost' };
    const outcome = faulty(await ask(consume(charge(perMinute(10), 3), 'fallback')));
    expect(outcome).toEqual({ ok: false, fault: 'unknown-outcome', cause: 'link lost', retryAfterMs: 1_000 });
    store.behaviour = { does: 'fail', fault: 'unreachable', cause: 'open', retryAfterMs: 321 };
    expect(faulty(await ask(consume(charge(perMinute(10), 3), 'fallback'))).retryAfterMs).toBe(321);
    store.behaviour = works;
    expect(asked(await ask(consume(charge(perMinute(10), 3), 'fallback'))).allowed).toBe(true);
  });

  it('the same when what is held back leaves too small a share', async () => {
    const { store, ask } = two();
    store.behaviour = down;
    const outcome = await ask(consume(charge(perMinute(20), 3, { holdBack: 9 }), 'fallback'));
    expect(faulty(outcome).retryAfterMs).toBe(1_000);
  });

  it('a limit whose share is nothing admits nothing, and says when to ask again', async () => {
    const { store, ask } = two(0.1);
    store.behaviour = down;
    expect(faulty(await ask(consume(charge(perMinute(9)), 'fallback'))).retryAfterMs).toBe(1_000);
  });

  it('a cost above the limit itself stays refused for good', async () => {
    const { store, ask } = two();
    store.behaviour = down;
    const outcome = asked(await ask(consume([charge(perMinute(10), 11), charge(window(10), 5)], 'fallback')));
    expect(outcome).toMatchObject({
      allowed: false,
      by: 'fallback',
      verdicts: [{ retryAfterMs: Number.POSITIVE_INFINITY }, {}],
    });
  });

  it('a shadow limit whose share is too small refuses nothing', async () => {
    const { store, ask } = two();
    store.behaviour = down;
    const shadow = charge(window(10), 3, { enforce: false });
    const outcome = asked(await ask(consume([charge(perMinute(100), 3), shadow], 'fallback')));
    expect(outcome).toMatchObject({ allowed: true, verdicts: [{ charged: true }, { admits: false, charged: false }] });
  });

  it("when the fallback fails too, the store's fault is the answer", async () => {
    const store = flakyStore();
    const fallback = flakySyncStore();
    const both = withFallback(store, { store: fallback, share: 0.5 });
    store.behaviour = { does: 'fail', fault: 'unreachable', cause: 'first' };
    for (const behaviour of [
      { does: 'fail', fault: 'refused', cause: 'disk full' },
      { does: 'throw', error: new Error('disk full') },
    ] as const) {
      fallback.behaviour = behaviour;
      const [outcome] = await both.run([consume(charge(perMinute(10)), 'fallback')]);
      expect(faulty(outcome).cause).toBe('first');
    }
  });

  it('serves the synchronous form as well', () => {
    const store = flakySyncStore();
    const fallback = naiveStore({ fails: 'never' });
    const both = withFallback(store, { store: fallback, share: 0.5 });
    const step = consume(charge(perMinute(10)), 'fallback');
    expect(asked(both.runSync(step)).by).toBeUndefined();
    store.behaviour = { does: 'throw', error: new Error('database is locked') };
    const outcome = asked(both.runSync(step));
    expect(outcome).toMatchObject({ by: 'fallback', bound: 5, verdicts: [{ remaining: 4 }] });
    const back = both.runSync(giveBack(step, outcome));
    expect(back).toMatchObject({ ok: true, adjusted: [{ givenBack: 1 }] });
  });
});

describe('the ledgers of the fallback', () => {
  it('survive every flap: an outage that comes and goes farms nothing', async () => {
    const { store, ask, turn } = two();
    const step = consume(charge(perMinute(20)), 'fallback');
    const admitted = { store: 0, fallback: 0 };
    for (let i = 0; i < 59; i += 1) {
      store.behaviour = i % 2 === 0 ? down : works;
      const outcome = asked(await ask(step));
      if (outcome.allowed) admitted[outcome.by === 'fallback' ? 'fallback' : 'store'] += 1;
      turn(1_000);
    }
    expect(admitted).toEqual({ store: 20, fallback: 5 });
  });

  it('are those that a refund of a fallback decision finds, and the store is not asked', async () => {
    const { store, fallback, ask } = two();
    const step = consume([charge(perMinute(20), 4), charge(bucket(40, 1), 4), charge(window(20), 4)], 'fallback');
    store.behaviour = down;
    const outcome = asked(await ask(step));
    const refund = giveBack(step, outcome);
    expect(refund.by).toBe('fallback');
    store.behaviour = works;
    const calls = store.calls.length;
    expect(await ask(refund)).toMatchObject({
      ok: true,
      adjusted: [{ givenBack: 4 }, { givenBack: 4 }, { givenBack: 4 }],
    });
    expect(store.calls).toHaveLength(calls);
    store.behaviour = down;
    expect(asked(await ask(peek(step.charges, 'fallback'))).verdicts.map((verdict) => verdict.remaining)).toEqual([
      5, 10, 5,
    ]);
    expect(fallback.decided).toBe(3);
  });

  it('are left alone by a refund of a decision that the store made', async () => {
    const { store, fallback, ask } = two();
    const step = consume(charge(perMinute(20), 4), 'fallback');
    const outcome = asked(await ask(step));
    store.behaviour = down;
    asked(await ask(step));
    const before = fallback.dump();
    expect(faulty(await ask({ ...giveBack(step, outcome), onFailure: 'fallback' })).fault).toBe('unreachable');
    expect(fallback.dump()).toBe(before);
    store.behaviour = works;
    expect(await ask(giveBack(step, outcome))).toMatchObject({ adjusted: [{ givenBack: 4 }] });
  });

  it('settle up to twice the share, and no further', async () => {
    const { store, ask } = two();
    store.behaviour = down;
    const step = consume(charge(perMinute(20), 4), 'fallback');
    const outcome = asked(await ask(step));
    const settle = giveBack(step, outcome);
    const raise = {
      ...settle,
      adjustments: settle.adjustments.map((a) => ({ ...a, change: 'charge' as const, amount: 9 })),
    };
    expect(await ask(raise)).toMatchObject({ adjusted: [{ charged: 6, cut: 3 }] });
  });

  it('are reset together with those of the store, whose answer counts', async () => {
    const { store, fallback, ask } = two();
    const charges = [charge(perMinute(20), 5), charge(bucket(20, 1), 5), charge(window(20), 5)];
    asked(await ask(consume(charges, 'fallback')));
    store.behaviour = down;
    asked(await ask(consume(charges, 'fallback')));
    const reset: Step = { op: 'reset', ledgers: charges.map(({ ledger }) => ledger) };
    expect(faulty(await ask(reset)).fault).toBe('unreachable');
    expect(fallback.dump()).toBe('[]');
    expect(store.behind.dump()).not.toBe('[]');
    asked(await ask(consume(charges, 'fallback')));
    store.behaviour = works;
    expect(await ask(reset)).toMatchObject({ ok: true, op: 'reset', now: 1_000_000 });
    expect(store.behind.dump()).toBe('[]');
    expect(fallback.dump()).toBe('[]');
  });

  it('take part in a run of mixed steps at their place', async () => {
    const { store, both, ask } = two();
    store.behaviour = down;
    const step = consume(charge(perMinute(20), 5), 'fallback');
    const first = asked(await ask(step));
    const outcomes = await both.run([
      step,
      giveBack(step, first, 3),
      consume(charge(perMinute(20), 3), 'fallback'),
      { op: 'reset', ledgers: [charge(perMinute(20)).ledger] },
      step,
    ]);
    expect(outcomes.map((outcome) => (outcome.ok && 'allowed' in outcome ? outcome.allowed : outcome.ok))).toEqual([
      false,
      true,
      true,
      false,
      true,
    ]);
    expect(store.calls.at(-1)?.steps.map(({ op }) => op)).toEqual(['consume', 'consume', 'reset', 'consume']);
  });
});

describe('what is admitted altogether', () => {
  interface Case {
    readonly rule: Rule;
    readonly share: number;
    readonly calls: readonly {
      readonly waitMs: number;
      readonly cost: number;
      readonly up: boolean;
      readonly refund: boolean;
    }[];
  }
  const rules: fc.Arbitrary<Rule> = fc.oneof(
    fc.integer({ min: 1, max: 40 }).map((limit): Rule => ({ algorithm: 'sliding-window-log', limit, windowMs: 100 })),
    fc
      .integer({ min: 1, max: 40 })
      .map((limit): Rule => ({ algorithm: 'fixed-window', limit, windowMs: 100, align: 'clock', offsetMs: 0 })),
  );
  const cases: fc.Arbitrary<Case> = fc.record({
    rule: rules,
    share: fc.constantFrom(1, 1 / 2, 1 / 3, 0.3, 0.9),
    calls: fc.array(
      fc.record({
        waitMs: fc.integer({ min: 0, max: 30 }),
        cost: fc.integer({ min: 1, max: 6 }),
        up: fc.boolean(),
        refund: fc.boolean(),
      }),
      { minLength: 20, maxLength: 120 },
    ),
  });

  it('never passes the limit and one share in any window, over any number of flaps, refunds included', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ rule, share, calls }) => {
        const { store, ask, turn } = two(share);
        const kept: { at: number; cost: number; bound: number }[] = [];
        for (const { waitMs, cost, up, refund } of calls) {
          turn(waitMs);
          store.behaviour = up ? works : down;
          const step = consume(charge(rule, cost), 'fallback');
          const outcome = await ask(step);
          if (!outcome?.ok || !asked(outcome).allowed) continue;
          const adjusted = refund ? await ask(giveBack(step, asked(outcome))) : undefined;
          const back = adjusted?.ok && adjusted.op === 'adjust' ? (adjusted.adjusted[0]?.givenBack ?? 0) : 0;
          kept.push({ at: asked(outcome).now, cost: cost - back, bound: asked(outcome).bound ?? 0 });
        }
        const limit = (rule as { limit: number }).limit;
        const extra = Math.max(0, ...kept.map(({ bound }) => bound));
        expect(extra).toBeLessThanOrEqual(Math.floor(limit * share + 1e-9));
        for (const { at } of kept) {
          const start = rule.algorithm === 'fixed-window' ? at - (at % 100) : at;
          const inWindow = kept.filter((one) => one.at >= start && one.at < start + 100);
          expect(inWindow.reduce((sum, { cost }) => sum + cost, 0)).toBeLessThanOrEqual(limit + extra);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('a bucket gets one extra share at each end of an outage at most', async () => {
    const outages = fc.record({
      capacity: fc.integer({ min: 2, max: 40 }),
      refillTokens: fc.integer({ min: 1, max: 20 }),
      share: fc.constantFrom(1, 1 / 2, 1 / 3),
      before: fc.integer({ min: 0, max: 20 }),
      outage: fc.integer({ min: 1, max: 60 }),
      after: fc.integer({ min: 0, max: 30 }),
    });
    await fc.assert(
      fc.asyncProperty(outages, async ({ capacity, refillTokens, share, before, outage, after }) => {
        const { store, ask, turn } = two(share);
        const rule = bucket(capacity, refillTokens, 100);
        let admitted = 0;
        for (let i = 0; i < before + outage + after; i += 1) {
          store.behaviour = i >= before && i < before + outage ? down : works;
          for (let tries = 0; tries < 50; tries += 1) {
            const outcome = await ask(consume(charge(rule), 'fallback'));
            if (!outcome?.ok || !asked(outcome).allowed) break;
            admitted += 1;
          }
          turn(10);
        }
        const elapsedMs = (before + outage + after - 1) * 10;
        const budget = capacity + (elapsedMs * refillTokens) / 100;
        // What the store would have refilled during the outage beyond its capacity is lost, so this holds for any length.
        expect(admitted).toBeLessThanOrEqual(budget + 2 * Math.floor(capacity * share) + 1);
      }),
      { numRuns: 100 },
    );
  });
});

describe('construction', () => {
  it.each([0, 1.5, Number.NaN])('refuses a share of %s', (share) => {
    expect(() => two(share)).toThrow(expect.objectContaining({ code: 'ERR_LIMITER_NUMBER' }));
  });

  it('refuses a fallback that cannot answer at once', () => {
    const options = { store: flakyStore() as unknown as SyncStore, share: 1 };
    expect(() => withFallback(flakyStore(), options)).toThrow(
      expect.objectContaining({ code: 'ERR_LIMITER_STORE_UNSUITABLE' }),
    );
  });
});

describe('the charges that reach the fallback', () => {
  it('name ledgers of their own grid, so that two shares never mix their units', async () => {
    const seen: Charge[] = [];
    const inner = naiveStore({ fails: 'never' });
    const spy: SyncStore = {
      ...inner,
      runSync: (step) => {
        if (step.op === 'consume') seen.push(...step.charges);
        return inner.runSync(step);
      },
    };
    const store = flakyStore();
    store.behaviour = down;
    await withFallback(store, { store: spy, share: 1 / 3 }).run([consume(charge(bucket(9, 1, 1_000)), 'fallback')]);
    await withFallback(store, { store: spy, share: 1 / 2 }).run([consume(charge(bucket(9, 1, 1_000)), 'fallback')]);
    expect(seen.map(({ ledger }) => ledger.grid)).toEqual(['b3000', 'b2000']);
  });
});
