/**
 * One script call for several steps: written down, sent, answered. What has been sent is sent once, with two exceptions that prove that
 * nothing ran: NOSCRIPT, and the program's "too late" after which the caller is found to have time left (the server's clock was
 * not where it was thought to be, or another step of the call had the shorter deadline).
 */
import type { Outcome, Step } from '@limiter/core';
import { lateAt, type Program, type ServerClocks } from '@limiter/redis-lua';
import { messageOf, sendFault, unknownOutcome, unreachable } from './faults.js';
import { type Item, timeLeft } from './item.js';
import { type Lane, type Link, NotSent } from './link.js';

/** A link that owes an answer for this long gets nothing more to do: what is not sent can still be taken back. */
const SILENT_MS = 100;
/** Where replies do not tell the server's clock, it is asked for this often. */
const CLOCK_MS = 1000;
/** How often a call that came too late is tried again for those who have time left. */
const MAX_LATE = 3;

export interface SenderOptions {
  /** Asks the server of a lane for its time; undefined where the outcomes' `now` is that server's own. Never rejects. */
  readonly askClock: ((lane: Lane) => void) | undefined;
}

/** Where steps go that are through with being sent. */
export interface SenderHooks {
  answer(item: Item, outcome: Outcome): void;
  /** It cannot even be written down: the caller's mistake, and nothing was sent. */
  fail(item: Item, error: unknown): void;
  /** Nothing was sent: the connection went away at the last moment. */
  unsent(items: readonly Item[], slot: number, error: NotSent): void;
  /** A reply has come, or a link has been given up. */
  settled(): void;
}

export interface Sender {
  readonly inFlight: number;
  /** The steps lie in `slot`, which the lane serves. */
  send(lane: Lane, slot: number, items: readonly Item[]): void;
  /** Does this lane owe an answer for too long? */
  isSilent(lane: Lane): boolean;
}

interface Traffic {
  inFlight: number;
  /** performance.now() of the last reply, or of the first send after a quiet time. */
  heardAt: number;
  /** Of the last question for the server's clock. */
  clockAt: number;
  /** How many times the script was sent as text: whatever is sent after that finds it. */
  texts: number;
}

interface Call {
  readonly lane: Lane;
  readonly slot: number;
  readonly traffic: Traffic;
  readonly items: readonly Item[];
  readonly steps: readonly Step[];
  /** What EVALSHA gets. */
  readonly parts: readonly string[];
  /** How often it came too late before. */
  readonly late: number;
  /** `traffic.texts` when it was sent. */
  readonly texts: number;
}

