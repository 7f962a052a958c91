import { describeGroup, differential, vectors } from '@limiter/store-suite';
import { sqliteStore } from '../src/index.js';
import { newFile } from './support/files.js';

for (const group of [differential, vectors]) {
  describeGroup(group, ({ clock }) => ({ store: sqliteStore(newFile(), { clock }) }));
}
