/** What no well-meaning caller passes, and what happens to it all the same. */
import { createLimiter, fixedWindow, type LimiterOptions, type SyncLimiter, slidingWindowLog } from '@limiter/core';
import { memoryStore } from '@limiter/memory';
import { describe, expect, it } from 'vitest';

/** A limiter whose types are out of the way: these calls do not compile. */
interface Loose {
  consume(subject: unknown): ReturnType<SyncLimiter['consume']>;
  consumeSync(subject: unknown, options?: unknown): ReturnType<SyncLimiter['consumeSync']>;
  peekSync(subject: unknown, options?: unknown): ReturnType<SyncLimiter['peekSync']>;
  inspectSync(subject: unknown, options?: unknown): ReturnType<SyncLimiter['inspectSync']>;
  refundSync(receipt: unknown, cost?: unknown, options?: unknown): ReturnType<SyncLimiter['refundSync']>;
  settleSync(receipt: unknown, actual?: unknown, options?: unknown): ReturnType<SyncLimiter['settleSync']>;
  resetSync(subject: unknown, options?: unknown): void;
}

let now = 1_000_000;
const minute = fixedWindow({ limit: 10, window: '1m' });

function loose(
  limits: LimiterOptions<never, never>['limits'] | object,
  store = memoryStore({ clock: () => now }),
): Loose {
  now = 1_000_000;
  return createLimiter({ name: 'api', store, limits: limits as { minute: typeof minute } }) as unknown as Loose;
}

