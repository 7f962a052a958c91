// Native addons compile against headers of the very Node that runs them. Most installations carry these headers in
// <prefix>/include/node; pointing node-gyp there saves a download, and works where there is no network to download from.
const { existsSync } = require('node:fs');
const { dirname, join } = require('node:path');

const prefix = dirname(dirname(process.execPath));
if (process.env.npm_config_nodedir === undefined && existsSync(join(prefix, 'include/node/node.h'))) {
  process.env.npm_config_nodedir = prefix;
}
