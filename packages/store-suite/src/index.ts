export { collect } from './collect.js';
export { describeGroup } from './describe-store.js';
export { vectors } from './groups/vectors.js';
