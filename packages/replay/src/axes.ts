/** What a limit can be `by`: the columns of an access log. */
import type { LogRequest } from './parse-line.js';

export const AXES = ['ip', 'path', 'method', 'user', 'status-class', 'agent'] as const;
export type Axis = (typeof AXES)[number];

const READ: { readonly [K in Axis]: (request: LogRequest) => string | null } = {
  ip: ({ client }) => client,
  path: ({ path }) => path,
  method: ({ method }) => method,
  user: ({ user }) => user,
  // '2xx'; known only after the answer: for asking "what if errors alone were limited", not for a limit in front of it.
  'status-class': ({ status }) => (status === null ? null : `${Math.floor(status / 100)}xx`),
  agent: ({ agent }) => agent,
};

/** null where the log has nothing (`-`): a limit by this axis does not apply to the request. */
export function axisValue(request: LogRequest, axis: Axis): string | null {
  return READ[axis](request);
}

/** The record that a limiter asks for. */
export function subjectOf(request: LogRequest, axes: readonly Axis[]): Record<string, string | null> {
  const subject: Record<string, string | null> = {};
  for (const axis of axes) subject[axis] = READ[axis](request);
  return subject;
}
