// npm run generate: installs, builds, and writes every generated file anew, each after what it is made from.
import { prepare, run } from './prepare.mjs'

const generators = [
  'packages/contracts/scripts/write-blueprint.mjs',
  'packages/contracts/scripts/write-verdict.mjs',
  'packages/contracts/scripts/write-tables.mjs',
  'scripts/write-openapi.mjs',
  'scripts/write-client-types.mjs',
  'scripts/write-docs.mjs',
]

prepare()
for (const generator of generators) {
  console.log(generator)
  const status = run(process.execPath, [generator], { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) process.exit(status)
}
// The client's types and the bundles are compiled from generated files.
prepare()
process.exit(run(process.execPath, ['node_modules/@biomejs/biome/bin/biome', 'format', '--write']))
