import { isStoreError, type StoredOptions, separateCopy } from '@ratatosk/store'
import { BackupError } from '../errors.js'
import { separation } from '../storage/queue-ledger.js'
import type { Manifest } from './manifest.js'

/** Whether a backup has the tables of a ledger. */
export function hasLedger({ rows }: Pick<Manifest, 'rows'>, schema: string): boolean {
  return rows[`${schema}.deployment`] !== undefined
}

/** Makes what was restored a ledger of its own. @throws BackupError */
export async function separate(at: StoredOptions, manifest: Manifest): Promise<void> {
  if (!hasLedger(manifest, at.schema)) return
  try {
    await separateCopy(at)
  } catch (cause) {
    if (!isStoreError(cause)) throw cause
    throw new BackupError(
      `The copy still has the queue of the original: ${cause.message}. Run ${separation(at.schema)} in it, ` +
        'or restore again.',
      { cause },
    )
  }
}
