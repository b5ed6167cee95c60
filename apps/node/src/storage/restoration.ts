import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../errors.js'

/** Where a restoration writes; it is renamed to the store as its last step. */
export function restorationFolder(directory: string): string {
  return join(directory, 'restoration')
}

/** Keeps a node from a new ledger beside an unfinished restoration. @throws StartError `NODE_DATA_DIR` */
export async function refuseUnfinishedRestoration(directory: string): Promise<void> {
  const folder = restorationFolder(directory)
  if (!(await stat(folder).catch(() => undefined))) return
  throw new StartError(
    'NODE_DATA_DIR',
    `"${folder}" is of a restoration that did not end. Run \`ratatosk restore\` again, which replaces it, ` +
      'or remove it to begin a new ledger.',
  )
}
