/** Looks at everything that a store has left in a server, from outside. */
import { strict as assert } from 'node:assert';
import type { RedisServer } from '@limiter/test-servers';

const DUMP = `local out = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  local hex = string.gsub(redis.call('DUMP', key), '.', function(c) return string.format('%02x', string.byte(c)) end)
  out[#out + 1] = key .. '=' .. hex
end
table.sort(out)
return table.concat(out, '\\n')`;

const TTLS = `local out = {}
for _, key in ipairs(redis.call('KEYS', '*')) do out[#out + 1] = key; out[#out + 1] = redis.call('PTTL', key) end
return out`;

/** Every key with its value, byte for byte; times to live left out. */
export async function dump(server: RedisServer): Promise<string> {
  return `${await server.cli('EVAL', DUMP, 0)}`;
}

/** Every key of the server ends by itself and begins with the prefix. Answers how many there are. */
export async function assertTidy(server: RedisServer, prefix: string): Promise<number> {
  const found = (await server.cli('EVAL', TTLS, 0)) as readonly (string | number)[];
  for (let i = 0; i < found.length; i += 2) {
    assert.ok(`${found[i]}`.startsWith(`${prefix}:`), `${found[i]} is outside the prefix ${prefix}`);
    assert.ok(Number(found[i + 1]) >= 0, `${found[i]} never expires`);
  }
  return found.length / 2;
}
