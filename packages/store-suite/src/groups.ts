/** All groups, in the order in which they are best read. */
import type { Group } from './check.js';
import { contract } from './groups/contract.js';
import { differential } from './groups/differential.js';
import { time } from './groups/time.js';
import { vectors } from './groups/vectors.js';

export const groups: readonly Group[] = [contract, vectors, time, differential];
