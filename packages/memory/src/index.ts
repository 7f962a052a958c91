/** The public face of @limiter/memory. */
export { type MemoryStats, type MemoryStore, memoryStore } from './memory-store.js';
export type { Eviction, MemoryStoreOptions } from './options.js';
