// Bundles the page for browsers and serves it on PORT, by default 8080.
import { context } from 'esbuild'
import { wasmLoader } from 'esbuild-plugin-wasm'
import { nodeModulesPolyfillPlugin } from 'esbuild-plugins-node-modules-polyfill'

const page = await context({
  entryPoints: ['page.js'],
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  target: 'es2022',
  plugins: [wasmLoader(), nodeModulesPolyfillPlugin({ globals: { Buffer: true, process: true } })],
})
const { port } = await page.serve({
  servedir: '.',
  host: '127.0.0.1',
  port: Number(process.env.PORT ?? 8080),
})
console.log(`http://127.0.0.1:${port}/`)
