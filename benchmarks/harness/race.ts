/** Contenders in turn, in short rounds, in one process: what the machine does meanwhile hits all of them. */
import type { Entry, Result, Role } from './result.js';
import { quick, roundsOr } from './settings.js';

export interface Contender {
  readonly name: string;
  readonly role: Role;
  /** Does `calls` calls. */
  readonly run: (calls: number) => void | Promise<void>;
  /** The fewest calls that make sense, and what the calls of a round are a multiple of. Default 1. */
  readonly step?: number;
}

export interface RaceOptions {
  /** Default 25. */
  readonly rounds?: number;
  /** How long one contender has in one round, about. Default 20 ms. */
  readonly roundMs?: number;
  /** How long each contender runs before anything is measured. Default 300 ms. */
  readonly warmUpMs?: number;
}

async function took(contender: Contender, calls: number): Promise<number> {
  const began = performance.now();
  const running = contender.run(calls);
  if (running !== undefined) await running;
  return performance.now() - began;
}

/** Warms a contender up and says how many calls fill a round. */
async function fit(contender: Contender, roundMs: number, warmUpMs: number): Promise<number> {
  const step = contender.step ?? 1;
  const until = performance.now() + (quick ? 10 : warmUpMs);
  let calls = step;
  for (;;) {
    const ms = await took(contender, calls);
    if (ms >= roundMs / 2) {
      if (performance.now() < until) continue;
      return Math.max(step, Math.round((calls * roundMs) / ms / step) * step);
    }
    calls *= 2;
  }
}

/** Nanoseconds a call of each contender, one sample a round. */
export async function race(
  about: Pick<Result, 'id' | 'title' | 'note'>,
  contenders: readonly Contender[],
  options: RaceOptions = {},
): Promise<Result> {
  const roundMs = quick ? 2 : (options.roundMs ?? 20);
  const calls: number[] = [];
  for (const contender of contenders) calls.push(await fit(contender, roundMs, options.warmUpMs ?? 300));
  const samples = contenders.map((): number[] => []);
  for (let round = 0; round < roundsOr(options.rounds ?? 25); round += 1) {
    for (const [i, contender] of contenders.entries()) {
      const many = calls[i] as number;
      samples[i]?.push(((await took(contender, many)) * 1e6) / many);
    }
  }
  const entries = contenders.map(({ name, role }, i): Entry => ({ name, role, samples: samples[i] as number[] }));
  return { ...about, unit: 'ns a call', better: 'less', entries };
}

/** Keeps `flight` calls in flight until `calls` have been answered. */
export function inFlight(flight: number, act: (i: number) => Promise<unknown>): (calls: number) => Promise<void> {
  let next = 0;
  return async (calls) => {
    const end = next + calls;
    const worker = async (): Promise<void> => {
      while (next < end) await act(next++);
    };
    await Promise.all(Array.from({ length: Math.min(flight, calls) }, worker));
  };
}
