/**
 * The moment in an access log, `29/Nov/2026:20:02:52 +0100` (Apache `%t`, nginx `$time_local`), or ISO 8601 with a zone
 * (nginx `$time_iso8601`). A fraction of a second is kept to the millisecond where a log has one; without it every
 * request of a second falls at the same instant.
 */

/** `at`: ms since the Unix epoch. `offsetMinutes`: the zone that the log is written in, to show times as it does. */
export interface LogTime {
  readonly at: number;
  readonly offsetMinutes: number;
}

const COMMON =
  /^(?<day>\d\d)\/(?<name>[A-Z][a-z]{2})\/(?<year>\d{4}):(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)(?:\.(?<fraction>\d+))? (?<zone>[+-]\d{4})$/;
const ISO =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)T(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)(?:\.(?<fraction>\d+))?(?<zone>Z|[+-]\d\d:?\d\d)$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/**
 * `undefined` for anything else, for a moment that no calendar has (`31/Feb`) and for one before 1970.
 * @example parseLogTime('17/Apr/2025:04:10:56 +0200') // { at: 1744855856000, offsetMinutes: 120 }
 */
export function parseLogTime(text: string): LogTime | undefined {
  const part = (COMMON.exec(text) ?? ISO.exec(text))?.groups;
  if (!part) return undefined;
  const month = part['name'] === undefined ? Number(part['month']) - 1 : MONTHS.indexOf(part['name']);
  const [year, day, hour, minute] = [part['year'], part['day'], part['hour'], part['minute']].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  // A leap second, :60, is the last second of its minute: later it would fall into the next one.
  const second = Math.min(Number(part['second']), 59);
  const offsetMinutes = zone(part['zone'] as string);
  if (month < 0 || hour > 23 || minute > 59 || Number(part['second']) > 60 || offsetMinutes === undefined)
    return undefined;
  const ms = Number((part['fraction'] ?? '').slice(0, 3).padEnd(3, '0'));
  const local = new Date(Date.UTC(year, month, day, hour, minute, second, ms));
  if (local.getUTCMonth() !== month || local.getUTCDate() !== day || local.getUTCFullYear() !== year) return undefined;
  const at = local.getTime() - offsetMinutes * 60_000;
  return at < 0 ? undefined : { at, offsetMinutes };
}

function zone(text: string): number | undefined {
  if (text === 'Z') return 0;
  const digits = text.slice(1).replace(':', '');
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2))];
  if (hours > 15 || minutes > 59) return undefined;
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
