/** The commonest question, kept and filled in again: nothing is allocated for it. */
import type { Writable } from './algorithms/algorithm.js';
import type { Plan } from './plan.js';
import { type Asked, type Asker, ask, type CallOptions, type Question } from './question.js';
import type { Charge } from './store.js';

/**
 * A consume without options but a cost, on a limiter without tiers, asks the same question each time, of another subject. For a
 * store that answers at once the question is therefore kept and filled in again: nothing may hold on to it beyond the call.
 */
export interface Template {
  /** The question for this subject; undefined when it has to be asked at length (skipped limits, options, mistakes). */
  fill(subject: unknown, options: CallOptions | undefined): Question | undefined;
}

export function template(asker: Asker): Template | undefined {
  const { plan, hashTag } = asker;
  if (plan.hasTiers || hashTag !== undefined) return undefined;
  const question = ask(asker, 'consume', sampleSubject(plan.axes), undefined, false) as Writable<Question>;
  if (question.step.charges.length === 0) return undefined;
  const asked = question.asked as Writable<Asked>[];
  const charges = question.step.charges as Writable<Charge>[];
  const values = asked.map((part) => part.values as string[]);
  const plainSubject = plan.axes.length === 1 && plan.axes[0] === 'subject';
  const axes = axesFor(plan, values);
  return {
    fill(subject, options) {
      const cost = options === undefined ? 1 : onlyCost(options);
      if (cost === undefined) return undefined;
      if (plainSubject) {
        if (typeof subject !== 'string') return undefined;
        for (let i = 0; i < values.length; i += 1)
          if (plan.limits[i]?.axes.length === 1) (values[i] as string[])[0] = subject;
      } else if (!fillAxes(axes, subject)) return undefined;
      for (let i = 0; i < asked.length; i += 1) (asked[i] as Writable<Asked>).cost = cost;
      for (let i = 0; i < charges.length; i += 1) (charges[i] as Writable<Charge>).cost = cost;
      return question;
    },
  };
}

function sampleSubject(axes: readonly string[]): unknown {
  if (axes.length === 1 && axes[0] === 'subject') return '';
  return Object.fromEntries(axes.map((axis) => [axis, '']));
}

/** The cost of options that hold nothing else, when it is one whole number. */
function onlyCost(options: CallOptions): number | undefined {
  if (options === null) return undefined;
  for (const key in options) if (key !== 'cost') return undefined;
  // Options that do not show, such as getters of a class.
  if (options.tier !== undefined || options.priority !== undefined) return undefined;
  if (options.limits !== undefined || options.onStoreFailure !== undefined) return undefined;
  const { cost } = options;
  return typeof cost === 'number' && Number.isSafeInteger(cost) && cost > 0 ? cost : undefined;
}

/** An axis, and everywhere that its value goes. */
interface Axis {
  readonly name: string;
  readonly places: readonly { readonly values: string[]; readonly at: number }[];
}

function axesFor(plan: Plan, values: readonly string[][]): readonly Axis[] {
  return plan.axes.map((name) => ({
    name,
    places: plan.limits.flatMap((limit, i) => {
      const at = limit.axes.indexOf(name);
      return at < 0 ? [] : [{ values: values[i] as string[], at }];
    }),
  }));
}

/** Each value is read once: a getter cannot answer one limit one thing and the next another. */
function fillAxes(axes: readonly Axis[], subject: unknown): boolean {
  if (typeof subject !== 'object' || subject === null || Array.isArray(subject)) return false;
  const record = subject as Record<string, unknown>;
  for (let i = 0; i < axes.length; i += 1) {
    const { name, places } = axes[i] as Axis;
    const value = record[name];
    if (typeof value !== 'string' || !Object.hasOwn(record, name)) return false;
    for (let j = 0; j < places.length; j += 1) {
      const { values, at } = places[j] as Axis['places'][number];
      values[at] = value;
    }
  }
  return true;
}
