/** Keys are any strings at all. No two of them share a ledger, and a reset forgets exactly those that it names. */
import { strict as assert } from 'node:assert';
import type { Charge } from '@limiter/core';
import fc from 'fast-check';
import { type Bench, only } from '../bench.js';
import type { Group } from '../check.js';
import { forAll } from '../property.js';
import { bucket, clockWindow, firstRequestWindow, LONG, log } from '../rules.js';

const LONG_KEY = 'k'.repeat(10_240);

/** Lists of axis values that careless joining, escaping, trimming or folding would mix up. */
export const STRANGE_VALUES: readonly (readonly string[])[] = [
  [],
  [''],
  ['', ''],
  ['a', 'b:c'],
  ['a:b', 'c'],
  ['a:b:c'],
  ['a', 'b', 'c'],
  ['a,b', 'c'],
  ['a', 'b,c'],
  ['ab', ''],
  ['a', 'b'],
  ['', 'ab'],
  ['a/b'],
  ['a|b'],
  ['a b'],
  ['a'],
  ['a '],
  [' a'],
  ['A'],
  ['a\n'],
  ['a\r\n'],
  ['a\0'],
  ['\0'],
  ['\0', ''],
  ['', '\0'],
  ['a\0b'],
  ['{'],
  ['}'],
  ['{}'],
  ['{a}'],
  ['{a', '}'],
  ['{a}b'],
  ['"'],
  ['\\'],
  ['\\\\'],
  ['\\u0000'],
  ['a\\', 'b'],
  ['a', '\\b'],
  ['%00'],
  ['%'],
  ['%25'],
  ['['],
  ['["a","b"]'],
  ['*'],
  ['?'],
  ['a*'],
  ['[a]'],
  ['__proto__'],
  ['constructor'],
  ['hasOwnProperty'],
  ['toString'],
  ['null'],
  ['undefined'],
  ['0'],
  ['00'],
  ['1'],
  ['01'],
  ['1.0'],
  ['1e0'],
  ['-1'],
  ['\u00e9'],
  ['e\u0301'],
  ['\ud800'],
  ['\udfff'],
  ['\udc00\ud800'],
  ['\ud83d\ude00'],
  ['\ufffd'],
  ['\\ud800'],
  ['\uffff'],
  ['\u2028'],
  ['\u200b'],
  ["'; drop table ledgers; --"],
  ['user'],
  ['user:admin'],
  ['user', 'admin'],
  [LONG_KEY],
  [`${LONG_KEY}x`],
  [`${LONG_KEY.slice(0, -1)}x`],
  [LONG_KEY, 'x'],
];

/** Charges each ledger another amount, then looks at all of them. */
async function keptApart(bench: Bench, charges: readonly Charge[]): Promise<void> {
  const most = charges.length + 1;
  const sized = charges.map((charge) => ({
    ...charge,
    rule: { ...charge.rule, ...budget(charge, most) } as Charge['rule'],
  }));
  const first = await bench.run(
    sized.map((charge, i) => ({ op: 'consume' as const, charges: [{ ...charge, cost: i + 1 }] })),
  );
  for (const outcome of first) assert.ok(outcome.ok, 'every key is served');
  const seen = await bench.run(sized.map((charge) => ({ op: 'peek' as const, charges: [charge] })));
  for (const [i, outcome] of seen.entries()) {
    assert.ok(outcome.ok && outcome.op === 'peek');
    const shown = JSON.stringify(charges[i]?.ledger).slice(0, 200);
    assert.equal(only(outcome).remaining, most - (i + 1), `ledger ${shown} shares with another`);
  }
}

const budget = ({ rule }: Charge, most: number): object =>
  rule.algorithm === 'token-bucket' ? { capacity: most } : { limit: most };

async function strangeValues(bench: Bench): Promise<void> {
  const name = bench.name();
  for (const rule of [clockWindow(1, LONG), log(1, LONG), bucket(1, 1, LONG)]) {
    await keptApart(
      bench,
      STRANGE_VALUES.map((values) => bench.charge(rule, name, 1, { values })),
    );
  }
}

