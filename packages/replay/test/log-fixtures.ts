import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { LoggedRequest } from '../src/in-order.js';
import type { LogRequest } from '../src/parse-line.js';

export const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

/** The lines of a fixture, without the empty end. */
export function lines(name: string): readonly string[] {
  const bytes = readFileSync(fixture(name));
  return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString().replace(/\n$/, '').split('\n');
}

/** One request at a second of 2026, for tests that need no text. */
export function request(second: number, fields: Partial<LogRequest> = {}): LogRequest {
  const at = Date.UTC(2026, 0, 1) + second * 1_000;
  const rest = { user: null, method: 'GET', path: '/', status: 200, agent: null, odd: null };
  return { at, offsetMinutes: 0, client: '192.0.2.1', ...rest, ...fields };
}

export function entry(line: number, second: number, fields: Partial<LogRequest> = {}, log = 0): LoggedRequest {
  return { request: request(second, fields), log, line };
}

/** A line of the combined format. */
export function combined(second: number, fields: { client?: string; path?: string } = {}): string {
  const time = new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString();
  const { client = '192.0.2.1', path = '/' } = fields;
  return `${client} - - [01/Jan/2026:${time.slice(11, 19)} +0000] "GET ${path} HTTP/1.1" 200 5 "-" "agent/1"`;
}
