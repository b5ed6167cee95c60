// Bundles the compiled pages with their dependencies: the installed package has none of them.
import { copyFile, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const path = (name) => fileURLToPath(new URL(name, import.meta.url))

// The plugin serves every file of the folder.
await rm(path('bundle'), { recursive: true, force: true })
await build({
  bundle: true,
  splitting: true,
  platform: 'browser',
  target: 'es2023',
  minify: true,
  logLevel: 'warning',
  entryPoints: [
    { in: path('dist/console/browser/main.js'), out: 'console' },
    { in: path('src/console/browser/console.css'), out: 'console' },
  ],
  format: 'esm',
  outdir: path('bundle'),
})
for (const name of ['index.html', 'icon.svg'])
  await copyFile(path(`src/console/browser/${name}`), path(`bundle/${name}`))
