/**
 * What happens to decisions when Redis fails, beside the peers: prints a table and writes docs/benchmarks-failure.md. Two to
 * three minutes, on servers of its own, on loopback only.
 *
 *   pnpm bench:failure [--only 'killed|memory'] [--print]
 */
import { parseArgs } from 'node:util';
import { CONTENDERS } from './failure/contenders.js';
import { type Row, through, throughFailover } from './failure/measure.js';
import { rowsOf, writeFailurePage } from './failure/page.js';
import { TROUBLES } from './failure/troubles.js';
import { describeMachine, loadNow } from './harness/machine.js';

const { values: flags } = parseArgs({
  options: { only: { type: 'string', default: '' }, print: { type: 'boolean', default: false } },
});
const before = loadNow();
const pattern = new RegExp(flags.only);
const rows: Row[] = [];
process.on('unhandledRejection', (error) => console.log(`unhandled rejection: ${String(error)}`));

for (const trouble of TROUBLES.filter(({ name }) => pattern.test(name))) {
  for (const contender of CONTENDERS) rows.push(await through(trouble, contender));
  console.log(`done  ${trouble.name}`);
}
if (pattern.test('Sentinel failover')) {
  for (const contender of CONTENDERS) if (contender.direct) rows.push(await throughFailover(contender));
}
console.log(rowsOf(rows));
if (!flags.print) await writeFailurePage(rows, await describeMachine(before));
process.exit();
