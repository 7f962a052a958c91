/** Whole numbers as text, from pieces that are made once: a receipt is written for every admitted call. */

const THOUSAND = 1_000;
const MILLION = 1_000_000;

/** '0' .. '999'. */
const PLAIN: readonly string[] = Array.from({ length: THOUSAND }, (_, n) => String(n));
/** '000' .. '999'. */
export const THREE_DIGITS: readonly string[] = PLAIN.map((digits) => digits.padStart(3, '0'));

/**
 * A function that writes whole numbers, -2^53 < n < 2^53, fast where it is asked for numbers near each other (times, identities,
 * sums): it remembers the millions of the last one.
 *
 * @example decimals()(1_700_000_000_123) // '1700000000123'
 */
export function decimals(): (n: number) => string {
  let millions = 0;
  let text = '';
  return (n) => {
    if (n < THOUSAND) return n < 0 ? String(n) : (PLAIN[n] as string);
    if (n < MILLION) return pair(PLAIN, n);
    const head = Math.floor(n / MILLION);
    if (head !== millions) {
      millions = head;
      text = String(head);
    }
    return text + pair(THREE_DIGITS, n - head * MILLION);
  };
}

/** The thousands of n < 1,000,000 as `first` has them, then three digits. */
function pair(first: readonly string[], n: number): string {
  const whole = n | 0;
  const thousands = (whole / THOUSAND) | 0;
  return (first[thousands] as string) + (THREE_DIGITS[whole - thousands * THOUSAND] as string);
}
