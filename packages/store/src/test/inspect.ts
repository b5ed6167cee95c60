import type { EventFilter, EventPosition, LedgerEvent } from '@ratatosk/ports'
import { expect } from 'vitest'
import type { Store } from '../store.js'
import type { TestStore } from './backends.js'
import { hex } from './samples.js'

const start: EventPosition = { accepted: 0n, rejected: 0n, block: 0n, verdict: 0n }

interface Reading {
  readonly after?: EventPosition
  readonly filter?: EventFilter
  /** Events of each kind in a page. */
  readonly limit?: number
}

/** The events since a position, page by page. */
export async function readEvents(
  { events }: Store,
  { after = start, filter = {}, limit = 1_000 }: Reading = {},
): Promise<LedgerEvent[]> {
  const to = await events.head()
  const found: LedgerEvent[] = []
  for (let position = after; ; ) {
    const page = await events.read({ after: position, to, filter, limit })
    found.push(...page.events)
    if (same(page.position, position)) return found
    position = page.position
  }
}

export const acceptedIn = (events: readonly LedgerEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'accepted' ? hex(event.transactionId) : []))

/** A client of the event log that resumes from the last event that it has. */
class EventReader {
  /** How often each transaction was reported as accepted, by hex id. */
  readonly told = new Map<string, number>()
  #position = start
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  async resume(store: Store): Promise<void> {
    const events = await readEvents(store, { after: this.#position, limit: this.#limit })
    for (const id of acceptedIn(events)) this.told.set(id, (this.told.get(id) ?? 0) + 1)
    this.#position = events.at(-1)?.position ?? this.#position
  }
}

type Accepted = readonly { readonly id: Uint8Array }[]

/** Clients, of which one reads after each step and others now and then, and a count as in the explorer. */
export function followEvents(store: Store) {
  const readers = [1, 3, 7].map((every) => ({ every, reader: new EventReader(1 + every) }))
  const everAccepted = new Set<string>()
  let [counted, after] = [0, 0n]

  async function follow(number: number, accepted: Accepted): Promise<void> {
    for (const { id } of accepted) everAccepted.add(hex(id))
    for (const { every, reader } of readers) if (number % every === 0) await reader.resume(store)
    const { accepted: head } = await store.events.head()
    const { minutes, last } = await store.explorer.accepted(after, head, 1_000)
    counted += minutes.reduce((sum, { transactions }) => sum + transactions, 0)
    after = last ?? after
  }

  return {
    follow,
    async expectOnce(accepted: Accepted): Promise<void> {
      await follow(0, accepted)
      const once = (ids: Iterable<string>) => new Map(Array.from(ids, (id) => [id, 1]))
      expect(readers[0]?.reader.told).toEqual(once(everAccepted))
      expect(counted).toBe(everAccepted.size)
      for (const { reader } of readers) {
        expect(reader.told).toEqual(once(reader.told.keys()))
        for (const { id } of accepted) expect(reader.told.has(hex(id))).toBe(true)
      }
    },
  }
}

const same = (one: EventPosition, other: EventPosition): boolean =>
  (['accepted', 'rejected', 'block', 'verdict'] as const).every((kind) => one[kind] === other[kind])

const tables = [
  'mempool_transactions',
  'mempool_ledger',
  'deposits',
  'spent_outputs',
  'blocks',
  'block_transactions',
  'address_history',
  'resubmissions',
  'rejections',
  'genesis',
] as const

/** Every row of the tables that blocks change, to see that nothing has changed. */
export async function dump({ database, schema }: TestStore): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const table of tables) {
    const rows = await database.query<{ row: string }>(
      `SELECT to_json(t)::text AS row FROM ${schema}.${table} AS t ORDER BY 1`,
    )
    found[table] = rows.map(({ row }) => row)
  }
  return found
}

/** How many rows have an accept sequence that is not their transaction's. */
export async function countStrays({ database, schema }: TestStore): Promise<number> {
  const [strays] = await database.query<{ count: number }>(
    `WITH accepted AS (
      SELECT sequence, transaction_id FROM ${schema}.mempool_transactions
      UNION ALL SELECT sequence, transaction_id FROM ${schema}.block_transactions
    ), made AS (
      SELECT sequence, transaction_id FROM ${schema}.mempool_ledger
      UNION ALL SELECT sequence, transaction_id FROM ${schema}.spent_outputs
    )
    SELECT (
      SELECT count(*) FROM made JOIN accepted USING (transaction_id) WHERE made.sequence <> accepted.sequence
    )::integer + (
      SELECT count(*) FROM ${schema}.spent_outputs
      WHERE spent_by NOT IN (SELECT sequence FROM accepted)
    )::integer + (
      SELECT count(*) FROM ${schema}.address_history
      WHERE sequence NOT IN (SELECT sequence FROM accepted)
    )::integer AS count`,
  )
  return strays?.count ?? Number.NaN
}

/** The usage that is kept up to date equals the usage counted from all rows. */
export async function expectExactUsage({ database, schema, store }: TestStore): Promise<void> {
  const [counted] = await database.query<{ cborBytes: bigint; reasonBytes: bigint }>(
    `SELECT
      (SELECT COALESCE(sum(octet_length(cbor)), 0)::bigint FROM ${schema}.rejections) AS "cborBytes",
      (SELECT COALESCE(sum(200 + octet_length(code) + octet_length(message) + octet_length(details::text)), 0)
        FROM ${schema}.rejections)::bigint
        + (SELECT COALESCE(sum(150 + octet_length(submission_id)), 0)
          FROM ${schema}.rejected_submissions)::bigint
        AS "reasonBytes"`,
  )
  expect(await store.rejections.usage()).toEqual({
    cborBytes: Number(counted!.cborBytes),
    reasonBytes: Number(counted!.reasonBytes),
  })
}
