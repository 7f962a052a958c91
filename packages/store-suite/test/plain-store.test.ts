import { describe } from 'vitest';
import { describeGroup, vectors } from '../src/index.js';
import { plainStore } from './plain-store.js';

describe('plain store', () => {
  describeGroup(vectors, ({ clock }) => plainStore({ clock }));
});
