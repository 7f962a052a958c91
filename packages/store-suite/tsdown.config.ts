import { readdirSync } from 'node:fs';
import { library } from '../../tsdown.base.ts';

const groups = readdirSync('src/groups').map((file) => `groups/${file.replace(/\.ts$/, '')}`);

export default library(
  Object.fromEntries(['index', 'collect', 'groups', ...groups].map((name) => [name, `src/${name}.ts`])),
  'node',
);
