/**
 * Who sent a request: an address in one spelling, so that one client is not counted as two. `::ffff:192.0.2.1` is
 * 192.0.2.1 (RFC 4291, 2.5.5.2); IPv6 is written as in RFC 5952; a port is dropped.
 */
import ipaddr from 'ipaddr.js';

/** What to make of an IPv6 client that owns a whole network. */
export interface ClientOptions {
  /**
   * 1 .. 128: count the clients of one network of this size as one. 128 (default): each address for itself.
   * A subscriber usually owns a /64 and can use a new address for every request.
   */
  readonly ipv6Prefix?: number;
}

/**
 * The address in its one spelling, or undefined if `text` is none. Only dotted quads are IPv4: `127.1` is a name here.
 * @example clientAddress('[2001:DB8::0:1]:443') // '2001:db8::1'
 */
export function clientAddress(text: string, { ipv6Prefix = 128 }: ClientOptions = {}): string | undefined {
  const bare = withoutPort(text);
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return ipaddr.IPv4.parse(bare).toString();
  if (!ipaddr.IPv6.isValid(bare)) return undefined;
  const address = ipaddr.IPv6.parse(bare);
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().toString();
  if (ipv6Prefix === 128) return address.toRFC5952String();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${bare.replace(/%.*/, '')}/${ipv6Prefix}`).toRFC5952String()}/${ipv6Prefix}`;
}

function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(text);
  return bracketed?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1');
}

/** Whether an address can only be a neighbour - a proxy, a health check - and never a client on the internet. */
export function isInternalAddress(client: string): boolean {
  const bare = client.replace(/\/\d+$/, '');
  if (!ipaddr.isValid(bare)) return false;
  return ['private', 'loopback', 'linkLocal', 'uniqueLocal', 'carrierGradeNat'].includes(ipaddr.parse(bare).range());
}
