// Records what an SDK did, for docs/compatibility.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const file = fileURLToPath(new URL('../docs/compatibility.json', import.meta.url))

/**
 * Replaces the results of an example in docs/compatibility.json, if RATATOSK_RECORD=1.
 *
 * @param {string} name folder of the example
 * @param {string} folder where it is installed
 * @param {{ provider: string, layers: string[], steps: string[], without: string[], passed: boolean }[]} runs
 */
export function record(name, folder, runs) {
  if (process.env.RATATOSK_RECORD !== '1') return
  const read = (path) => JSON.parse(readFileSync(path, 'utf8'))
  const { packages } = read(join(folder, 'package-lock.json'))
  // The others are libraries that the example itself uses.
  const sdk = Object.keys(packages[''].dependencies).filter((each) => each.startsWith('@'))
  const versions = Object.fromEntries(sdk.map((each) => [each, packages[`node_modules/${each}`].version]))
  const results = { ...read(file), [name]: { versions, runs } }
  const sorted = Object.entries(results).sort(([one], [other]) => (one < other ? -1 : 1))
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
}
