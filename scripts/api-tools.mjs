// Tools for descriptions of APIs, with pinned versions. They bring more packages than the project has, so
// they are installed into a temporary folder, which needs the registry.
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const tools = { redocly: '@redocly/cli@2.77.0', spectral: '@stoplight/spectral-cli@6.16.3' }

/**
 * Installs tools for as long as `use` takes. It gets a function that runs one of them in their folder, where
 * it can write files.
 *
 * @param {(keyof typeof tools)[]} names
 * @param {(run: (name: string, ...parameters: string[]) => Promise<{ status: number, stdout: string, stderr:
 *   string }>, folder: string) => Promise<void>} use
 */
export async function withApiTools(names, use) {
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-api-tools-'))
  try {
    await writeFile(join(folder, 'package.json'), '{"private":true}')
    const packages = names.map((name) => tools[name])
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const { status, stderr } = await run(folder, 'npm', ['install', ...flags, ...packages])
    if (status !== 0) throw new Error(`${packages.join(' and ')} cannot be installed: ${stderr}`)
    await use(
      (name, ...parameters) => run(folder, join(folder, 'node_modules/.bin', name), parameters),
      folder,
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function run(cwd, command, parameters) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, parameters, {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        NO_COLOR: '1',
        REDOCLY_TELEMETRY: 'off',
        REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      },
    })
    const output = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr']) {
      child[name].setEncoding('utf8').on('data', (text) => {
        output[name] += text
      })
    }
    child.on('error', reject)
    child.on('close', (code) => resolve({ status: code ?? 1, ...output }))
  })
}
