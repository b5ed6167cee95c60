// Lints docs/openapi.json with redocly (recommended) and spectral (spectral:oas): neither may report anything. Needs the registry: the tools are installed
// into a temporary folder, because they bring more packages than the project has.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './prepare.mjs'

const tools = ['@redocly/cli@2.77.0', '@stoplight/spectral-cli@6.16.3']
const document = join(root, 'docs/openapi.json')
const folder = mkdtempSync(join(tmpdir(), 'ratatosk-lint-'))
const run = (command, parameters) =>
  spawnSync(command, parameters, { cwd: folder, encoding: 'utf8', shell: false })

try {
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  writeFileSync(join(folder, '.spectral.json'), '{"extends":["spectral:oas"]}')
  const installed = run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...tools])
  if (installed.status !== 0) throw new Error(`The linters cannot be installed: ${installed.stderr}`)
  const bin = (name) => join(folder, 'node_modules/.bin', name)
  const reports = [
    ['redocly', run(bin('redocly'), ['lint', '--extends', 'recommended', '--format', 'json', document])],
    [
      'spectral',
      run(bin('spectral'), [
        'lint',
        '--ruleset',
        '.spectral.json',
        '--fail-severity',
        'hint',
        '-f',
        'json',
        document,
      ]),
    ],
  ].map(([name, { stdout, stderr, status }]) => {
    const start = stdout.search(/[[{]/)
    const parsed =
      start < 0
        ? undefined
        : JSON.parse(stdout.slice(start).replace(/\][^\]}]*$/, (end) => (end.startsWith(']') ? ']' : end)))
    const findings = Array.isArray(parsed) ? parsed : parsed?.problems
    return { name, status, findings, output: stdout + stderr }
  })
  for (const { name, status, findings, output } of reports) {
    if (status === 0 && findings?.length === 0) console.log(`${name}: nothing to report`)
    else {
      console.error(`${name}:\n${output}`)
      process.exitCode = 1
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
