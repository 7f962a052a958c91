/** All groups, in the order in which they are best read. */
import type { Group } from './check.js';
import { admission } from './groups/admission.js';
import { atomicity } from './groups/atomicity.js';
import { bounds } from './groups/bounds.js';
import { changingLimits } from './groups/changing-limits.js';
import { composition } from './groups/composition.js';
import { contract } from './groups/contract.js';
import { differential } from './groups/differential.js';
import { expiry } from './groups/expiry.js';
import { keys } from './groups/keys.js';
import { longLogs } from './groups/long-logs.js';
import { priorities } from './groups/priorities.js';
import { promises } from './groups/promises.js';
import { refunds } from './groups/refunds.js';
import { settlements } from './groups/settlements.js';
import { throughALimiter } from './groups/through-a-limiter.js';
import { time } from './groups/time.js';
import { vectors } from './groups/vectors.js';

export const groups: readonly Group[] = [
  contract,
  admission,
  composition,
  atomicity,
  promises,
  bounds,
  time,
  expiry,
  keys,
  changingLimits,
  refunds,
  settlements,
  priorities,
  longLogs,
  throughALimiter,
  vectors,
  differential,
];
