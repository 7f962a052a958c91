/** A store in Upstash Redis, over REST: one HTTP request a decision, on Node and on edge runtimes. */
export type { UpstashClient, UpstashCredentials } from './endpoint.js';
export { type UpstashStoreOptions, upstashStore } from './upstash-store.js';
