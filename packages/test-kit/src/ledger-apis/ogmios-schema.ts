import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/** A message from the wire, with the member of `Ogmios` in `@cardano-ogmios/schema` that it must match. */
export interface SchemaCase {
  readonly type: string
  readonly json: string
}

const header = `import type { Ogmios } from '@cardano-ogmios/schema'
// On the wire every quantity is a number; the schema declares what the client converts it to.
type Wire<T> = T extends bigint ? number : T extends object ? { [K in keyof T]: Wire<T[K]> } : T
`

/** The compiler's errors for messages against Ogmios's schema, published as types; empty if all match. */
export async function checkAgainstSchema(cases: readonly SchemaCase[]): Promise<string> {
  const here = dirname(fileURLToPath(import.meta.url))
  const folder = await mkdtemp(join(here, 'schema-'))
  try {
    const lines = cases.map(({ type, json }, i) => `export const m${i}: Wire<Ogmios['${type}']> = ${json}`)
    await writeFile(join(folder, 'messages.ts'), `${header}${lines.join('\n')}\n`)
    const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', skipLibCheck: true, types: [] }
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['messages.ts'] }),
    )
    await promisify(execFile)(await compiler(), ['-p', folder])
    return ''
  } catch (error) {
    if (error instanceof Error && 'stdout' in error && error.stdout !== '') return String(error.stdout)
    throw error
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The native compiler: its JavaScript wrapper does not load under tap's hooks. */
async function compiler(): Promise<string> {
  const root = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
  const { default: getExePath } = await import(pathToFileURL(join(root, 'lib', 'getExePath.js')).href)
  return getExePath()
}
