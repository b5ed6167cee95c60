import { chunkKey, encodeChunkRecord, partsOf } from '@ratatosk/block'
import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import { type LedgerFraudProof, openChunk, openRecord } from '@ratatosk/protocol/fraud'
import { chunksOf } from '../../../../../protocol/dist/fraud/test/lying-blocks.js'
import {
  blockOf,
  coin0,
  coin1,
  coin3,
  coin4,
  draft,
  type Entries,
  eight,
  first,
  hexOfPosition,
  honestBlock as honest,
  outputsBefore,
  patch,
  payment,
  story,
} from '../blocks.js'
import { list, outputWith, string, uint } from '../transaction/transactions.js'
import type { PolicyBreach } from '../without-rules.js'
import {
  countsDiffer,
  inventedTransaction,
  type LedgerLie,
  malformed,
  misplaced,
  missing,
  nextElsewhere,
  ofFlaw,
  otherTransaction,
  shown,
  strangeEntry,
  strangeRest,
  tooLong,
  tooShort,
  transactionsLeft,
  wrongLength,
} from './statements.js'

/** Three honest transactions, each a chunk of its own, because two are longer than a chunk. */
const longStory = [coin0, coin1, coin3].map(
  (coin) =>
    draft({ inputs: [coin], outputs: Array.from({ length: 200 }, () => payment(7, 9_999n)), fee: 5n }).cbor,
)
const longBlock = blockOf(longStory, outputsBefore())

/** Metadata that are too long for a chunk with any other: strings of 64 bytes between two others. */
const metadata = (first: number, between: number, last: number) =>
  concatBytes(
    Uint8Array.of(0xa1, 0x00, 0x98, between + 2),
    ...[first, ...Array.from({ length: between }, () => 64), last].map((length) =>
      concatBytes(Uint8Array.of(0x58, length), new Uint8Array(length)),
    ),
  )
const annotatedBy = (auxiliaryData: Uint8Array) =>
  draft({ inputs: [coin4], outputs: [payment(66, 4_999_999n)], fee: 1n, auxiliaryData })

const auxiliaryData = metadata(64, 185, 64)
const annotated = annotatedBy(auxiliaryData)
const annotatedBlock = blockOf([first.cbor, annotated.cbor], outputsBefore())

/** A block with a transaction of a length from 16,350 to 16,430 bytes. */
function annotatedTo(length: number) {
  const less = annotatedBy(metadata(64, 245, 64)).cbor.length - length
  const { cbor } = annotatedBy(metadata(64 - Math.min(less, 40), 245, 64 - Math.max(0, less - 40)))
  if (cbor.length !== length) throw new RangeError(`The transaction has ${cbor.length} bytes`)
  return blockOf([first.cbor, cbor], outputsBefore())
}

/** A chunk as an operator states it. */
interface Told {
  readonly first: number
  readonly bytes: Uint8Array
  readonly count?: number
}

function chunksTold(told: readonly Told[], transactions: readonly Uint8Array[] = story) {
  const entries = (map: Entries) => {
    for (const [number] of chunksOf(transactions).entries()) map.delete(toHex(chunkKey(number)))
    for (const [number, { first: position, bytes, count = told.length }] of told.entries()) {
      const record = { first: position, chunks: count, chunkHash: blake2b256(bytes) }
      map.set(toHex(chunkKey(number)), encodeChunkRecord(record))
    }
  }
  return blockOf(transactions, outputsBefore(), { entries, chunks: told.map(({ bytes }) => bytes) })
}

const lie = (
  what: string,
  prove: LedgerLie['prove'],
  told: readonly Told[],
  transactions?: readonly Uint8Array[],
): LedgerLie => ({ what, block: chunksTold(told, transactions), prove, hasTwin: transactions === undefined })

const framesOf = (cbor: Uint8Array): Uint8Array => chunksOf([cbor])[0]!
const [f0, f1, f2] = story.map(framesOf) as [Uint8Array, Uint8Array, Uint8Array]
const all = concatBytes(f0, f1, f2)

/** The frames of the second transaction with another witness set, and others with another rest. */
const otherWitnesses = framesOf(
  concatBytes(Uint8Array.of(0x84), partsOf(story[1]).body, fromHex('a10080f5f6')),
)
const withRest = (rest: string) =>
  framesOf(concatBytes(Uint8Array.of(0x84), partsOf(story[1]).body, fromHex('a0'), fromHex(rest)))

const annotatedWith = (rest: Uint8Array): readonly Told[] => [
  { first: 0, bytes: f0 },
  { first: 1, bytes: framesOf(concatBytes(Uint8Array.of(0x84), annotated.body, fromHex('a0'), rest)) },
]

