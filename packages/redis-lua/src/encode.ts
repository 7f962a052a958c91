/**
 * Steps as one call of the Lua program. What Lua would have to work out from a rule and a cost is worked out here, and steps that ask
 * the same of different keys share one template, so that a tick's checks are mostly key numbers. Keys and arguments are text.
 */
import {
  type Adjustment,
  type AdjustStep,
  type AskStep,
  type Charge,
  type Ledger,
  type ResetStep,
  type Rule,
  ruleLimit,
  type Step,
} from '@limiter/core';
import { keyOf, markerKeyOf } from './keys.js';

export interface EncodeOptions {
  /** First part of every key. */
  readonly prefix: string;
  /** The caller's clock, whole ms since the Unix epoch, 0 .. 2^52-1. Left out, Redis TIME decides. */
  readonly now?: number | undefined;
  /** A fresh random whole number, 0 .. 2^48-1, for every call: new ledgers get their identities from it. Never reuse one. */
  readonly seed: number;
  /** By the server's clock (TIME), whole ms: a call that begins later reads nothing and answers the error `LIMITERLATE <its time>`. */
  readonly deadline?: number | undefined;
}

export interface EncodedCall {
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

const MAX = Number.MAX_SAFE_INTEGER;
const NO_DEADLINE = `${MAX}`;
const WINDOW = 1;
const BUCKET = 2;
const LOG = 3;
const SHADOW = 4;
/** Steps with more charges go the long way, where a step may have any number. */
const MOST_CHARGES_IN_PLAIN = 3;

function codeOf(rule: Rule): number {
  if (rule.algorithm === 'token-bucket') return BUCKET;
  return rule.algorithm === 'fixed-window' ? WINDOW : LOG;
}

/** For 'first-request' no offset is possible, and -1 says so. */
const offsetOf = (rule: Rule): number =>
  rule.algorithm === 'fixed-window' && rule.align === 'clock' ? rule.offsetMs : -1;

/** The four numbers of one charge, as lua/2-plain.lua and lua/3-call.lua list them. */
function numbersOf({ rule, cost, holdBack }: Charge): readonly [number, number, number, number] {
  const most = ruleLimit(rule) - holdBack - cost;
  if (rule.algorithm === 'token-bucket') {
    // What never fits has a level below any debt; at cost 0 every debt admits.
    const level = cost === 0 ? MAX : most >= 0 ? most * rule.refillMs : -1;
    return [rule.refillTokens, most >= 0 ? cost * rule.refillMs : 0, cost, level];
  }
  if (rule.algorithm === 'fixed-window') return [rule.windowMs, offsetOf(rule), cost, cost === 0 ? MAX : most];
  return [rule.windowMs, 0, cost, rule.limit - holdBack];
}

/**
 * One call for all `steps`: EVALSHA script, keys, args.
 *
 * @example
 * const { keys, args } = encodeCall(steps, { prefix: 'limiter', seed });
 * const reply = await redis.evalsha(scriptSha1, keys.length, ...keys, ...args);
 * const outcomes = decodeReply(reply, steps);
 */
export function encodeCall(steps: readonly Step[], options: EncodeOptions): EncodedCall {
  const [step] = steps;
  if (steps.length === 1 && step?.op === 'consume' && step.charges.length === 1) {
    const charge = step.charges[0] as Charge;
    if (charge.rule.algorithm !== 'sliding-window-log' && charge.cost > 0) return encodeAlone(charge, options);
  }
  return new Encoder(options).encode(steps);
}

/** As lua/1-alone.lua lists them. */
function encodeAlone(charge: Charge, { prefix, now, seed, deadline }: EncodeOptions): EncodedCall {
  const [rate, second, cost, most] = numbersOf(charge);
  const isWindow = charge.rule.algorithm === 'fixed-window';
  const isCommon = cost === 1 && (second === 0 || !isWindow);
  const kind = isWindow ? (isCommon ? 'w' : 'x') : isCommon ? 'b' : 'c';
  const args = [kind, `${seed}`, deadline === undefined ? NO_DEADLINE : `${deadline}`, `${rate}`, `${most}`];
  if (!isWindow) args.push(`${second}`);
  if (!isCommon) args.push(`${cost}`);
  if (!isCommon && isWindow) args.push(`${second}`);
  return { keys: [keyOf(charge.ledger, prefix)], args: now === undefined ? args : onCallersClock(args, now) };
}

/** The same call on the caller's clock: a capital letter, and `now` as the eighth argument. */
function onCallersClock(args: readonly string[], now: number): readonly string[] {
  const [kind, ...others] = args as [string, ...string[]];
  return [kind.toUpperCase(), ...others, ...Array(7 - args.length).fill('0'), `${now}`];
}

class Encoder {
  readonly #options: EncodeOptions;
  readonly #strings: string[] = [];
  readonly #logs: string[] = [];
  /** Key text to its place: from 1 on among the strings, from -1 down among the logs, which lie behind them. */
  readonly #places = new Map<string, number>();
  /** Only questions, so that (with no log) the short way through the program is open. */
  #isPlain = true;
  readonly #groups: { template: string; places: number[] }[] = [];