export function createSender(
  link: Link,
  program: Program,
  clocks: ServerClocks,
  options: SenderOptions,
  hooks: SenderHooks,
): Sender {
  const lanes = new Map<string, Traffic>();
  let inFlight = 0;
  let renewedAt = Number.NEGATIVE_INFINITY;

  function trafficOf(lane: Lane): Traffic {
    let traffic = lanes.get(lane.name);
    if (traffic === undefined) {
      traffic = { inFlight: 0, heardAt: 0, clockAt: performance.now(), texts: 0 };
      lanes.set(lane.name, traffic);
    }
    return traffic;
  }

  function send(lane: Lane, slot: number, items: readonly Item[], late: number): void {
    const live = items.some(isAborted) ? unaborted(items) : items;
    if (live.length === 0) return;
    let deadlineAt = Number.POSITIVE_INFINITY;
    const steps: Step[] = new Array(live.length);
    for (let i = 0; i < live.length; i += 1) {
      const item = live[i] as Item;
      steps[i] = item.step;
      if (item.deadlineAt < deadlineAt) deadlineAt = item.deadlineAt;
    }
    let parts: string[];
    try {
      const { keys, args } = program.encode(steps, clocks.deadline(lane.name, deadlineAt));
      parts = [program.sha1, `${keys.length}`, ...keys, ...args];
    } catch (error) {
      // One caller's mistake is not the others' fault.
      if (live.length === 1) hooks.fail(live[0] as Item, error);
      else for (const item of live) send(lane, slot, [item], late);
      return;
    }
    const traffic = trafficOf(lane);
    transmit({ lane, slot, traffic, items: live, steps, parts, late, texts: traffic.texts }, false);
  }

  /** Those that may still be sent; the others are answered. */
  function unaborted(items: readonly Item[]): readonly Item[] {
    const live: Item[] = [];
    for (const item of items) {
      if (item.aborted) hooks.answer(item, unreachable(item.reason));
      else live.push(item);
    }
    return live;
  }

  function transmit(call: Call, asText: boolean): void {
    const { lane, traffic, parts } = call;
    const now = performance.now();
    if (traffic.inFlight === 0) traffic.heardAt = now;
    if (options.askClock !== undefined && now - traffic.clockAt > CLOCK_MS) {
      traffic.clockAt = now;
      options.askClock(lane);
    }
    traffic.inFlight += 1;
    inFlight += 1;
    const settled = (): void => {
      traffic.inFlight -= 1;
      traffic.heardAt = performance.now();
      inFlight -= 1;
      hooks.settled();
    };
    if (asText) traffic.texts += 1;
    const sent = asText ? lane.send('eval', [program.script, ...parts.slice(1)]) : lane.send('evalsha', parts);
    sent.then(
      (reply) => {
        receive(call, reply);
        settled();
      },
      (error: unknown) => {
        recover(call, error);
        settled();
      },
    );
  }

  function receive({ lane, items, steps }: Call, reply: unknown): void {
    let outcomes: readonly Outcome[];
    try {
      outcomes = program.decode(reply, steps);
    } catch (error) {
      for (const item of items) hooks.answer(item, unknownOutcome(error));
      return;
    }
    if (options.askClock === undefined) {
      const told = outcomes.find((outcome) => outcome.ok);
      if (told?.ok === true) clocks.learn(lane.name, told.now);
    }
    for (let i = 0; i < items.length; i += 1) hooks.answer(items[i] as Item, outcomes[i] as Outcome);
  }

  function recover(call: Call, error: unknown): void {
    const message = messageOf(error);
    const isReply = link.isReply(error);
    const lateMs = isReply ? lateAt(message) : undefined;
    if (isReply && message.startsWith('NOSCRIPT')) {
      withoutScript(call);
    } else if (lateMs !== undefined) {
      tooLate(call, lateMs);
    } else if (error instanceof NotSent) {
      hooks.unsent(call.items, call.slot, error);
    } else {
      for (const item of call.items) hooks.answer(item, sendFault(error, isReply));
      if (isReply && message.startsWith('READONLY')) renew();
    }
  }

  /** The server does not have the script (any more), so nothing ran. One call sends it as text; what is sent after that one finds it. */
  function withoutScript(call: Call): void {
    const { lane, slot, traffic, items, late, texts } = call;
    if (items.some(isAborted)) {
      // Somebody gave up meanwhile: the call is made anew without his step.
      send(lane, slot, items, late);
    } else {
      transmit({ ...call, texts: traffic.texts }, traffic.texts === texts);
    }
  }

  /** Nothing ran. Whoever has time left tries again, now that the server's clock is known. */
  function tooLate({ lane, slot, items, late }: Call, serverMs: number): void {
    clocks.learn(lane.name, serverMs);
    const now = performance.now();
    const cause = new Error('The call reached Redis after its deadline and was not carried out');
    const inTime: Item[] = [];
    for (const item of items) {
      if (late < MAX_LATE && timeLeft(item, now)) inTime.push(item);
      else hooks.answer(item, unreachable(cause));
    }
    // Anyone else's shorter deadline is out of the way now; a signal that does not say when it aborts counts anew.
    if (inTime.length > 0) send(lane, slot, inTime, late + 1);
  }

  /** A demoted master answers READONLY for as long as one stays connected to it. What it still owes an answer is waited for. */
  function renew(): void {
    const now = performance.now();
    if (now - renewedAt < 1000) return;
    renewedAt = now;
    setTimeout(link.renew, inFlight > 1 ? 50 : 0).unref();
  }

  return {
    get inFlight() {
      return inFlight;
    },
    send: (lane, slot, items) => send(lane, slot, items, 0),
    isSilent(lane) {
      const traffic = lanes.get(lane.name);
      return traffic !== undefined && traffic.inFlight > 0 && performance.now() - traffic.heardAt > SILENT_MS;
    },
  };
}

function isAborted(item: Item): boolean {
  return item.aborted;
}
