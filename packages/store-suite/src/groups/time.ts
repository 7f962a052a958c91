/** Clocks: to the millisecond, set back a little, set back a lot, set forward, and two that disagree. */
import { strict as assert } from 'node:assert';
import type { Verdict } from '@limiter/core';
import { asAsk, type Bench, only, START } from '../bench.js';
import type { Check, Group } from '../check.js';
import { bucket, clockWindow, firstRequestWindow, forEachKind, type Kind, log } from '../rules.js';

const MINUTE = 60_000;
const HOUR = 3_600_000;
/** The start of a minute, so that windows of a minute on the clock begin here. */
const AT = START - (START % MINUTE);
/** What a verdict says of waits. */
const waits = ({ retryAfterMs, resetAfterMs, moreAfterMs }: Verdict): readonly number[] => [
  retryAfterMs,
  resetAfterMs,
  moreAfterMs,
];

/** Uses all of 5 a minute at `AT`. */
async function useUp(
  bench: Bench,
  kind: Kind,
): Promise<{ readonly name: string; readonly ask: () => Promise<Verdict> }> {
  const rule = kind.rule(5, MINUTE);
  const name = bench.name();
  bench.now = AT;
  assert.equal(only(await bench.consume(bench.charge(rule, name, 5))).remaining, 0);
  return { name, ask: async () => only(await bench.consume(bench.charge(rule, name, 5))) };
}

function toTheMillisecond(kind: Kind): Check {
  return {
    title: `${kind.name} admits at the moment that it told, and not 1 ms earlier`,
    needs: ['turned-clock'],
    run: async (bench) => {
      const { ask } = await useUp(bench, kind);
      bench.now = AT + 1_234;
      const refused = await ask();
      assert.deepEqual([refused.admits, ...waits(refused).slice(0, 2)], [false, MINUTE - 1_234, MINUTE - 1_234]);
      bench.now = AT + MINUTE - 1;
      assert.deepEqual([(await ask()).admits, (await ask()).retryAfterMs], [false, 1]);
      bench.now = AT + MINUTE;
      assert.equal((await ask()).admits, true);
    },
  };
}

function backALittle(kind: Kind, backMs: number): Check {
  return {
    title: `${kind.name} waits for a clock that is ${backMs} ms behind: its waits are ${backMs} ms longer`,
    needs: ['turned-clock'],
    run: async (bench) => {
      const { ask } = await useUp(bench, kind);
      bench.now = AT - backMs;
      const refused = await ask();
      assert.deepEqual([refused.admits, refused.remaining], [false, 0]);
      assert.deepEqual(waits(refused).slice(0, 2), [MINUTE + backMs, MINUTE + backMs]);
      bench.now = AT + MINUTE - 1;
      assert.equal((await ask()).admits, false, '1 ms before the told moment');
      bench.now = AT + MINUTE;
      assert.equal((await ask()).admits, true, 'at the told moment');
    },
  };
}

/** How long 5 of 5 that were used at AT are gone when the clock has been set back to `now`. */
const goneFor = (kind: Kind, now: number): number =>
  kind.rule(5, MINUTE).algorithm === 'fixed-window' && isOnClock(kind) ? MINUTE - (now % MINUTE) : MINUTE;
const isOnClock = (kind: Kind): boolean => {
  const rule = kind.rule(5, MINUTE);
  return rule.algorithm === 'fixed-window' && rule.align === 'clock';
};

function backALot(kind: Kind, backMs: number, title: string): Check {
  return {
    title: `${kind.name} moves with a clock that is set back ${title}: what was used stays used, and nobody waits longer than a window`,
    needs: ['turned-clock'],
    run: async (bench) => {
      const { ask } = await useUp(bench, kind);
      const now = AT - backMs;
      const wait = goneFor(kind, now);
      bench.now = now;
      const refused = await ask();
      assert.deepEqual([refused.admits, refused.remaining], [false, 0], 'the step back frees nothing');
      assert.deepEqual(waits(refused).slice(0, 2), [wait, wait]);
      bench.now = now + wait - 1;
      assert.equal((await ask()).admits, false, '1 ms before the told moment');
      bench.now = now + wait;
      assert.equal((await ask()).admits, true, 'at the told moment');
      assert.equal((await ask()).admits, false, 'one step gives one extra budget, not two');
    },
  };
}

function peekStoresNoMove(kind: Kind): Check {
  return {
    title: `${kind.name} stores the move of a clock that was set back when it is asked to consume, not when it is peeked at`,
    needs: ['turned-clock'],
    run: async (bench) => {
      const { name, ask } = await useUp(bench, kind);
      const now = AT - HOUR;
      const wait = goneFor(kind, now);
      const charge = (cost: number) => bench.charge(kind.rule(5, MINUTE), name, cost);
      bench.now = now;
      const peeked = only(await bench.peek(charge(5)));
      assert.deepEqual([peeked.admits, peeked.retryAfterMs], [false, wait], 'a peek answers as the next consume would');
      await bench.consume(charge(0));
      bench.now = now + 10;
      const again = only(await bench.peek(charge(5)));
      const waitThen = goneFor(kind, now + 10);
      assert.equal(again.retryAfterMs, waitThen, 'neither a peek nor a cost of 0 has stored the move');
      await ask();
      bench.now = now + 20;
      const after = only(await bench.peek(charge(5)));
      const stored = isOnClock(kind) ? goneFor(kind, now + 20) : MINUTE - 10;
      assert.equal(after.retryAfterMs, stored, 'the denied consume has stored it');
    },
  };
}