  constructor(options: EncodeOptions) {
    this.#options = options;
  }

  encode(steps: readonly Step[]): EncodedCall {
    for (const step of steps) this.#add(step);
    const { seed, now, deadline } = this.#options;
    const behind = this.#strings.length;
    const plain = this.#isPlain && this.#logs.length === 0;
    let text = plain ? `[${this.#markSharedKeys()}` : `[${behind}`;
    for (const { template, places } of this.#groups) {
      for (let i = 0; i < places.length; i += 1) {
        const place = places[i] as number;
        if (!plain && place < 0) places[i] = behind - place;
      }
      text += `,[${template}],[${places}]`;
    }
    const end = deadline === undefined ? NO_DEADLINE : `${deadline}`;
    const args = [plain ? 'p' : 'g', `${seed}`, end, `${text}]`];
    return {
      keys: [...this.#strings, ...this.#logs],
      args: now === undefined ? args : onCallersClock(args, now),
    };
  }

  #add(step: Step): void {
    if (step.op === 'adjust') this.#adjust(step);
    else if (step.op === 'reset') this.#reset(step);
    else this.#ask(step);
  }

  /** A key that a later step has too is marked: it is kept in Lua until its last step writes it. Says 1 if there is one, else 0. */
  #markSharedKeys(): 0 | 1 {
    const later = new Set<number>();
    let shared: 0 | 1 = 0;
    for (const { places } of this.#groups.toReversed()) {
      for (let i = places.length - 1; i >= 0; i -= 1) {
        const place = places[i] as number;
        if (later.has(place)) {
          places[i] = -place;
          shared = 1;
        } else later.add(place);
      }
    }
    return shared;
  }

  #place(key: string, isLog: boolean): number {
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const list = isLog ? this.#logs : this.#strings;
    const place = isLog ? -1 - list.length : list.length + 1;
    list.push(key);
    this.#places.set(key, place);
    return place;
  }

  #placeOf(ledger: Ledger, isLog: boolean): number {
    return this.#place(keyOf(ledger, this.#options.prefix), isLog);
  }

  #ask({ op, charges }: AskStep): void {
    if (charges.length === 0) return;
    if (charges.length > MOST_CHARGES_IN_PLAIN) this.#isPlain = false;
    let template = `${2 * charges.length + (op === 'consume' ? 1 : 0)}`;
    for (const charge of charges) {
      const code = codeOf(charge.rule) + (charge.enforce ? 0 : SHADOW);
      template += `,${code},${numbersOf(charge)}`;
    }
    let group = this.#groups.at(-1);
    if (group?.template !== template) {
      group = { template, places: [] };
      this.#groups.push(group);
    }
    for (const { ledger, rule } of charges) {
      group.places.push(this.#placeOf(ledger, rule.algorithm === 'sliding-window-log'));
    }
  }

  #adjust({ adjustments, once }: AdjustStep): void {
    this.#isPlain = false;
    const marker =
      once === undefined ? 0 : this.#place(markerKeyOf(once.key, once.beside, this.#options.prefix), false);
    // Lua takes the keys of an adjustment from this list: the marker first, then one for each.
    const places = [marker];
    let template = `-1,${adjustments.length},${once?.ttlMs ?? 0}`;
    for (const adjustment of adjustments) {
      template += `,${adjustmentNumbers(adjustment)}`;
      places.push(
        isIdle(adjustment) ? 0 : this.#placeOf(adjustment.ledger, adjustment.rule.algorithm === 'sliding-window-log'),
      );
    }
    this.#groups.push({ template, places });
  }

  #reset({ ledgers }: ResetStep): void {
    this.#isPlain = false;
    const places = ledgers.map((ledger) => this.#placeOf(ledger, ledger.grid.startsWith('l')));
    this.#groups.push({ template: '-2', places });
  }
}

/** Nothing was charged there, so nothing can be given back. */
const isIdle = ({ change, mark }: Adjustment): boolean => change === 'give-back' && mark === undefined;

/** As lua/7-adjust.lua lists them. */
function adjustmentNumbers(adjustment: Adjustment): string {
  const { rule, mark, charged, change, amount } = adjustment;
  const code = isIdle(adjustment) ? 0 : codeOf(rule);
  const head = `${code},${change === 'give-back' ? 1 : 0},${amount},${charged},${mark?.id ?? 0},${mark?.at ?? 0},${mark?.position ?? 0}`;
  if (rule.algorithm === 'token-bucket') {
    const { capacity, refillTokens, refillMs } = rule;
    const most = Math.min(2 * capacity, (MAX - (MAX % refillMs)) / refillMs) * refillMs;
    return `${head},${refillTokens},${refillMs},${most},${capacity * refillMs}`;
  }
  return `${head},${rule.windowMs},${offsetOf(rule)},${Math.min(2 * rule.limit, MAX)},0`;
}
