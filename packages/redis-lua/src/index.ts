/** The Lua program that decides in Redis, and how a call of it is written and read. It knows no client; @limiter/redis and @limiter/upstash do. */
export { decodeReply, faultOfError } from './decode.js';
export { type EncodedCall, type EncodeOptions, encodeCall } from './encode.js';
export { keyOf, slotTextOf } from './keys.js';
export { MAX_KEYS_PER_CALL, MAX_STEPS_PER_CALL } from './limits.js';
export { limiterProgram, type Program } from './program.js';
export { script, scriptSha1 } from './script.generated.js';
export { lateAt, type ServerClocks, serverClocks } from './server-clock.js';