function peekLeavesBytes(kind: Kind): Check {
  return {
    title: `${kind.name} keeps its stored bytes through peeks and costs of 0 on a clock that was set back an hour`,
    needs: ['turned-clock', 'dump'],
    run: (shared) =>
      shared.fresh(async (bench) => {
        const { name } = await useUp(bench, kind);
        const before = await bench.dump();
        bench.now = AT - HOUR;
        await bench.peek(bench.charge(kind.rule(5, MINUTE), name, 1));
        await bench.consume(bench.charge(kind.rule(5, MINUTE), name, 0));
        assert.equal(await bench.dump(), before);
      }),
  };
}

function forward(kind: Kind): Check {
  return {
    title: `${kind.name} gives at most one full budget more when the clock is set forward an hour`,
    needs: ['turned-clock'],
    run: async (bench) => {
      const { ask } = await useUp(bench, kind);
      bench.now = AT + HOUR;
      const admitted = [(await ask()).admits, (await ask()).admits];
      assert.deepEqual(admitted, [true, false]);
      bench.now = AT;
      assert.equal((await ask()).admits, false, 'setting it back again gives nothing');
    },
  };
}

async function insideWindow(bench: Bench): Promise<void> {
  const charge = bench.charge(clockWindow(5, MINUTE), bench.name(), 2);
  bench.now = AT + 50_000;
  await bench.consume(charge);
  bench.now = AT + 10_000;
  const verdict = only(await bench.consume(charge));
  assert.deepEqual([verdict.remaining, verdict.resetAfterMs], [1, 50_000]);
}

async function longWindows(bench: Bench): Promise<void> {
  const day = 86_400_000;
  for (const days of [25, 30, 400]) {
    for (const rule of [firstRequestWindow(1, days * day), log(1, days * day), bucket(1, 1, days * day)]) {
      const charge = bench.charge(rule, bench.name());
      bench.now = AT;
      assert.equal(only(await bench.consume(charge)).admits, true);
      for (const at of [1, day, 24 * day, days * day - 1]) {
        bench.now = AT + at;
        assert.equal(only(await bench.consume(charge)).retryAfterMs, days * day - at, `${days} days, after ${at} ms`);
      }
      bench.now = AT + days * day;
      assert.equal(only(await bench.consume(charge)).admits, true);
    }
  }
}

async function firstAndLastMoment(bench: Bench): Promise<void> {
  for (const now of [0, 2 ** 52 - 1]) {
    for (const rule of [
      clockWindow(2, MINUTE, 1),
      firstRequestWindow(2, MINUTE),
      log(2, MINUTE),
      bucket(2, 2, MINUTE),
    ]) {
      const charge = bench.charge(rule, bench.name());
      bench.now = now;
      const admitted = [await bench.consume(charge), await bench.consume(charge), await bench.consume(charge)];
      assert.deepEqual(
        admitted.map(({ allowed }) => allowed),
        [true, true, false],
      );
      assert.ok(only(admitted[2] as (typeof admitted)[number]).retryAfterMs <= MINUTE);
    }
  }
}

/** Two processes on one store, the second one's clock `apartMs` behind; each asks every 100 ms for three windows. */
function twoClocks(kind: Kind, apartMs: number): Check {
  return {
    title: `${kind.name} keeps its bound between two callers whose clocks are ${apartMs} ms apart, and locks neither out`,
    needs: ['turned-clock', 'second-handle'],
    run: async (bench) => {
      const windowMs = 4_000;
      const limit = 10;
      const rule = kind.rule(limit, windowMs);
      const charge = bench.charge(rule, bench.name());
      const start = AT;
      const late = await bench.second(() => bench.now - apartMs);
      const admitted: number[] = [];
      for (let t = 0; t < 3 * windowMs; t += 100) {
        bench.now = start + t;
        const handle = (t / 100) % 2 === 0 ? bench.store : late;
        const [outcome] = await bench.run([{ op: 'consume', charges: [charge] }], handle);
        if (asAsk(outcome).allowed) admitted.push(t);
      }
      // A window on the clock may straddle: twice the limit in any window's length; a bucket refills once more in that time.
      const most = rule.algorithm === 'sliding-window-log' ? limit : 2 * limit;
      for (const from of admitted) {
        const inside = admitted.filter((t) => t >= from && t < from + windowMs - apartMs).length;
        assert.ok(inside <= most, `${inside} admitted within ${windowMs - apartMs} ms after ${from}`);
      }
      assert.ok(admitted.length <= 4 * limit, `${admitted.length} admitted in three windows`);
      assert.ok(admitted.length >= 2 * limit, `only ${admitted.length} admitted in three windows`);
    },
  };
}

const kinds = <C>(make: (kind: Kind) => C): readonly C[] => forEachKind(make);

export const time: Group = {
  name: 'time',
  checks: [
    ...kinds(toTheMillisecond),
    ...kinds((kind) => backALittle(kind, 1)),
    ...kinds((kind) => backALittle(kind, 2_000)),
    ...kinds((kind) => backALot(kind, 2_001, '2,001 ms')),
    ...kinds((kind) => backALot(kind, HOUR, 'an hour')),
    ...kinds(peekStoresNoMove),
    ...kinds(peekLeavesBytes),
    ...kinds(forward),
    {
      title: 'a step back inside a fixed window is not noticed',
      needs: ['turned-clock'],
      run: insideWindow,
    },
    {
      title: 'windows of 25, 30 and 400 days are enforced to the millisecond',
      needs: ['turned-clock'],
      run: longWindows,
    },
    {
      title: 'the first and the last moment that a clock may name are moments like any other',
      needs: ['turned-clock'],
      run: firstAndLastMoment,
    },
    ...kinds((kind) => twoClocks(kind, 5)),
    ...kinds((kind) => twoClocks(kind, 500)),
  ],
};