async function namesAndGrids(bench: Bench): Promise<void> {
  const values = ['same'];
  const name = bench.name('limit');
  const names = [name, `${name}2`, bench.name('limit'), name.replace('/', '.'), `${name}/x`, name.toUpperCase()];
  const charges = names.map((one) => bench.charge(clockWindow(1, LONG), one, 1, { values }));
  const rules = [
    clockWindow(1, LONG - 1),
    clockWindow(1, LONG, 1),
    clockWindow(1, LONG, 11),
    firstRequestWindow(1, LONG),
    log(1, LONG),
    bucket(1, 1, LONG),
    bucket(1, 1, LONG - 1),
  ];
  charges.push(...rules.map((rule) => bench.charge(rule, name, 1, { values })));
  await keptApart(bench, charges);
}

async function slotsArePartOfTheKey(bench: Bench): Promise<void> {
  const base = bench.charge(log(1, LONG), bench.name());
  const slots = ['', 'a', 'b', '{a}', '}', '{', ':', 'a:', LONG_KEY, '\0', '\ud800', '__proto__'];
  await keptApart(
    bench,
    slots.map((slot) => ({ ...base, ledger: { ...base.ledger, slot } })),
  );
}

async function anyStrings(bench: Bench): Promise<void> {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.string({
      unit: fc.constantFrom(':', '{', '}', '\n', '\0', '\\', '"', ',', '/', 'a', '\ud800', '\udc00'),
      maxLength: 6,
    }),
  );
  const lists = fc.uniqueArray(fc.array(text, { maxLength: 3 }), {
    minLength: 2,
    maxLength: 12,
    selector: (values) => JSON.stringify(values),
  });
  await forAll(bench, lists, async (many) => {
    const name = bench.name();
    await keptApart(
      bench,
      many.map((values) => bench.charge(log(1, LONG), name, 1, { values })),
    );
  });
}

async function resetIsExact(bench: Bench): Promise<void> {
  const name = bench.name();
  const rule = log(2, LONG);
  const keys = ['user', 'user:admin', 'user:', 'users', '*', 'user*', '?ser', '[u]ser', 'use', '', 'USER'];
  const charges = keys.map((key) => bench.charge(rule, name, 1, { values: [key] }));
  const remaining = async (): Promise<readonly number[]> => {
    const seen: number[] = [];
    for (const charge of charges) seen.push(only(await bench.peek(charge)).remaining);
    return seen;
  };
  for (const charge of charges) await bench.consume(charge);
  for (const key of ['user', '*', '']) {
    await bench.reset(bench.ledger(rule, name, [key]));
    const at = keys.indexOf(key);
    assert.deepEqual(
      await remaining(),
      keys.map((_, i) => (i === at ? 2 : 1)),
      `reset of ${JSON.stringify(key)}`,
    );
    await bench.consume(charges[at] as Charge);
  }
}

async function resetOfMany(bench: Bench): Promise<void> {
  const first = bench.charge(log(2, LONG), bench.name('one'), 2);
  const others = [
    bench.beside(first, clockWindow(2, LONG), 'two', 2),
    bench.beside(first, firstRequestWindow(2, LONG), 'three', 2),
    bench.beside(first, bucket(2, 1, LONG), 'four', 2),
  ];
  const charges = [first, ...others];
  await bench.consume(...charges);
  await bench.reset(first.ledger, ...others.slice(0, 2).map(({ ledger }) => ledger));
  const { verdicts } = await bench.peek(...charges);
  assert.deepEqual(
    verdicts.map(({ remaining }) => remaining),
    [2, 2, 2, 0],
  );
  const [, second] = verdicts;
  assert.deepEqual([second?.resetAfterMs, second?.moreAfterMs], [0, 0], 'a ledger that was reset is as new');
  await bench.reset(first.ledger);
  await bench.reset();
}

export const keys: Group = {
  name: 'keys',
  checks: [
    {
      title: 'strange keys (: { } newline NUL lone surrogates __proto__ empty, 10 kB) never collide',
      run: strangeValues,
    },
    { title: 'limits of other names, algorithms, windows and grids never share a ledger', run: namesAndGrids },
    {
      title: 'the slot is part of the key, and any string may be one',
      needs: ['several-slots'],
      run: slotsArePartOfTheKey,
    },
    { title: 'any two different lists of strings are two ledgers', run: anyStrings },
    { title: "a reset forgets exactly the key it names: 'user' never 'user:admin', '*' only '*'", run: resetIsExact },
    {
      title: 'a reset of several ledgers forgets those and no other, and of an unknown one does nothing',
      run: resetOfMany,
    },
  ],
};
