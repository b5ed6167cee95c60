// Bundles the output of tsc for browsers with all dependencies: the installed package has none.
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const path = (name) => fileURLToPath(new URL(name, import.meta.url))
const options = { bundle: true, platform: 'browser', target: 'es2022', minify: true, logLevel: 'warning' }

await Promise.all([
  build({
    ...options,
    entryPoints: [path('dist/wallet/index.js')],
    format: 'esm',
    outfile: path('bundle/wallet.js'),
  }),
  build({
    ...options,
    entryPoints: [path('dist/wallet/browser/signing-key.js')],
    format: 'esm',
    outfile: path('bundle/keys.js'),
  }),
  build({
    ...options,
    entryPoints: [path('dist/wallet/browser/install.js')],
    format: 'iife',
    globalName: 'devWallet',
    outfile: path('bundle/dev-wallet.js'),
  }),
])
