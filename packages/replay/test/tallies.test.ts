import { describe, expect, it } from 'vitest';
import { sparkline } from '../src/sparkline.js';
import { Distinct, Frequencies } from '../src/tallies.js';
import { Timeline } from '../src/timeline.js';

describe('frequencies', () => {
  it('are exact for as many keys as fit', () => {
    const seen = new Frequencies(10);
    for (const key of ['a', 'b', 'b', 'c', 'c']) seen.add(key);
    expect(seen.top(2)).toEqual([
      { key: 'b', count: 2, exact: true },
      { key: 'c', count: 2, exact: true },
    ]);
    expect(seen.topOf('c')).toEqual({ key: 'c', count: 2, exact: true });
    expect(seen.get('a')?.count).toBe(1);
    expect(seen.get('z')).toBeUndefined();
  });

  it('keep the frequent keys of a flood, and say which counts are lower bounds', () => {
    const seen = new Frequencies(100);
    for (let i = 0; i < 10_000; i++) {
      seen.add(`rare ${i}`);
      if (i % 10 === 0) seen.add('often');
    }
    for (let i = 0; i < 500; i++) seen.add('late');
    expect(seen.top(2)).toEqual([
      { key: 'often', count: 1_000, exact: true },
      { key: 'late', count: 500, exact: false },
    ]);
  });
});

describe('distinct keys', () => {
  it('are counted exactly up to a bound, then as "at least"', () => {
    const seen = new Distinct(2);
    for (const key of ['a', 'b', 'a', 'b']) seen.add(key);
    expect(seen).toMatchObject({ count: 2, exact: true });
    seen.add('c');
    expect(seen).toMatchObject({ count: 2, exact: false });
  });
});

describe('a timeline', () => {
  it('counts in columns of whole seconds, over a span that it did not know', () => {
    const when = new Timeline(8);
    for (let second = 0; second < 20; second++) when.add(second * 1_000);
    expect(when.columns(0, 19_000, 8)).toEqual({ columnMs: 4_000, from: 0, counts: [4, 4, 4, 4, 4] });
    expect(when.columns(0, 19_000, 3)).toEqual({ columnMs: 8_000, from: 0, counts: [8, 8, 4] });
  });

  it('lines up with another one that has seen only a part, and takes times that go back', () => {
    const [all, some] = [new Timeline(64), new Timeline(64)];
    for (let second = 999; second >= 0; second--) all.add(second * 1_000);
    some.add(500_000);
    const [a, b] = [all, some].map((when) => when.columns(0, 999_000, 20));
    expect(b).toMatchObject({ columnMs: a?.columnMs, from: a?.from });
    expect(b?.counts).toHaveLength(a?.counts.length ?? 0);
    expect(a?.counts.reduce((sum, count) => sum + count)).toBe(1_000);
    expect(b?.counts.indexOf(1)).toBe(Math.floor(500_000 / (b?.columnMs ?? 1)));
  });

  it('is drawn with a dot for nothing and a bar for anything', () => {
    expect(sparkline([0, 1, 50, 100])).toBe('·▁▄█');
    expect(sparkline([0, 0])).toBe('··');
    expect(sparkline([])).toBe('');
  });
});