/** Nine bytes longer than a body may be, in one output. */
const longBody = draft({
  inputs: [coin4],
  outputs: [outputWith({ lovelace: 4_999_000n, script: list(uint(1), string(new Uint8Array(16_301))) })],
  fee: 1_000n,
})

const lengths = (what: string, offset: number, length: number, prove: LedgerLie['prove']): LedgerLie => ({
  what,
  block: blockOf(story, outputsBefore(), {
    entries: (map) => patch(map, hexOfPosition(1), offset, Uint8Array.of(0, 0, length >> 8, length & 0xff)),
  }),
  prove,
  hasTwin: true,
})

export const chunkLies: readonly LedgerLie[] = [
  lengths('the record has another length of the body', 105, 9, wrongLength('body', 1)),
  lengths('the record has another length of the witness set', 109, 9, wrongLength('witness set', 1)),
  lengths('the body in a chunk has another length than in the record', 105, 9, otherTransaction(0, 1)),
  lengths('the witness set in a chunk has another length', 109, 9, otherTransaction(0, 1)),
  lengths('a body is too long', 105, 16_385, tooLong(1)),
  lengths('a witness set is too long', 109, 16_385, tooLong(1)),
  {
    what: 'a transaction has a body that is too long',
    block: blockOf([longBody.cbor], outputsBefore()),
    prove: tooLong(0),
    hasTwin: true,
  },
  {
    what: 'the record of such a body has a short length',
    block: blockOf([longBody.cbor], outputsBefore(), {
      entries: (map) => patch(map, hexOfPosition(0), 105, Uint8Array.of(0, 0, 0x30, 0)),
    }),
    prove: otherTransaction(0, 0),
    hasTwin: true,
  },
  lie('chunks disagree about their number', countsDiffer(0, 1), [
    { first: 0, bytes: concatBytes(f0, f1), count: 2 },
    { first: 2, bytes: f2, count: 3 },
  ]),
  lie('a chunk is beyond their number', misplaced(1), [
    { first: 0, bytes: all, count: 1 },
    { first: 2, bytes: f2, count: 1 },
  ]),
  lie('the first chunk begins later', misplaced(0), [{ first: 1, bytes: concatBytes(f1, f2) }]),
  lie('a chunk is missing', missing(1, 0), [{ first: 0, bytes: all, count: 2 }]),
  lie('there are no chunks', missing(0), []),
  lie('chunks leave a gap', nextElsewhere(0), [
    { first: 0, bytes: f0 },
    { first: 2, bytes: f2 },
  ]),
  lie('chunks overlap', nextElsewhere(0), [
    { first: 0, bytes: concatBytes(f0, f1) },
    { first: 1, bytes: concatBytes(f1, f2) },
  ]),
  lie('the last transaction is in no chunk', transactionsLeft(0, 2), [
    { first: 0, bytes: concatBytes(f0, f1) },
  ]),
  lie('a chunk has one transaction more', inventedTransaction(0, 3), [
    { first: 0, bytes: concatBytes(all, f2) },
  ]),
  lie('a chunk has another order', otherTransaction(0, 1), [{ first: 0, bytes: concatBytes(f0, f2, f1) }]),
  lie('a chunk has another witness set', otherTransaction(0, 1), [
    { first: 0, bytes: concatBytes(f0, otherWitnesses, f2) },
  ]),
  ...['f4f6', 'f5', 'f5f6f6', 'f5f6ff', 'f5a0'].map((rest) =>
    lie(`what is behind a witness set is ${rest}`, strangeRest(0, 1), [
      { first: 0, bytes: concatBytes(f0, withRest(rest), f2) },
    ]),
  ),
  ...[
    ['auxiliary data are others', concatBytes(fromHex('f5'), auxiliaryData.with(-1, 1))],
    ['auxiliary data are behind false', concatBytes(fromHex('f4'), auxiliaryData)],
    ['auxiliary data are missing', fromHex('f5f6')],
  ].map(([what, rest]) =>
    lie(what as string, strangeRest(1, 0), annotatedWith(rest as Uint8Array), [first.cbor, annotated.cbor]),
  ),
  lie('a chunk is empty', malformed(1), [
    { first: 0, bytes: all },
    { first: 3, bytes: new Uint8Array() },
  ]),
  lie('a byte follows the last frame of a chunk', malformed(0), [
    { first: 0, bytes: concatBytes(all, fromHex('00')) },
  ]),
  lie('the last frame of a chunk is cut', malformed(0), [{ first: 0, bytes: all.subarray(0, -1) }]),
  lie('a transaction of a chunk has two frames', malformed(0), [{ first: 0, bytes: all.subarray(0, -6) }]),
  lie(
    'a chunk of two transactions is too long',
    malformed(0),
    [{ first: 0, bytes: concatBytes(...longStory.slice(0, 2).map(framesOf)) }],
    longStory,
  ),
  ...[1025n, 2n ** 64n - 1n].map(
    (count): LedgerLie => ({
      what: `a chunk counts ${count} chunks`,
      block: blockOf(story, outputsBefore(), {
        entries: (map) => patch(map, toHex(chunkKey(0)), 9, eight(count)),
      }),
      prove: strangeEntry(chunkKey(0)),
      hasTwin: true,
    }),
  ),
  {
    what: 'a chunk of one transaction is too long',
    block: annotatedTo(16_385),
    prove: malformed(1),
    hasTwin: false,
  },
  lie('a chunk ends early', tooShort(0, 1), [
    { first: 0, bytes: f0 },
    { first: 1, bytes: concatBytes(f1, f2) },
  ]),
]