const code = (call: () => unknown): unknown => {
  try {
    call();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return 'no error';
};

describe('consume and peek take the same calls', () => {
  it('takes null for no options', () => {
    const limiter = loose({ minute });
    expect([limiter.consumeSync('u', null).allowed, limiter.peekSync('u', null).allowed]).toEqual([true, true]);
  });

  it('refuses a list as a subject, whatever it holds', () => {
    const limiter = loose({ minute: fixedWindow({ by: 'org', limit: 10, window: '1m' }) });
    const everybody = loose({ minute: fixedWindow({ by: '*', limit: 10, window: '1m' }) });
    const list = Object.assign([], { org: 'o' });
    for (const ask of ['consumeSync', 'peekSync'] as const) {
      expect(code(() => limiter[ask](list))).toBe('ERR_LIMITER_SUBJECT');
      expect(code(() => everybody[ask]([]))).toBe('ERR_LIMITER_SUBJECT');
    }
  });

  it('reads a priority and the numbers of a call from getters of a class, too', () => {
    class Reports {
      cost = 6;
      get priority(): string {
        return 'low';
      }
      get limits(): object {
        return { minute: 11 };
      }
    }
    const limiter = loose({ minute: slidingWindowLog({ limit: 10, window: '1m', reserve: { low: '50%' } }) });
    const [peek, consume] = [limiter.peekSync('u', new Reports()), limiter.consumeSync('u', new Reports())];
    expect([peek.limits.minute?.heldBack, consume.limits.minute?.heldBack]).toEqual([6, 6]);
    expect([peek.reason, consume.reason]).toEqual(['held-back', 'held-back']);
  });

  it('charges whom it was asked for when a getter of the subject asks the same limiter', () => {
    const limiter = loose({
      org: fixedWindow({ by: 'org', limit: 10, window: '1m' }),
      both: fixedWindow({ by: ['org', 'user'], limit: 10, window: '1m' }),
    });
    const subject = {
      org: 'mine',
      get user(): string {
        limiter.consumeSync({ org: 'other', user: 'x' });
        return 'u';
      },
    };
    expect(limiter.consumeSync(subject).limits.org?.key).toBe('mine');
    expect(limiter.inspectSync({ org: 'mine', user: 'u' }).limits.org?.remaining).toBe(9);
    expect(limiter.inspectSync({ org: 'other', user: 'x' }).limits.org?.remaining).toBe(9);
  });

  it('reads a value of the subject once: a getter skips no limit by another answer', () => {
    const limiter = loose({ minute: fixedWindow({ by: 'org', limit: 10, window: '1m' }) });
    for (const ask of ['consumeSync', 'peekSync'] as const) {
      const answers = ['mine', null];
      const subject = {
        get org(): unknown {
          return answers.shift();
        },
      };
      expect(limiter[ask](subject, { cost: { minute: 1 } }).limits.minute).toMatchObject({
        key: 'mine',
        skipped: false,
      });
    }
  });

  it('charges one subject in every limit, whatever else a getter would answer the next time', () => {
    const limiter = loose({
      minute: fixedWindow({ by: 'org', limit: 10, window: '1m' }),
      hour: fixedWindow({ by: ['user', 'org'], limit: 10, window: '1h' }),
    });
    for (const ask of ['consumeSync', 'peekSync'] as const) {
      let reads = 0;
      const subject = {
        user: 'u',
        get org(): string {
          reads += 1;
          return `org${reads}`;
        },
      };
      const { limits } = limiter[ask](subject);
      expect([limits.minute?.key, limits.hour?.key]).toEqual(['org1', '["u","org1"]']);
    }
  });

  it('knows no options but those of the call: a polluted prototype changes no cost', () => {
    const limiter = loose({ minute });
    Object.defineProperty(Object.prototype, 'cost', { value: 0, configurable: true, enumerable: true });
    const charged = [limiter.consumeSync('u').limits.minute?.cost, limiter.peekSync('u').limits.minute?.cost];
    Reflect.deleteProperty(Object.prototype, 'cost');
    expect(charged).toEqual([1, 1]);
  });
});

describe('a mistake in a refund, settle or reset is an error and uses up nothing', () => {
  it('refuses an amount for a limit that does not exist, and the receipt stays open', () => {
    const limiter = loose({ minute });
    const { receipt } = limiter.consumeSync('u', { cost: 5 });
    expect(code(() => limiter.refundSync(receipt, { minutte: 5 }))).toBe('ERR_LIMITER_UNKNOWN_LIMIT');
    expect(code(() => limiter.settleSync(receipt, { minutte: 5 }))).toBe('ERR_LIMITER_UNKNOWN_LIMIT');
    expect(limiter.refundSync(receipt, { minute: 5 }).limits.minute?.givenBack).toBe(5);
  });

  it('takes an amount for a limit that was skipped in that call', () => {
    const limiter = loose({
      minute: fixedWindow({ by: 'a', limit: 10, window: '1m' }),
      other: fixedWindow({ by: 'b', limit: 10, window: '1m' }),
    });
    const { receipt } = limiter.consumeSync({ a: 'x', b: null }, { cost: 5 });
    expect(limiter.refundSync(receipt, { minute: 2, other: 2 }).limits).toEqual({
      minute: { givenBack: 2, charged: 0, cut: 0 },
    });
  });

  it('refuses options that do not exist', () => {
    const limiter = loose({ minute });
    const { receipt } = limiter.consumeSync('u', { cost: 5 });
    for (const options of ['everywhere', { everywhere: true }])
      expect(code(() => limiter.refundSync(receipt, undefined, options))).toBe('ERR_LIMITER_OPTION');
    expect(code(() => limiter.resetSync('u', { limit: [] }))).toBe('ERR_LIMITER_OPTION');
    expect(limiter.inspectSync('u').limits.minute?.remaining).toBe(5);
    expect(limiter.refundSync(receipt).limits.minute?.givenBack).toBe(5);
  });

  it('keeps the receipt open when the store ran nothing because its clock gave no time', () => {
    const limiter = loose({ minute });
    const { receipt } = limiter.consumeSync('u', { cost: 5 });
    now = Number.NaN;
    expect(code(() => limiter.refundSync(receipt))).toBe('ERR_LIMITER_CLOCK');
    now = 1_000_000;
    expect(limiter.refundSync(receipt).limits.minute?.givenBack).toBe(5);
  });
});

describe('receipts', () => {
  it('are used once in a process, whichever of two limiters of one name is asked', () => {
    const store = memoryStore({ clock: () => now });
    const [one, two] = [loose({ minute }, store), loose({ minute }, store)];
    one.consumeSync('u', { cost: 5 });
    const { receipt } = one.consumeSync('u', { cost: 5 });
    expect(one.refundSync(receipt).limits.minute?.givenBack).toBe(5);
    expect(two.refundSync(receipt).closed).toBe(true);
    expect(two.inspectSync('u').limits.minute?.remaining).toBe(5);
  });

  it('of a window that began before the epoch can be used', () => {
    const limiter = loose({ minute: fixedWindow({ limit: 10, window: '10ms', offset: '9ms' }) });
    now = 0;
    const { receipt } = limiter.consumeSync('u', { cost: 5 });
    expect(limiter.refundSync(receipt).limits.minute?.givenBack).toBe(5);
  });
});

describe('a store that breaks its contract', () => {
  it('by the outcome of another step is a mistake with a code, not a decision', async () => {
    const store = memoryStore();
    const wrong = loose(
      { minute },
      {
        ...store,
        run: async (steps) => steps.map(() => ({ ok: true, op: 'reset', now })),
        runSync: () => ({ ok: true, op: 'reset', now }),
      },
    );
    for (const call of [() => wrong.consumeSync('u'), () => wrong.peekSync('u')])
      expect(code(call)).toBe('ERR_LIMITER_STORE');
    await expect(wrong.consume('u')).rejects.toMatchObject({ code: 'ERR_LIMITER_STORE' });
  });
});
