import { writeSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** Prints `N passed, N failed, N skipped` alone on a line after every other output, for people and programs alike. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state]++;
      // A file that does not load has no tests; it is a failure all the same.
      count.failed += module.errors().length;
    }
    process.once('exit', () => {
      writeSync(1, `${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped\n`);
    });
  }
}
