// npm run generate: installs, builds, and writes every generated file anew, each after what it is made from.
import { prepare, root } from './prepare.mjs'
import { run } from './steps.mjs'

const generators = [
  'packages/contracts/scripts/write-blueprint.mjs',
  'packages/contracts/scripts/write-verdict.mjs',
  'packages/contracts/scripts/write-tables.mjs',
  'scripts/write-openapi.mjs',
  'scripts/write-client-types.mjs',
  'scripts/write-docs.mjs',
]

await prepare()
for (const generator of generators) {
  console.log(generator)
  const status = await run(process.execPath, [generator], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (status !== 0) process.exit(status)
}
// The client's types and the bundles are compiled from generated files.
await prepare()
const format = ['node_modules/@biomejs/biome/bin/biome', 'format', '--write']
process.exit(await run(process.execPath, format, { cwd: root }))
