import { setTimeout as sleep } from 'node:timers/promises'
import { inSchema, quoteSchema, type SharedDriver } from '@ratatosk/database'
import { IndexError } from './errors.js'
import { openQueries } from './queries.js'
import { shareReads } from './share-reads.js'
import { readProgress } from './tables.js'
import type { IndexSource, LedgerIndex, Progress } from './types.js'

/** A replica of the database of an index and its source. */
export interface IndexReplica {
  readonly database: SharedDriver
  /** Schema of the index. */
  readonly schema: string
  /** The ledger as the replica shows it. */
  readonly source: IndexSource
  /** How long `caughtUp` waits, in milliseconds. Default 10,000. */
  readonly waitMs?: number
}

const pollMs = 10
/** SQLSTATE of a table or schema that does not exist. */
const missing: readonly unknown[] = ['42P01', '3F000']

/**
 * An index whose reads come from a replica. `caughtUp` resolves when the replica's index has everything that
 * the replica's ledger had: a replica that is behind shows the past, but one past in all reads.
 */
export function readByReplica(index: LedgerIndex, replica: IndexReplica): LedgerIndex {
  const { source, waitMs = 10_000 } = replica
  const database = inSchema(replica.database, quoteSchema(replica.schema))
  let known = 0n

  async function progress(): Promise<Progress> {
    try {
      const now = await readProgress(database)
      known = now.sequence
      return now
    } catch (error) {
      if (!(error instanceof Error && 'sqlState' in error && missing.includes(error.sqlState))) throw error
      throw new IndexError('INDEX_BEHIND', 'The replica does not have the index yet: try again later')
    }
  }

  async function hasAll(): Promise<boolean> {
    const { sequence, dropNumber, genesis } = await progress()
    const [accepted, dropped, outputs] = await Promise.all([
      source.accepted(sequence, 1),
      source.dropped(dropNumber, 1),
      genesis ? undefined : source.genesisOutputs(),
    ])
    return accepted.length === 0 && dropped.length === 0 && outputs === undefined
  }

  const catchUp = shareReads(async () => {
    if (await hasAll()) return
    await index.caughtUp()
    const wanted = await index.progress()
    for (const deadline = performance.now() + waitMs; performance.now() < deadline; ) {
      const now = await progress()
      if (now.sequence >= wanted.sequence && now.dropNumber >= wanted.dropNumber) return
      await sleep(pollMs)
    }
    throw new IndexError('INDEX_BEHIND', `The index of the replica is behind, at ${known}: try again later`)
  })

  return {
    ...index,
    ...openQueries(database),
    progress,
    async caughtUp(sequence) {
      if (sequence === undefined || known < sequence) await catchUp('')
    },
  }
}
