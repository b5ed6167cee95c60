// Compiles the validators without `case` on constants, which engines of others do not know, and runs the
// tests of the contracts by scalus and Aiken's engine too. Writes the published validators again at the end.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

function run(env, program, ...args) {
  const { status } = spawnSync(program, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error(`${[program, ...args].join(' ')} ended with ${status}`)
}

function compile(env) {
  for (const name of ['blueprint', 'verdict'])
    run(env, 'node', `packages/contracts/scripts/write-${name}.mjs`)
}

run({}, 'npx', 'tsc', '-b')
const asked = { RATATOSK_SECOND_OPINION: '1' }
try {
  compile(asked)
  // Others compare files with the published validators.
  const folders = ['validators', 'test'].map((name) => `packages/contracts/src/${name}/`)
  run(asked, 'npx', 'vitest', 'run', '--project', 'contracts', ...folders)
} finally {
  compile({})
}
