import { realpath, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { timeToSlot } from '@ratatosk/ledger'
import { readQueued, type StoredQueue } from '@ratatosk/queue'
import { readStored, type StoredLedger } from '@ratatosk/store'
import { createFolder } from '../backup/manifest.js'
import { BackupError, isStartError } from '../errors.js'
import { networkOf } from '../network/network.js'
import type { Settings } from '../settings/schema.js'
import { placeOf, versionOf } from '../storage/check-stored.js'
import { takeDataDirectory } from '../storage/data-directory.js'
import { queueSchema } from '../storage/open-storage.js'
import { isEmbeddedStore, readEmbedded } from '../storage/stored-ledger.js'
import {
  type ExportedOutputs,
  type ExportedTransactions,
  exportedNames,
  exportOutputs,
  exportTransactions,
} from './export-ledger.js'

/** What a new deployment begins with, and what stays behind. */
export interface Migration {
  /** The store, for people; without credentials. */
  readonly from: string
  /** Of the newest block; absent without blocks. */
  readonly blockVersion?: string
  /** Of the deployment; absent if it was not recorded. */
  readonly ledgerVersion?: number
  /** Height of the block after which the outputs were unspent; 0 for the genesis. */
  readonly confirmedHeight: string
  readonly outputs: ExportedOutputs
  readonly transactions: ExportedTransactions
  /** Transactions that the queue lists but has lost. */
  readonly missing: number
  /** Dead letters that stay behind. */
  readonly deadLetters: number
}

/**
 * Exports what a new deployment needs from the store and the queue of one that is stopped, of this version or
 * an earlier one: the confirmed outputs as a genesis file, and the transactions that are not confirmed.
 * Changes nothing in the store and the queue.
 *
 * @param folder is new or empty, and gets both files
 * @throws BackupError, or StartError `NODE_DATA_DIR` while a node uses the data directory
 *
 * @example
 * const { outputs } = await migrate(readSettings({ DATA_DIR: '/var/lib/ratatosk' }), '/var/lib/migrated')
 */
export async function migrate(settings: Settings, folder: string): Promise<Migration> {
  const { DATABASE_URL: url, DATABASE_SCHEMA: schema } = settings
  const target = resolve(folder)
  if (url === undefined) return migrateEmbedded(settings, target)
  await createFolder(target)
  return emptiedOnFailure(target, () =>
    readStored({ url, schema }, (stored) => exportTo(target, settings, stored)),
  )
}

async function migrateEmbedded(settings: Settings, target: string): Promise<Migration> {
  const { DATA_DIR, DATABASE_SCHEMA: schema } = settings
  const directory = resolve(DATA_DIR)
  const store = join(directory, 'store')
  if (!(await isEmbeddedStore(store))) throw new BackupError(`DATA_DIR is "${DATA_DIR}": it has no store.`)
  if (`${await realPlace(target)}/`.startsWith(`${await realpath(directory)}/`))
    throw new BackupError(`The folder "${target}" is in DATA_DIR: name one outside.`)
  const { release } = await takeDataDirectory(directory, { waitMs: 0, refuseForeign: true, isRead: true })
  try {
    await createFolder(target)
    return await emptiedOnFailure(target, () =>
      readEmbedded(store, schema, join(target, 'store.copy'), (stored) => exportTo(target, settings, stored)),
    )
  } finally {
    await release()
  }
}

/** Without links; of a path that need not exist. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    return dirname(path) === path ? path : join(await realPlace(dirname(path)), basename(path))
  }
}

async function exportTo(
  target: string,
  settings: Settings,
  stored: StoredLedger | undefined,
): Promise<Migration> {
  const place = placeOf(settings)
  if (stored === undefined) throw new BackupError(`There is no ledger in ${place}.`)
  const { newest, ledgerVersion } = stored
  const users = await stored.users()
  if (users.length > 0)
    throw new BackupError(
      `Processes use ${place}: ${users.slice(0, 5).join(', ')}. Stop every process of the deployment. The ` +
        'leases of one that was killed expire within a minute.',
    )
  const slot = timeToSlot(networkOf(settings.NETWORK).slots, BigInt(Date.now()))
  let missing = 0
  const queued = readQueued(queueOf(settings, stored), (transactions) => {
    missing += transactions
  })
  // What is accepted comes before what may conflict with it.
  const parts = [stored.accepted(), stored.takenOut(), queued]
  const transactions = await exportTransactions(target, parts, slot)
  const outputs = await exportOutputs(target, stored.confirmedOutputs())
  if (outputs.count === 0 && transactions.count === 0)
    throw new BackupError(`The ledger in ${place} is empty: begin anew without it.`)
  return {
    from: place,
    ...(newest && { blockVersion: versionOf(newest.header) }),
    ...(ledgerVersion !== undefined && { ledgerVersion }),
    confirmedHeight: String(await stored.confirmedHeight()),
    outputs,
    transactions,
    missing,
    deadLetters: await stored.deadLetters(),
  }
}

function queueOf(settings: Settings, { database: { run } }: StoredLedger): StoredQueue {
  const { REDIS_URL: url, QUEUE_PREFIX: prefix } = settings
  return url === undefined
    ? { kind: 'tables', schema: queueSchema(settings), run }
    : { kind: 'redis', url, prefix }
}

/** Leaves nothing in the folder if the work fails. @throws BackupError */
async function emptiedOnFailure<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    for (const name of exportedNames) await rm(join(folder, name), { force: true })
    if (cause instanceof BackupError || isStartError(cause) || !(cause instanceof Error)) throw cause
    throw new BackupError(`Nothing was exported to "${folder}": ${cause.message}`, { cause })
  }
}
