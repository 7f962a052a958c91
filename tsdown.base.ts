import { defineConfig, type UserConfig } from 'tsdown';

/** The one way in which a package is built: ESM only, one file an entry, types from isolated declarations. */
export function library(entry: Record<string, string>, platform: 'neutral' | 'node' = 'neutral'): UserConfig {
  return defineConfig({
    entry,
    platform,
    format: 'esm',
    target: 'es2023',
    dts: true,
    clean: true,
    sourcemap: false,
    treeshake: true,
    fixedExtension: true,
    outDir: 'dist',
    // Development reads the sources of the neighbours; what is packed must name them as packages.
    inputOptions: { resolve: { conditionNames: ['import', 'default'] } },
  }) as UserConfig;
}
