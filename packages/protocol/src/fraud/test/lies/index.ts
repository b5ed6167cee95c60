import { chunkKey, encodeChunkRecord } from '@ratatosk/block'
import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import { blockOf, type Committed, framesOf, type Lie, type Story } from '../lying-blocks.js'
import { ledgerLies } from './ledger-lies.js'
import { signed } from './signed.js'
import { transactionLies } from './transaction-lies.js'
import { witnessLies } from './witness-lies.js'

/** A chunk as an operator states it. */
interface StatedChunk {
  readonly first: number
  readonly bytes: Uint8Array
  /** By default, how many there are. */
  readonly count?: number
}

/** Frames of three transactions; together they are one chunk. */
type Frames = readonly [Uint8Array, Uint8Array, Uint8Array]

function stated(story: Story, chunksOf: (frames: Frames) => readonly StatedChunk[]): Committed {
  const transactions = [...story.transactions, signed()]
  const chunks = chunksOf(transactions.map((each) => framesOf(each)) as unknown as Frames)
  const block = blockOf(transactions, {
    entries(map) {
      map.delete(toHex(chunkKey(0)))
      for (const [number, { first, bytes, count = chunks.length }] of chunks.entries()) {
        const record = { first, chunks: count, chunkHash: blake2b256(bytes) }
        map.set(toHex(chunkKey(number)), encodeChunkRecord(record))
      }
    },
  })
  return { ...block, chunks: chunks.map(({ bytes }) => bytes) }
}

const lie = (what: string, flaw: string, chunksOf: (frames: Frames) => readonly StatedChunk[]): Lie => ({
  what,
  policy: 'ledger',
  fraud: `wrongChunk: ${flaw}`,
  isHidden: true,
  tell: (story) => stated(story, chunksOf),
})

/** Lies about the chunks in which a block's transactions are asked for. */
const chunkLies: readonly Lie[] = [
  lie('that chunks are two and three', 'countsDiffer', ([one, two, three]) => [
    { first: 0, bytes: concatBytes(one, two), count: 2 },
    { first: 2, bytes: three, count: 3 },
  ]),
  lie('that a chunk is beyond the number of chunks', 'misplaced', ([one, two, three]) => [
    { first: 0, bytes: concatBytes(one, two, three), count: 1 },
    { first: 2, bytes: three, count: 1 },
  ]),
  lie('that there is a chunk more', 'missing', (frames) => [
    { first: 0, bytes: concatBytes(...frames), count: 2 },
  ]),
  lie('that a transaction is between chunks', 'nextElsewhere', ([one, , three]) => [
    { first: 0, bytes: one },
    { first: 2, bytes: three },
  ]),
  lie('that the last transaction is in no chunk', 'transactionsLeft', ([one, two]) => [
    { first: 0, bytes: concatBytes(one, two) },
  ]),
  lie('that a chunk has a transaction more', 'inventedTransaction', (frames) => [
    { first: 0, bytes: concatBytes(...frames, frames[2]) },
  ]),
  lie('that a chunk has another order', 'otherTransaction', ([one, two, three]) => [
    { first: 0, bytes: concatBytes(one, three, two) },
  ]),
  {
    what: 'that a transaction has failed',
    policy: 'ledger',
    fraud: 'wrongChunk: strangeRest',
    isHidden: false,
    tell: ({ transactions }) => blockOf([...transactions, signed({ rest: fromHex('f4f6') })]),
  },
  lie('that a byte follows the last frame', 'malformed', (frames) => [
    { first: 0, bytes: concatBytes(...frames, Uint8Array.of(0)) },
  ]),
  lie('that a chunk is full', 'tooShort', ([one, two, three]) => [
    { first: 0, bytes: one },
    { first: 1, bytes: concatBytes(two, three) },
  ]),
]

export type { Lie } from '../lying-blocks.js'
export { lostQuestions } from './ledger-lies.js'
export { outputsOfLies } from './witness-lies.js'

/** A lie for every fraud of every verdict policy, each in an otherwise honest block. */
export const lies: readonly Lie[] = [...ledgerLies, ...chunkLies, ...transactionLies, ...witnessLies]

export function lieOf(fraud: string): Lie {
  const lie = lies.find((each) => each.fraud === fraud)
  if (lie === undefined) throw new RangeError(`There is no lie of the fraud ${fraud}`)
  return lie
}

export const ofLie = (fraud: string, story: Story): Committed => lieOf(fraud).tell(story)

/** A block whose proof needs a datum of its own. */
export const largeLie = ({ transactions, large }: Story): Committed => blockOf([...transactions, large])
