import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The paths of all files below a folder whose name matches, without installed, built and hidden ones. */
export function filesBelow(folder, pattern) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (/^(?:node_modules|dist|bundle|\..*)$/.test(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesBelow(path, pattern)
    return pattern.test(entry.name) ? [path] : []
  })
}