const of = (
  rule: string,
  what: string,
  proof: LedgerFraudProof | ((block: typeof honest) => LedgerFraudProof),
  block = honest,
): PolicyBreach<LedgerFraudProof> => ({
  rule,
  what,
  block,
  proof: typeof proof === 'function' ? proof(block) : proof,
})

const invented = encodeChunkRecord({ first: 1, chunks: 1, chunkHash: new Uint8Array(32) })

/** Proofs about the lengths and chunks of honest blocks. */
export const chunkBreaches: readonly PolicyBreach<LedgerFraudProof>[] = [
  of('witness-set-is-recorded', 'the witness set is another', {
    fraud: 'wrongLength',
    part: { record: openRecord(honest, 0), witnessSet: fromHex('a10080') },
  }),
  of('length-is-wrong', 'the body has the length', wrongLength('body', 1)),
  of('length-is-wrong', 'the witness set has the length', wrongLength('witness set', 1)),
  of('transaction-is-too-long', 'the transaction is short', tooLong(1)),
  of(
    'chunk-is-in-block',
    'the record of the chunk is invented',
    ofFlaw({ flaw: 'misplaced', chunk: { ...openChunk(honest, 0), record: invented } }),
  ),
  of(
    'chunk-is-recorded',
    'the bytes of the chunk are others',
    ofFlaw({ flaw: 'malformed', chunk: { ...shown(honest, 0), parts: [] } }),
  ),
  of('transaction-is-in-chunk', 'the transaction is in the next chunk', otherTransaction(0, 1), longBlock),
  of('transaction-is-in-chunk', 'the transaction is in the chunk before', otherTransaction(1, 0), longBlock),
  of('chunk-counts-differ', 'the chunks agree', countsDiffer(0, 2), longBlock),
  of('chunk-is-misplaced', 'the only chunk is the first', misplaced(0)),
  of('chunk-is-misplaced', 'the last chunk is counted', misplaced(2), longBlock),
  of(
    'chunk-is-missing',
    'the chunk is there',
    ofFlaw({
      flaw: 'missing',
      number: 0,
      absent: honest.map.proveAbsence(chunkKey(9)),
      holder: openChunk(honest, 0),
    }),
  ),
  of('chunk-is-due', 'the chunk is not counted', missing(1, 0)),
  of('chunk-is-due', 'the chunk is not the first', missing(1)),
  of('chunk-is-next', 'the chunk is the one after the next', nextElsewhere(0, 2), longBlock),
  of('next-chunk-begins-elsewhere', 'the next chunk follows', nextElsewhere(0), longBlock),
  of('chunk-is-last', 'the transaction is in the next chunk', transactionsLeft(0, 1), longBlock),
  of('transaction-is-behind-chunk', 'the transaction is in the chunk', transactionsLeft(0, 2)),
  of('transaction-is-behind-chunk', 'the transaction that fits is in the chunk', tooShort(0, 0)),
  of('position-is-missing', 'the transaction of the chunk is there', inventedTransaction(0, 0, 8)),
  of('position-is-in-chunk', 'the chunk ends before', inventedTransaction(0, 3)),
  of('transaction-is-another', 'the transaction is that of the record', otherTransaction(0, 1)),
  of('rest-does-not-follow', 'there are no auxiliary data', strangeRest(0, 1)),
  of('rest-does-not-follow', 'the auxiliary data are right', strangeRest(1, 0), annotatedBlock),
  of('chunk-is-malformed', 'the chunk has three transactions', malformed(0)),
  of('chunk-is-malformed', 'one transaction is longer than a chunk', malformed(1), annotatedBlock),
  of('chunk-is-malformed', 'one transaction has 16,384 bytes', malformed(1), annotatedTo(16_384)),
  of('rest-follows', 'the auxiliary data are left out', tooShort(0, 1, fromHex('f5f6')), annotatedBlock),
  of('chunk-has-room', 'both transactions are longer', tooShort(0, 1), longBlock),
]
