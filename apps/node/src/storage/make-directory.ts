import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Creates a directory and those above it; returns the first new one. Node's `recursive` never ends where the
 * system reports an existing parent as missing, as below `/proc`.
 */
export async function makeDirectory(path: string, mode: number): Promise<string | undefined> {
  try {
    await mkdir(path, { mode })
    return path
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    if (error.code === 'EEXIST' && (await stat(path)).isDirectory()) return undefined
    if (error.code !== 'ENOENT' || dirname(path) === path) throw error
    const created = await makeDirectory(dirname(path), mode)
    try {
      await mkdir(path, { mode })
      return created ?? path
    } catch (again) {
      // Another process was faster.
      if (!(await stat(path).catch(() => undefined))?.isDirectory()) throw again
      return created
    }
  }
}
