// Installs tarballs into an empty project with each package manager.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { installTool, packageManager } from '../prepare.mjs'

const quiet = ['--no-audit', '--no-fund', '--loglevel=error']

/** How each names the tarballs that replace packages of the registry, and how it is called. */
const managers = {
  npm: {
    overrides: (others) => ({ overrides: others }),
    command: async () => ['npm', 'install', ...quiet],
  },
  pnpm: {
    overrides: (others) => ({ pnpm: { overrides: others } }),
    command: async () => [
      process.execPath,
      ...[await packageManager(), 'install', '--ignore-workspace', '--prefer-offline'],
    ],
  },
  yarn: {
    // It resolves what no package needs, too, and does not install it.
    overrides: (others, dependencies) => ({ resolutions: { ...others, ...dependencies } }),
    // It judges the engines of what it does not install, too. Its cache would serve the tarballs of an
    // earlier run, which have the same versions.
    command: async (project) => [
      process.execPath,
      ...[join(await installTool('yarn'), 'bin/yarn.js'), 'install', '--ignore-engines', '--no-lockfile'],
      ...['--non-interactive', '--cache-folder', join(dirname(project), 'yarn-cache')],
    ],
  },
}

export const packageManagers = Object.keys(managers)

/**
 * Writes the manifest of a project.
 *
 * @param {Record<string, string>} dependencies tarballs, by package name
 * @param {Record<string, string>} others tarballs of what they depend on
 * @returns {Promise<() => import('node:child_process').SpawnSyncReturns<string>>} installs it
 */
export async function prepareProject(manager, project, dependencies, others) {
  const { overrides, command } = managers[manager]
  const manifest = { private: true, dependencies, ...overrides(others, dependencies) }
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
  const [program, ...args] = await command(project)
  return () => spawnSync(program, args, { cwd: project, encoding: 'utf8' })
}
