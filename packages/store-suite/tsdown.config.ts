import { library } from '../../tsdown.base.ts';

export default library({ index: 'src/index.ts' }, 'node');
