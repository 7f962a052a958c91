/**
 * Steps as one call of the Lua program. What Lua would have to work out from a rule and a cost is worked out here, and steps that ask
 * the same of different keys share one template, so that a tick's checks are mostly key numbers. Keys and arguments are text.
 */
import type { Adjustment, AdjustStep, AskStep, Charge, Ledger, ResetStep, Rule, Step } from '@limiter/core';
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
/** Of the TTL beyond the time at which the budget is full again. */
const SLACK_MS = 5_000;

const WINDOW = 1;
const BUCKET = 2;
const LOG = 3;

function codeOf(rule: Rule): number {
  if (rule.algorithm === 'token-bucket') return BUCKET;
  return rule.algorithm === 'fixed-window' ? WINDOW : LOG;
}

/** For 'first-request' no offset is possible, and -1 says so. */
const offsetOf = (rule: Rule): number =>
  rule.algorithm === 'fixed-window' && rule.align === 'clock' ? rule.offsetMs : -1;

/** Twice the time in which an empty bucket fills, and the slack; above 2^53 the last digits are rounded, which no TTL minds. */
function lifeMs(capacity: number, refillTokens: number, refillMs: number): number {
  const units = capacity * refillMs;
  const rest = units % refillTokens;
  return 2 * ((units - rest) / refillTokens + (rest > 0 ? 1 : 0)) + SLACK_MS;
}

/** The numbers of one charge, as lua/2-call.lua lists them; the first four stand alone in the arguments of a lone step. */
function numbersOf({ rule, cost, holdBack }: Charge): readonly [number, number, number, number, number] {
  if (rule.algorithm === 'token-bucket') {
    const { capacity, refillTokens, refillMs } = rule;
    const free = capacity - holdBack - cost;
    const fits = free >= 0;
    // What never fits has a level below any debt; at cost 0 every debt admits.
    const level = cost === 0 ? MAX : fits ? free * refillMs : -1;
    return [refillTokens, fits ? cost * refillMs : 0, cost, level, lifeMs(capacity, refillTokens, refillMs)];
  }
  if (rule.algorithm === 'fixed-window') {
    return [rule.windowMs, offsetOf(rule), cost, cost === 0 ? MAX : rule.limit - holdBack - cost, 0];
  }
  return [rule.windowMs, rule.limit - holdBack, cost, 0, 0];
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

function encodeAlone(charge: Charge, { prefix, now, seed, deadline }: EncodeOptions): EncodedCall {
  const [first, second, cost, most, life] = numbersOf(charge);
  const window = charge.rule.algorithm === 'fixed-window';
  const kind = window ? 'w' : 'b';
  const args = [kind, `${seed}`, deadline === undefined ? NO_DEADLINE : `${deadline}`];
  args.push(`${first}`, `${second}`, `${cost}`, `${most}`);
  if (!window) args.push(`${life}`);
  if (now !== undefined) {
    args[0] = window ? 'W' : 'B';
    if (window) args.push('0');
    args.push(`${now}`);
  }
  return { keys: [keyOf(charge.ledger, prefix)], args };
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
    const kind = plain ? 'p' : 'g';
    const args = [
      now === undefined ? kind : kind.toUpperCase(),
      `${seed}`,
      deadline === undefined ? NO_DEADLINE : `${deadline}`,
    ];
    args.push(`${text}]`);
    if (now !== undefined) args.push('0', '0', '0', '0', `${now}`);
    return { keys: [...this.#strings, ...this.#logs], args };
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
    let template = `${op === 'consume' ? 1 : 0},${charges.length}`;
    for (const charge of charges) {
      const [first, second, cost, most, life] = numbersOf(charge);
      template += `,${codeOf(charge.rule)},${first},${second},${cost},${most},${charge.enforce ? 1 : 0},${life}`;
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
    let template = `2,${adjustments.length},0,${once?.ttlMs ?? 0}`;
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
    this.#groups.push({ template: `3,${ledgers.length}`, places });
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
    return `${head},${refillTokens},${refillMs},${most},${lifeMs(capacity, refillTokens, refillMs)}`;
  }
  return `${head},${rule.windowMs},${offsetOf(rule)},${Math.min(2 * rule.limit, MAX)},0`;
}
