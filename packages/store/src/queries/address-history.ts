import {
  bool,
  bounded,
  bytea,
  type Database,
  int8,
  keysetPages,
  maxPageRows,
  queryInIndexOrder,
  schema,
  sql,
  statement,
  toHex,
} from '@ratatosk/database'
import { LRUCache } from 'lru-cache'
import { StoreError } from '../errors.js'
import { addressHistory } from '../schema/tables.js'
import type { Page } from '../store.js'

/** Entries between two marks: the most that a page skips. */
const stride = 1_000

/** Marks that one statement finds at most. */
const marksPerStatement = 10

const historyPage = statement(
  { sequence: int8, cbor: bytea, complete: bool },
  sql`SELECT sequence, cbor, complete FROM (${bounded(
    sql`SELECT sequence, COALESCE(mempool.cbor, block.cbor) AS cbor
    FROM (
      SELECT sequence FROM ${schema}.address_history
      WHERE address = $1 AND sequence > $2 ORDER BY sequence OFFSET $3 LIMIT $4
    ) AS entry
    LEFT JOIN ${schema}.mempool_transactions AS mempool USING (sequence)
    LEFT JOIN ${schema}.block_transactions AS block USING (sequence)`,
    'sequence',
    'cbor',
    '$4',
  )}) AS page ORDER BY sequence`,
)

const entry = { sequence: addressHistory.sequence }
const newestDrop = statement(
  { number: int8 },
  sql`SELECT COALESCE(max(number), 0) AS number FROM ${schema}.dropped_transactions`,
)
const marksAfter = statement(
  entry,
  sql`SELECT sequence FROM (
    SELECT sequence, row_number() OVER (ORDER BY sequence) AS place
    FROM (
      SELECT sequence FROM ${schema}.address_history
      WHERE address = $1 AND sequence > $2 ORDER BY sequence LIMIT ${marksPerStatement * stride}
    ) AS entry
  ) AS counted
  WHERE place % ${stride} = 0 ORDER BY sequence`,
)

/** Where a deep page starts: after this sequence, and then so many entries further. */
interface Start {
  readonly after: bigint
  readonly skip: number
}

/** The sequence of every {@link stride}th entry of an address, as far as they are known. */
interface Marks {
  /** The newest undoing of accepted transactions at the time: it may have shortened the history. */
  readonly drop: bigint
  readonly sequences: bigint[]
}

/** CBOR of the transactions of an address; see `Store.historyPages`. */
type HistoryPages = (address: Uint8Array, page: Page) => AsyncGenerator<readonly Uint8Array[], void>

/** Remembers where deep pages start, so that the cost of a page does not grow with its offset for long. */
export function openHistory(database: Database): HistoryPages {
  const known = new LRUCache<string, Marks>({ max: 1_000 })

  /** A history grows at its end, so a mark stays valid until transactions are undone. */
  async function marksOf(address: Uint8Array): Promise<Marks> {
    const [newest] = await database.query(newestDrop)
    const drop = newest?.number ?? 0n
    const key = toHex(address)
    const marks = known.get(key)
    if (marks?.drop === drop) return marks
    const none = { drop, sequences: [] }
    known.set(key, none)
    return none
  }

  /** `undefined`: the history is shorter. */
  async function startOf(address: Uint8Array, offset: number): Promise<Start | undefined> {
    if (offset < stride) return { after: -1n, skip: offset }
    const { sequences } = await marksOf(address)
    const wanted = Math.floor(offset / stride)
    while (sequences.length < wanted) {
      const known = sequences.length
      const found = await queryInIndexOrder(database, marksAfter, [address, sequences[known - 1] ?? -1n])
      // Another reader may have found the same meanwhile.
      found.forEach(({ sequence }, n) => {
        sequences[known + n] = sequence
      })
      if (found.length < marksPerStatement && sequences.length < wanted) return undefined
    }
    return { after: sequences[wanted - 1] ?? -1n, skip: offset % stride }
  }

  return async function* historyPages(address, { limit, offset }) {
    if (!isCount(limit) || !isCount(offset)) {
      throw new StoreError('STORE_INVALID_ARGUMENT', 'Limit and offset must be whole numbers from 0')
    }
    const start = limit === 0 ? undefined : await startOf(address, offset)
    if (start === undefined) return
    let left = limit
    const read = async (last: { readonly sequence: bigint } | undefined) => {
      const { after, skip } = last === undefined ? start : { after: last.sequence, skip: 0 }
      const key = [address, after, skip, Math.min(left, maxPageRows)]
      const page = await queryInIndexOrder(database, historyPage, key)
      left -= page.length
      return page
    }
    for await (const page of keysetPages(read, (page) => left === 0 || page.at(-1)?.complete === true)) {
      yield page.map(({ cbor }) => cbor)
    }
  }
}

function isCount(number: number): boolean {
  return Number.isSafeInteger(number) && number >= 0
}
