// Bundles what tsc has compiled for browsers, with all of its dependencies: the package has none when it is
// installed.
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const path = (name) => fileURLToPath(new URL(name, import.meta.url))
const options = { bundle: true, platform: 'browser', target: 'es2022', minify: true, logLevel: 'warning' }

await Promise.all([
  build({
    ...options,
    entryPoints: [path('dist/index.js')],
    format: 'esm',
    outfile: path('bundle/index.js'),
  }),
  build({
    ...options,
    entryPoints: [path('dist/browser/signing-key.js')],
    format: 'esm',
    outfile: path('bundle/keys.js'),
  }),
  build({
    ...options,
    entryPoints: [path('dist/browser/install.js')],
    format: 'iife',
    globalName: 'devWallet',
    outfile: path('bundle/dev-wallet.js'),
  }),
])
