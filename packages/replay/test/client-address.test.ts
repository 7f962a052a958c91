import { describe, expect, it } from 'vitest';
import { clientAddress, isInternalAddress } from '../src/client-address.js';

describe('a client address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:50123', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
  ])('%s is %s', (text, address) => {
    expect(clientAddress(text)).toBe(address);
  });

  it.each([
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '256.0.0.1',
    'example.org',
    'example.org:80',
    '1.2.3.4 5.6.7.8',
    '-',
    '',
    '[::1',
  ])('%j is none', (text) => {
    expect(clientAddress(text)).toBeUndefined();
  });

  it.each([
    [64, '2001:db8:1:2::/64'],
    [48, '2001:db8:1::/48'],
    [56, '2001:db8:1::/56'],
  ])('is a network of /%i where asked', (ipv6Prefix, network) => {
    expect(clientAddress('2001:db8:1:2:3:4:5:6', { ipv6Prefix })).toBe(network);
    expect(clientAddress('192.0.2.1', { ipv6Prefix })).toBe('192.0.2.1');
    expect(clientAddress('fe80::1%eth0', { ipv6Prefix })).toBe(`fe80::/${ipv6Prefix}`);
  });

  it.each([
    ['10.0.0.1', true],
    ['127.0.0.1', true],
    ['::1', true],
    ['fd00::/64', true],
    ['100.64.0.1', true],
    ['198.18.0.1', false],
    ['8.8.8.8', false],
    ['2606:4700::1', false],
    ['proxy.internal', false],
  ])('%s: internal %s', (client, internal) => {
    expect(isInternalAddress(client)).toBe(internal);
  });
});
