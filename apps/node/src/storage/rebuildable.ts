import { mkdir, rename, rm } from 'node:fs/promises'
import type { Logger } from 'pino'

/** Opens a rebuildable folder. A damaged one is moved aside, replacing the last, and opened anew. */
export async function openRebuildable<Opened>(
  path: string,
  open: (path: string) => Promise<Opened>,
  log: Logger,
): Promise<Opened> {
  // Where PostgreSQL runs as another user, others can pass through the folder above.
  await mkdir(path, { mode: 0o700 }).catch(() => undefined)
  try {
    return await open(path)
  } catch (err) {
    if (!isDamage(err)) throw err
    const movedTo = `${path}.damaged`
    await rm(movedTo, { recursive: true, force: true })
    await rename(path, movedTo)
    log.warn({ err, path, movedTo }, 'Data that can be rebuilt are damaged: moved aside, and rebuilt')
    return open(path)
  }
}

/** Codes of folders that are damaged or hold something else, of the roots and of the follower's state. */
const damage: readonly unknown[] = ['ROOTS_STORE_CORRUPT', 'TRIE_STORE_CORRUPT']

function isDamage(error: unknown): boolean {
  return error instanceof Error && 'code' in error && damage.includes(error.code)
}
