/** The public face of @limiter/store-suite; reading it is reading the API. */
export { Bench } from './bench.js';
export type { Check, Group, Need } from './check.js';
export { collect, type Result } from './collect.js';
export { type DescribeStoreOptions, describeGroup, describeStore } from './describe-store.js';
export { contract } from './groups/contract.js';
export { differential } from './groups/differential.js';
export { time } from './groups/time.js';
export { vectors } from './groups/vectors.js';
export { groups } from './groups.js';
export type { Capabilities, FactoryOptions, LeftOut, StoreFactory, StoreUnderTest } from './subject.js';
