/** A store over any driver: greets connections, learns the server's clock, warns once, hands steps to the dispatcher. */
import type { AlgorithmName, Outcome, Step, Store } from '@limiter/core';
import { serverClocks } from './deadline.js';
import { createDispatcher } from './dispatcher.js';
import { evictionWarning } from './eviction.js';
import type { Lane, Link, LinkHooks } from './link.js';
import type { LinkMaker } from './link-maker.js';
import type { Program } from './program.js';
import type { RedisWarning } from './warnings.js';

const ALGORITHMS: readonly AlgorithmName[] = ['fixed-window', 'sliding-window-log', 'token-bucket'];

export interface StoreParts {
  readonly makeLink: LinkMaker;
  /** @param keyPrefix what the caller's client puts before its keys. */
  readonly makeProgram: (keyPrefix: string) => Program;
  readonly clock: 'own' | 'caller';
  readonly staleAfterMs: number;
  readonly slotOf: (step: Step) => number;
  readonly warn: (warning: RedisWarning) => void;
}

export interface RedisStore extends Store {
  /** Ends the connection that the store opened. Steps that were not sent are answered `unreachable`. */
  close(): Promise<void>;
}

export function storeOver(parts: StoreParts): RedisStore {
  const { clock, staleAfterMs, slotOf, warn } = parts;
  const clocks = serverClocks();
  let evictionAsked = false;
  let clockRefused = false;

  async function greet(lane: Lane): Promise<void> {
    if (!evictionAsked) {
      evictionAsked = true;
      void evictionWarning(lane).then((warning) => warning !== undefined && warn(warning));
    }
    try {
      const [seconds, micros] = (await lane.send('time', [])) as readonly unknown[];
      clocks.learn(lane.name, Number(String(seconds)) * 1000 + Math.floor(Number(String(micros)) / 1000));
    } catch (error) {
      if (!link.isReply(error) || clockRefused) return;
      clockRefused = true;
      warn({
        code: 'LIMITER_REDIS_CLOCK',
        message: `Redis refuses TIME (${String(error)}), so it cannot tell whether a call comes after its deadline. Allow TIME.`,
      });
    }
  }

  const hooks: LinkHooks = { greet, changed: () => dispatcher.changed() };
  const link: Link = parts.makeLink(hooks, warn);
  const dispatcher = createDispatcher(link, parts.makeProgram(link.keyPrefix), clocks, {
    staleAfterMs,
    slotOf,
    ownClock: clock === 'own',
  });

  return {
    traits: {
      sync: false,
      atomic: link.cluster ? 'same-slot' : 'always',
      clock,
      durable: 'eventually',
      fails: 'possible',
      algorithms: ALGORITHMS,
    },
    run: (steps, signal): Promise<readonly Outcome[]> => dispatcher.run(steps, signal),
    async close() {
      await dispatcher.close();
      await link.close();
    },
  };
}
