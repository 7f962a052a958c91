/** How much one call may carry. Redis does nothing else while a script runs: 256 steps of one limit take it about half a millisecond. */
export const MAX_STEPS_PER_CALL = 256;
/** A store cuts a batch before this many keys. A single step may have more; the script reads keys in portions that Lua's `unpack` can take. */
export const MAX_KEYS_PER_CALL = 2_048;
