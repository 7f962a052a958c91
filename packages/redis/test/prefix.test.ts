import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { redisStore } from '../src/index.js';

// Half a surrogate pair has no bytes in UTF-8: all of them would be written as the same key, and two stores would share ledgers.
it('a prefix is whole text without braces, so that two prefixes never share a key', () => {
  const client = new Redis({ lazyConnect: true });
  for (const prefix of ['{', 'a}', '\ud800', 'a\udc00b'])
    expect(() => redisStore(client, { prefix }), JSON.stringify(prefix)).toThrow(
      expect.objectContaining({ code: 'ERR_LIMITER_OPTION' }),
    );
  for (const prefix of ['', '*', '[a]?', '\u0000', '\ud83d\ude00'])
    expect(() => redisStore(client, { prefix }), JSON.stringify(prefix)).not.toThrow();
});
