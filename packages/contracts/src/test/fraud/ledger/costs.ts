import { chunkKey, encodeChunkRecord } from '@ratatosk/block'
import { CborWriter, concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256, type OutputReference } from '@ratatosk/ledger'
import {
  encodeLedgerFraudProof,
  type LedgerFraudProof,
  openTransaction,
  proofParts,
} from '@ratatosk/protocol/fraud'
import { chunksOf } from '../../../../../protocol/dist/fraud/test/lying-blocks.js'
import { ledgerFraudScript } from '../../../fraud-scripts.js'
import { operator } from '../../world.js'
import {
  blockOf,
  coin0,
  coin1,
  coin2,
  eight,
  fillers,
  first,
  hexOf,
  hexOfPosition,
  left,
  measuredSizes,
  outputOf,
  outputRecord,
  outputsBefore,
  patch,
  payment,
  story,
} from '../blocks.js'
import type { ProvenLie } from '../minting.js'
import {
  countsDiffer,
  honestHashes,
  inventedTransaction,
  malformed,
  misplaced,
  missing,
  nextElsewhere,
  otherTransaction,
  prove,
  storyKeys,
  strangeRest,
  tooLong,
  tooShort,
  transactionsLeft,
  wrongLength,
} from './statements.js'

const { made, unspent, beyond } = storyKeys
const strangeKey = new Uint8Array(7)
/** Wrong for the input, and for the second reference input. */
const hashes = (): Uint8Array =>
  concatBytes(new Uint8Array(32), honestHashes().subarray(32, 64), new Uint8Array(32))
/** Positions up to some that the block does not have. */
const positions = Array.from({ length: 10 }, (_, position) => hexOfPosition(position))

/** Frames of about so many bytes, of a transaction that the block does not have. */
function frames(length: number): Uint8Array {
  const body = new CborWriter(length)
    .map(1)
    .uint(0)
    .bytes(new Uint8Array(length - 19))
    .toBytes()
  return chunksOf([concatBytes(fromHex('84'), body, fromHex('a0f4f6'))])[0]!
}

/** A chunk of as many transactions as a chunk has if none of them is a fraud by its shape. */
const chunk = concatBytes(...Array.from({ length: 170 }, () => frames(72)))
const lastOfChunk = 169
const chunksTold = [
  { first: 0, count: 9, bytes: chunk },
  { first: 0, count: 2, bytes: chunk },
  { first: 0, count: 1, bytes: concatBytes(chunk, Uint8Array.of(0)) },
  { first: 1, count: 9, bytes: frames(12_000) },
]
const flaws = [
  countsDiffer(0, 1),
  misplaced(2),
  missing(8, 0),
  nextElsewhere(0),
  transactionsLeft(1, lastOfChunk + 1),
  inventedTransaction(0, lastOfChunk - 1),
  otherTransaction(0, lastOfChunk),
  strangeRest(0, lastOfChunk),
  malformed(2),
  tooShort(3, 2),
]

/** Deposits or withdrawals as of a full block, among which one is missing. */
function fillEvents(outputs: Map<string, Uint8Array>, absent: OutputReference): void {
  for (const key of fillers(1000, [hexOf(absent)])) outputs.set(key, payment(1, 2_000_000n))
}

/** A block that lies about everything at once. */
function manyLies() {
  const outputs = outputsBefore()
  const { outputs: unspentCount, entries: entryCount } = measuredSizes
  for (const key of fillers(unspentCount, [...outputs.keys(), ...[made, unspent, beyond].map(hexOf)]))
    outputs.set(key, payment(1, 2_000_000n))
  return blockOf(story, outputs, {
    entries(entries) {
      const noted = [...entries.keys(), ...positions, hexOf(beyond), toHex(strangeKey)]
      for (const key of fillers(entryCount, noted, unspentCount))
        entries.set(key, outputRecord(0n, 1n, payment(1, 2_000_000n)))
      patch(entries, hexOf(coin0), 8, eight(3n))
      patch(entries, hexOf(coin1), 16, new Uint8Array(32))
      patch(entries, hexOf(made), 8, eight(1n))
      patch(entries, hexOf(unspent), 8, concatBytes(eight(1n), new Uint8Array(32)))
      entries.set(hexOf(beyond), outputRecord(1n, 0n, payment(1, 1n)))
      entries.set(hexOf(left), outputRecord(1n, 2n ** 63n, payment(1, 1n)))
      entries.set(hexOfPosition(5), entries.get(hexOfPosition(2))!)
      patch(entries, hexOfPosition(1), 65, blake2b256(hashes()))
      patch(entries, hexOfPosition(1), 105, Uint8Array.of(0, 0, 255, 255))
      patch(entries, hexOfPosition(2), 97, eight(0n))
      for (const position of [lastOfChunk, lastOfChunk + 1])
        entries.set(hexOfPosition(position), entries.get(hexOfPosition(2))!)
      for (const [number, { first: position, count, bytes }] of chunksTold.entries()) {
        const record = { first: position, chunks: count, chunkHash: blake2b256(bytes) }
        entries.set(toHex(chunkKey(number)), encodeChunkRecord(record))
      }
      entries.set(toHex(strangeKey), fromHex('00'))
    },
    after: (after) => after.delete(hexOf(coin2)),
    deposits: (outputs) => fillEvents(outputs, coin1),
    withdrawals: (outputs) => fillEvents(outputs, left),
    chunks: chunksTold.map(({ bytes }) => bytes),
    header: { operatorVkey: operator.hash },
  })
}

/** One proof of each kind, in a block with maps of {@link measuredSizes}. */
export function proveManyLies(): ProvenLie[] {
  const block = manyLies()
  const proofs: readonly LedgerFraudProof[] = [
    prove.inputSpentElsewhere(0, 0, coin0)(block),
    prove.spentWithoutInput(coin0, 2)(block),
    prove.outputNotNoted(0, 1)(block),
    prove.inventedOutput(beyond, (of) => ({ transaction: openTransaction(of, 0), index: 7 }))(block),
    prove.spentWithoutInput(left, 'left')(block),
    prove.strayFromBefore(coin1)(block),
    prove.spentBeforeMade(made)(block),
    prove.wrongOutputsAfter(coin2)(block),
    prove.wrongResolved(0, outputOf(first, 0), hashes())(block),
    prove.wrongResolved(2, coin2, hashes())(block),
    prove.wrongResolvedHash(1, [outputOf(first, 0), outputOf(first, 1), coin2])(block),
    prove.referenceInputMissing(1, 0, unspent)(block),
    prove.gap(3, 5)(block),
    prove.strangeEntry(strangeKey)(block),
    prove.wrongFees(2)(block),
    wrongLength('body', 1)(block),
    tooLong(1)(block),
    ...flaws.map((flaw) => flaw(block)),
  ]
  const { header } = block
  const script = ledgerFraudScript()
  const ofReference = '`wrongResolved`, a reference input'
  const nameOf = (proof: LedgerFraudProof): string => {
    if (proof.fraud === 'spentWithoutInput' && 'withdrawals' in proof.spender)
      return '`spentWithoutInput`, what leaves'
    if (proof.fraud === 'wrongChunk') return `\`wrongChunk\`, \`${proof.flaw.flaw}\``
    return proof.fraud === 'wrongResolved' && proof.index > 0 ? ofReference : `\`${proof.fraud}\``
  }
  return proofs.map((proof) => ({
    what: nameOf(proof),
    header,
    script,
    redeemer: encodeLedgerFraudProof(header, proof),
    parts: proofParts(header, proof),
  }))
}
