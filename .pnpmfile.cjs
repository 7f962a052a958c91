// Native addons compile against the headers of the Node that will load them. Most installations carry these headers in
// <prefix>/include/node: pointing node-gyp there saves a download, and works where nothing can be downloaded.
const { existsSync } = require('node:fs');
const { dirname, join } = require('node:path');

const prefix = dirname(dirname(process.execPath));

module.exports = {
  hooks: {
    updateConfig(config) {
      if (!config.rawConfig.nodedir && existsSync(join(prefix, 'include/node/node.h'))) {
        config.rawConfig.nodedir = prefix;
      }
      return config;
    },
  },
};
