// The static checks. Each is a program that prints its faults and exits with 1.
import { once } from 'node:events'
import { root } from './prepare.mjs'
import { spawnMeasured } from './processor-time.mjs'

const checks = [
  ['format and lint', 'node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings'],
  ['direction of the dependencies', 'scripts/check-arrows.mjs'],
  [
    'unused files, exports and dependencies',
    'node_modules/knip/bin/knip.js',
    '--no-progress',
    '--no-config-hints',
  ],
  ['generated documents', 'scripts/write-docs.mjs', '--check'],
  ['generated types of the client', 'scripts/write-client-types.mjs', '--check'],
  ['words of documents and comments', 'scripts/check-words.mjs'],
  ['links of documents', 'scripts/check-links.mjs'],
  ['names in documents', 'scripts/check-names.mjs'],
  ['code blocks of documents', 'scripts/check-readmes.mjs'],
  ['lengths of files and lines', 'scripts/check-lengths.mjs'],
  ['versions of packages and changelog', 'scripts/check-release.mjs'],
]

/** Takes as long as half of the others. */
const dear = [['published packages', 'scripts/check-tarballs.mjs']]

/** Runs the checks in order, all if `full`; `report` gets each result: its failures and processor seconds. */
export async function runChecks(full, report) {
  const results = new Map()
  for (const [name, ...args] of full ? [...checks, ...dear] : checks) {
    const result = await runCheck(args)
    results.set(name, result)
    report(name, result)
  }
  return results
}

async function runCheck(args) {
  const { FORCE_COLOR, ...environment } = process.env
  const env = { ...environment, NO_COLOR: '1' }
  const { child, seconds } = spawnMeasured(args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => output.push(data))
  const [code] = await once(child, 'close')
  const failures = code === 0 ? [] : [`ended with exit code ${code}`]
  return { passed: 0, skipped: 0, failures, seconds: seconds(), output: Buffer.concat(output).toString() }
}
