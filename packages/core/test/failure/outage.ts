/** Run as a process of its own by process.test.ts: an outage of each kind, with nothing else that keeps the process alive. */
import { protect } from '../../src/failure/protect.js';
import { flakyStore } from './flaky-store.js';
import { naiveStore } from './naive-store.js';
import { charge, consume, perMinute } from './steps.js';

const scenario = process.argv[2];
const rule = perMinute(10);
const store = flakyStore();
const share = { store: naiveStore({ fails: 'never' }), share: 0.5 };
const ask = (words: Parameters<typeof consume>[1], timeoutMs = 20): Promise<unknown> =>
  protect(store, { name: 'api', timeoutMs, fallback: share }).run([consume(charge(rule), words)]);

process.on('unhandledRejection', (reason) => {
  console.log('UNHANDLED', reason);
  process.exitCode = 1;
});

if (scenario === 'pending') {
  // The store hangs, the deadline is an hour away, and nobody else has anything to do.
  store.behaviour = { does: 'hang' };
  void ask('deny', 3_600_000).then(() => console.log('answered'));
  console.log('asked');
}
if (scenario === 'answered') {
  await ask('deny', 3_600_000);
  console.log('answered');
}
if (scenario === 'rejections') {
  const work = setTimeout(() => {}, 400);
  const rejects = { does: 'reject', error: new Error('ECONNREFUSED') } as const;
  for (const word of ['allow', 'deny', 'throw', 'fallback'] as const) {
    store.behaviour = rejects;
    await ask(word);
    store.behaviour = { does: 'throw', error: new Error('not connected') };
    await ask(word);
    // Late, and the charge cannot be given back; late, and a rejection.
    store.behaviour = { does: 'hold' };
    await ask(word);
    store.behaviour = rejects;
    store.release();
    const late = protect(
      { traits: store.traits, run: () => new Promise((_, reject) => setTimeout(reject, 60, new Error('late'))) },
      {
        name: 'api',
        timeoutMs: 20,
        onEvent: () => Promise.reject(new Error('the watcher failed')) as unknown as undefined,
      },
    );
    await late.run([consume(charge(rule), word)]);
  }
  clearTimeout(work);
  await new Promise((resolve) => setTimeout(resolve, 100));
  console.log('done');
}
