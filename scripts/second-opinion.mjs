// Compiles the validators without `case` on constants, which engines of others do not know, and runs the
// tests of the contracts by scalus and Aiken's engine too. Writes the published validators again at the end.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const contracts = fileURLToPath(new URL('../packages/contracts/', import.meta.url))
const run = (env, program, ...args) => {
  const { status } = spawnSync(program, args, {
    cwd: contracts,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error(`${[program, ...args].join(' ')} ended with ${status}`)
}
const compile = (env) => {
  for (const name of ['blueprint', 'verdict']) run(env, 'node', `scripts/write-${name}.mjs`)
}

run({}, 'npx', 'tsc', '-b')
const asked = { RATATOSK_SECOND_OPINION: '1' }
try {
  compile(asked)
  // These compare files with the published validators, or measure them.
  const others = ['documented-rules', 'scripts.test', 'worst', 'money'].flatMap((name) => [
    '--exclude',
    `**/${name}*`,
  ])
  run(asked, 'npx', 'vitest', 'run', '--root', '../..', '--project', 'contracts', ...others)
} finally {
  compile({})
}
