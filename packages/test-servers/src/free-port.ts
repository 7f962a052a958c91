/** Free loopback ports below the ephemeral range, so that no outgoing connection takes one between the look and the use. */
import { createServer } from 'node:net';

const FIRST = 20_000;
const LAST = 32_000;
const given = new Set<number>();

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** A port on 127.0.0.1 that nothing listens on and that this process has not given out before. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${FIRST} and ${LAST} on 127.0.0.1 after 200 tries`);
}
