/** The rows on the terminal, in docs/benchmarks-failure.md and as a drawing. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import type { Machine } from '../harness/result.js';
import { number, table } from '../report/words.js';
import { DEADLINE_MS } from './contenders.js';
import type { Row } from './measure.js';

const DOCS = join(import.meta.dirname, '..', '..', 'docs');
const PROBE_MS = 1_000;
const whole = (value: number): string => number(Math.round(value));
const marked = (text: string, wrong: boolean): string => (wrong ? `**${text}**` : text);

export function rowsOf(rows: readonly Row[]): string {
  const head = [
    'trouble',
    'contender',
    'decisions/s in it',
    'p99 ms',
    'longest ms',
    'recovered after ms',
    'admitted / allowed',
    'thrown',
  ];
  return table(
    head,
    rows.map((row) => [
      row.trouble,
      row.contender,
      whole(row.perSecond),
      whole(row.p99Ms),
      marked(whole(row.longestMs), row.longestMs > DEADLINE_MS + 50),
      row.recoveredMs === undefined
        ? '**not in time**'
        : marked(whole(row.recoveredMs), row.recoveredMs > PROBE_MS + 1_000),
      marked(`${whole(row.admitted)} / ${whole(row.allowed)}`, row.admitted > row.allowed),
      marked(whole(row.thrown), row.thrown > 0),
    ]),
  );
}

async function draw(rows: readonly Row[]): Promise<string> {
  const names = [...new Set(rows.map(({ contender }) => contender))];
  const spec = {
    background: 'white',
    title: `The longest single decision, ms (deadline ${DEADLINE_MS} ms + 50 ms: the line)`,
    width: 460,
    height: { step: 12 },
    data: { values: rows.map((row) => ({ ...row, longestMs: Math.max(1, row.longestMs), line: DEADLINE_MS + 50 })) },
    layer: [
      {
        mark: { type: 'bar' },
        encoding: {
          x: { field: 'longestMs', type: 'quantitative', title: 'ms', scale: { type: 'sqrt' } },
          y: { field: 'trouble', type: 'nominal', title: null, sort: null },
          yOffset: { field: 'contender', sort: names },
          color: {
            field: 'contender',
            type: 'nominal',
            title: null,
            scale: { domain: names, range: ['#0b6e4f', '#8a8f98', '#d9a441'] },
            legend: { orient: 'bottom', labelLimit: 320 },
          },
        },
      },
      {
        mark: { type: 'rule', color: '#c0392b' },
        encoding: { x: { field: 'line', type: 'quantitative', aggregate: 'max' } },
      },
    ],
  } as unknown as TopLevelSpec;
  return `${await new View(parse(compile(spec).spec), { renderer: 'none' }).toSVG()}\n`;
}

export async function writeFailurePage(rows: readonly Row[], machine: Machine): Promise<void> {
  const { node, cpu, cores, redis, load, date } = machine;
  const text = `# Failure, measured

Made by \`pnpm bench:failure\`; do not edit. Measured on ${date}: ${cpu}, ${cores} cores, Node ${node}, Redis ${redis}, load average ${load.before}
before. Servers, stand-in and limiters share these cores.

256 decisions in flight, three of four about 100 hot keys with a budget of 100 each, the others about keys of their own. Half a second of
peace, 1.5 s of trouble, then peace again. Everybody may wait ${DEADLINE_MS} ms for the store:

- **ours**: \`onStoreFailure: 'fallback'\` to a memory store with the whole budget (\`share: 1\`), \`storeTimeout: '${DEADLINE_MS}ms'\`, the rest as it comes.
- **rate-limiter-flexible**: \`insuranceLimiter\` in memory with the whole budget, \`rejectIfRedisNotReady\`; ioredis with \`commandTimeout\`, one retry, no
  offline queue.
- **@upstash/ratelimit**: \`timeout: ${DEADLINE_MS}\`, over a REST stand-in in front of the same redis-server. By design it admits whatever timed out.
  With 64 in flight: with 256 the stand-in alone takes longer than the deadline.

**Bold** misses the promise: a decision longer than deadline + 50 ms; recovery later than one probe interval (1 s) + 1 s after the
healing; more of the hot keys' budget admitted than the policy allows (the store's budget, one more for the fallback, one more where
the server forgot what was charged); an exception in place of a decision. "Recovered" is the time from the healing until 19 of 20 answers are the
store's again, to 50 ms. A Sentinel failover counts as healed when a Sentinel names the new master.

${rowsOf(rows)}

![The longest single decision by trouble and contender](./benchmarks-failure.svg)
`;
  writeFileSync(join(DOCS, 'benchmarks-failure.md'), text);
  writeFileSync(join(DOCS, 'benchmarks-failure.svg'), await draw(rows));
}
