import { readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Reads a golden file of a package: JSON, checked in beside its sources.
 *
 * @param test `import.meta.url` of the compiled test, below `dist`
 * @param name the file's path below `src`
 */
export function golden<T>(test: string, name: string): T {
  const [root] = dirname(fileURLToPath(test)).split(`${sep}dist`)
  return JSON.parse(readFileSync(join(root ?? '', 'src', name), 'utf8'))
}
