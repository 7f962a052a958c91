/** A store over any driver: greets connections, learns the server's clock, warns once, hands steps to the dispatcher. */
import {
  type AlgorithmName,
  type AskingStore,
  addShortcuts,
  type DeadlineSignal,
  type Outcome,
  type Step,
  type Store,
} from '@limiter/core';
import { type Program, serverClocks } from '@limiter/redis-lua';
import { createDispatcher } from './dispatcher.js';
import { evictionWarning } from './eviction.js';
import { givingBack } from './give-back.js';
import type { Lane, Link, LinkHooks } from './link.js';
import type { LinkMaker } from './link-maker.js';
import { slotOfLedger, slotOfStep } from './slots.js';
import type { RedisWarning } from './warnings.js';

const ALGORITHMS: readonly AlgorithmName[] = ['fixed-window', 'sliding-window-log', 'token-bucket'];

export interface StoreParts {
  readonly makeLink: LinkMaker;
  /** Before every key. */
  readonly prefix: string;
  readonly makeProgram: (prefix: string) => Program;
  readonly clock: 'own' | 'caller';
  readonly staleAfterMs: number;
  /** Cluster: a decision whose limits lie in several slots. `false`: a mistake. */
  readonly giveBack: boolean;
  readonly warn: (warning: RedisWarning) => void;
}

export interface RedisStore extends Store, Partial<Pick<AskingStore, 'ask'>> {
  /** Ends the connection that the store opened. Steps that were not sent are answered `unreachable`. */
  close(): Promise<void>;
}

export function storeOver(parts: StoreParts): RedisStore {
  const { clock, staleAfterMs, warn } = parts;
  const clocks = serverClocks();
  let evictionAsked = false;
  let clockRefused = false;

  async function askClock(lane: Lane): Promise<void> {
    try {
      const [seconds, micros] = (await lane.send('time', [])) as readonly unknown[];
      clocks.learn(lane.name, Number(seconds) * 1000 + Math.floor(Number(micros) / 1000));
    } catch (error) {
      if (!link.isReply(error) || clockRefused) return;
      clockRefused = true;
      warn({
        code: 'LIMITER_REDIS_CLOCK',
        message: `Redis refuses TIME (${String(error)}), so it cannot tell whether a call comes after its deadline. Allow TIME.`,
      });
    }
  }

  const hooks: LinkHooks = {
    async greet(lane) {
      if (!evictionAsked) {
        evictionAsked = true;
        void evictionWarning(lane).then((warning) => warning !== undefined && warn(warning));
      }
      await askClock(lane);
    },
    changed: () => dispatcher.changed(),
  };
  const link: Link = parts.makeLink(hooks, warn);
  const prefix = link.keyPrefix + parts.prefix;
  const dispatcher = createDispatcher(link, parts.makeProgram(prefix), clocks, {
    staleAfterMs,
    slotOf: (step) => slotOfStep(step, prefix),
    // The reply of a Cluster may come from another node than the one that was asked.
    askClock: clock === 'own' && !link.cluster ? undefined : (lane) => void askClock(lane),
  });
  const run = (steps: readonly Step[], signal?: DeadlineSignal): Promise<readonly Outcome[]> =>
    dispatcher.run(steps, signal);

  const givesBack = link.cluster && parts.giveBack;
  const store: RedisStore = {
    traits: {
      sync: false,
      atomic: link.cluster ? 'same-slot' : 'always',
      clock,
      durable: 'eventually',
      fails: 'possible',
      algorithms: ALGORITHMS,
    },
    run: givesBack ? givingBack(run, (ledger) => slotOfLedger(ledger, prefix)) : run,
    async close() {
      await dispatcher.close();
      await link.close();
    },
  };
  // What may take several calls is asked as a whole only.
  return givesBack ? store : addShortcuts(store, { ask: dispatcher.ask });
}
