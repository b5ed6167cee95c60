import type { Settings } from '../settings/schema.js'
import { backUpEmbedded, restoreEmbedded } from './embedded.js'
import type { Manifest } from './manifest.js'
import { backUpPostgresql, restorePostgresql } from './postgresql.js'

export type { Manifest } from './manifest.js'

/**
 * Saves the store of a node to a new folder: the ledger, its history and blocks, the index, a queue in the
 * database, and a devnet. A node on an embedded store must be stopped; on PostgreSQL it may run. A queue in
 * Redis is not saved.
 *
 * @throws BackupError, or StartError `NODE_DATA_DIR` while a node uses the data directory
 *
 * @example
 * await backUp(readSettings(process.env), '/var/backups/ratatosk-1')
 */
export function backUp(settings: Settings, folder: string): Promise<Manifest> {
  const { DATABASE_URL } = settings
  return DATABASE_URL === undefined
    ? backUpEmbedded(settings, folder)
    : backUpPostgresql(settings, DATABASE_URL, folder)
}

/**
 * Restores a backup. Overwrites nothing. The ledger gets another id, so that a queue in Redis stays with the
 * original.
 *
 * @throws BackupError, or StartError `NODE_DATA_DIR` while a node uses the data directory
 *
 * @example
 * await restore(readSettings({ DATA_DIR: '/var/lib/ratatosk' }), '/var/backups/ratatosk-1')
 */
export function restore(settings: Settings, folder: string): Promise<Manifest> {
  const { DATABASE_URL } = settings
  return DATABASE_URL === undefined
    ? restoreEmbedded(settings, folder)
    : restorePostgresql(settings, DATABASE_URL, folder)
}
