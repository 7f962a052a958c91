/** What a function at the edge would hold: bundled for the web and run without Node's globals by edge.test.ts. */
import { createLimiter, tokenBucket } from '@limiter/core';
import { upstashStore } from '../../src/index.js';

export async function decide(url: string, token: string): Promise<readonly boolean[]> {
  const limiter = createLimiter({
    name: 'edge',
    store: upstashStore({ url, token }),
    limits: { user: tokenBucket({ capacity: 2, refill: '1/1h' }) },
    onStoreFailure: 'throw',
    storeTimeout: '2s',
  });
  const decisions: boolean[] = [];
  for (let i = 0; i < 3; i += 1) decisions.push((await limiter.consume('u1')).allowed);
  await limiter.close();
  return decisions;
}
