import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const vectors = resolve(root, process.env.RATATOSK_VECTORS ?? '../shared/vectors')

/** Where a collection of test data lies; undefined where it is absent, which under CI is an error. */
export function vectorsFolder(name: string): string | undefined {
  const folder = resolve(vectors, name)
  if (existsSync(folder)) return folder
  if (process.env.CI) throw new Error(`the test data is missing: ${folder} (set RATATOSK_VECTORS)`)
  return undefined
}
