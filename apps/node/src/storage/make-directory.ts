import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Creates a directory and those above it. Node's `recursive` tries without end where the system says that a
 * directory above is missing although it is there, as below `/proc`.
 *
 * @throws (rejects) with the error of the system
 */
export async function makeDirectory(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    if (error.code === 'EEXIST' && (await stat(path)).isDirectory()) return
    if (error.code !== 'ENOENT' || dirname(path) === path) throw error
    await makeDirectory(dirname(path), mode)
    await mkdir(path, { mode }).catch(async (again) => {
      // Another process was faster.
      if (!(await stat(path).catch(() => undefined))?.isDirectory()) throw again
    })
  }
}
