/** The same program on every store: two budgets, a denial that costs nothing, a retry at the told moment, a refund. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createLimiter, type Store, slidingWindowLog, tokenBucket } from '@limiter/core';

export async function theProgram(store: Store): Promise<void> {
  const uploads = createLimiter({
    name: 'uploads',
    store,
    limits: {
      device: tokenBucket({ by: 'device', capacity: 5, refill: '1/2s' }),
      org: slidingWindowLog({ by: 'org', limit: 20, window: '1h' }),
    },
    hashTag: 'org', // a device and its organisation share a slot: one atomic step on a Redis Cluster, too
    onStoreFailure: 'throw',
    storeTimeout: '2s',
  });
  const who = { device: `device-${crypto.randomUUID()}`, org: `org-${crypto.randomUUID()}` };

  const five = await uploads.consume(who, { cost: 5 });
  console.log(
    `5 files: ${five.allowed}; left: device ${five.limits.device.remaining}, org ${five.limits.org.remaining}`,
  );

  const more = await uploads.consume(who);
  console.log(`1 more: ${more.allowed}, says ${more.tightest?.name}; the org still has ${more.limits.org.remaining}`);
  console.log(`come back in ${Math.ceil(more.retryAfterMs / 1000)} s`);

  await sleep(more.retryAfterMs + 1); // a timer may be early by a part of a millisecond
  const again = await uploads.consume(who);
  console.log(`1 again: ${again.allowed}; the org has ${again.limits.org.remaining}`);

  const refund = await uploads.refund(five.receipt ?? '');
  const now = await uploads.inspect(who);
  console.log(
    `the first upload failed: the org gets ${refund.limits.org?.givenBack} back and has ${now.limits.org.remaining}`,
  );

  await uploads.close();
  await store.close?.();
}
