import {
  chunkKey,
  deriveBlock,
  encodeChunkRecord,
  encodeTransactionRecord,
  transactionKey,
} from '@ratatosk/block'
import { concatBytes, toHex } from '@ratatosk/cbor'
import { blake2b256, type OutputReference } from '@ratatosk/ledger'
import { type LedgerFraudProof, openRecord, openTransaction } from '@ratatosk/protocol/fraud'
import {
  blockOf,
  bridgedBlockOf,
  coin0,
  coin2,
  coin3,
  coin4,
  deposited,
  draft,
  eight,
  first,
  ghost,
  hexOf,
  hexOfPosition,
  kept,
  keyOf,
  leaving,
  left,
  outputOf,
  outputRecord,
  outputsBefore,
  patch,
  payment,
  second,
  story,
  type TestBlock,
  third,
} from '../blocks.js'
import { chunkLies } from './chunk-lies.js'
import {
  beyond,
  gap,
  inputSpentElsewhere,
  inventedOutput,
  type LedgerLie,
  made,
  outputNotNoted,
  referenceInputMissing,
  secondHashes,
  spentBeforeMade,
  spentWithoutInput,
  strangeEntry,
  strayFromBefore,
  unspent,
  wrongFees,
  wrongOutputsAfter,
  wrongResolved,
  wrongResolvedHash,
} from './statements.js'

const lie = (
  what: string,
  block: TestBlock,
  prove: (block: TestBlock) => LedgerFraudProof,
  hasTwin = true,
): LedgerLie => ({ what, block, prove, hasTwin })

const lying = (entries: (entries: Map<string, Uint8Array>) => void): TestBlock =>
  blockOf(story, outputsBefore(), { entries })

function withWrongHash(index: number): { block: TestBlock; hashes: Uint8Array } {
  const hashes = concatBytes(...secondHashes().with(index, new Uint8Array(32).fill(3)))
  return { block: lying((entries) => patch(entries, hexOfPosition(1), 65, blake2b256(hashes))), hashes }
}

const withRecord = (key: Uint8Array, value: Uint8Array) =>
  lying((entries) => {
    entries.set(toHex(key), value)
  })

const strange = (what: string, key: Uint8Array, value: Uint8Array, hasTwin = false) =>
  lie(what, withRecord(key, value), strangeEntry(key), hasTwin)

const record = outputRecord(0n, 1n, payment(1, 1n))

const chunkRecord = encodeChunkRecord({ first: 0, chunks: 1, chunkHash: new Uint8Array(32) })

const transactionRecord = encodeTransactionRecord(deriveBlock(story, () => undefined).transactions[0]!)

/** The block in another order: what the second spends, the first makes later. */
const reordered = blockOf([second.cbor, first.cbor, third.cbor], outputsBefore())

const coin5: OutputReference = { ...coin4, index: 32 }

const reader = (reference: OutputReference, input = coin4) =>
  draft({ inputs: [input], referenceInputs: [reference], outputs: [payment(70, 4_999_999n)], fee: 1n })

/** The proofs of the story's honest block have the same shapes. */
export const ledgerLies: readonly LedgerLie[] = [
  lie(
    'an input is noted as spent by another transaction',
    lying((entries) => patch(entries, hexOf(coin0), 8, eight(3n))),
    inputSpentElsewhere(0, 0, coin0),
  ),
  lie(
    'an input is not noted',
    lying((entries) => entries.delete(hexOf(coin0))),
    inputSpentElsewhere(0, 0, coin0),
  ),
  lie(
    'an output is spent twice',
    blockOf(
      [...story, draft({ inputs: [coin4, coin0], outputs: [payment(9, 9n)], fee: 1n }).cbor],
      outputsBefore(),
    ),
    inputSpentElsewhere(3, 1, coin0),
    false,
  ),
  lie(
    'a transaction spends what has left',
    bridgedBlockOf({}, draft({ inputs: [coin5, left], outputs: [payment(9, 9n)], fee: 1n }).cbor),
    inputSpentElsewhere(4, 1, left),
    false,
  ),
  lie(
    'an output is noted as spent by a transaction that does not spend it',
    lying((entries) => patch(entries, hexOf(unspent), 8, eight(2n))),
    spentWithoutInput(unspent, 1),
  ),
  lie(
    'an output is noted as spent by no transaction',
    lying((entries) => patch(entries, hexOf(unspent), 8, eight(9n))),
    spentWithoutInput(unspent, 'absent'),
  ),
  lie(
    'an output is noted as spent by the last number',
    lying((entries) => patch(entries, hexOf(unspent), 8, eight(2n ** 64n - 1n))),
    (block) => ({
      ...spentWithoutInput(unspent, 'absent')(block),
      spender: { absent: block.map.proveAbsence(eight(2n ** 64n - 2n)) },
    }),
  ),
  lie(
    'an output is noted as one that leaves, without a bridge',
    lying((entries) => patch(entries, hexOf(unspent), 8, eight(2n ** 63n))),
    spentWithoutInput(unspent, 'left'),
  ),
  lie(
    'an output that leaves is not owed',
    bridgedBlockOf({ withdrawals: (outputs) => outputs.delete(hexOf(left)) }),
    spentWithoutInput(left, 'left'),
  ),
  lie(
    'another output is owed than leaves',
    bridgedBlockOf({ withdrawals: (outputs) => outputs.set(hexOf(left), leaving(1n)) }),
    spentWithoutInput(left, 'left'),
  ),
  lie(
    'an output is not noted',
    lying((entries) => entries.delete(hexOf(unspent))),
    outputNotNoted(0, 1),
  ),
  lie(
    'an output is noted as made by another transaction',
    lying((entries) => patch(entries, hexOf(unspent), 0, eight(2n))),
    outputNotNoted(0, 1),
  ),
  lie(
    'an output is noted with another hash',
    lying((entries) => patch(entries, hexOf(outputOf(second, 1)), 16, new Uint8Array(32))),
    outputNotNoted(1, 1),
  ),
  lie(
    'an output is noted that its transaction does not make',
    withRecord(keyOf(beyond), outputRecord(1n, 0n, payment(9, 9n))),
    inventedOutput(beyond, (block) => ({ transaction: openTransaction(block, 0), index: 7 })),
  ),
  lie(
    'an output is noted as made by a transaction with another id',
    withRecord(keyOf(ghost), outputRecord(1n, 0n, payment(9, 9n))),
    inventedOutput(ghost, (block) => openRecord(block, 0)),
  ),
  lie(
    'an output is noted as made by no transaction',
    withRecord(keyOf(ghost), outputRecord(9n, 0n, payment(9, 9n))),
    inventedOutput(ghost, (block) => ({ absent: block.map.proveAbsence(transactionKey(8)) })),
  ),
  lie(
    'an input never was',
    blockOf([...story, draft({ inputs: [ghost], outputs: [payment(9, 9n)], fee: 1n }).cbor], outputsBefore()),
    strayFromBefore(ghost),
  ),
  lie(
    'an output from before is noted with another hash',
    lying((entries) => patch(entries, hexOf(coin0), 16, new Uint8Array(32))),
    strayFromBefore(coin0),
  ),
  lie(
    'an output is noted that no transaction makes or spends',
    withRecord(keyOf(coin2), outputRecord(0n, 0n, payment(2, 5_000_000n))),
    strayFromBefore(coin2),
    false,
  ),
  lie(
    'an output is noted that never was, and that no transaction makes or spends',
    withRecord(keyOf(ghost), outputRecord(0n, 0n, payment(9, 9n))),
    strayFromBefore(ghost),
    false,
  ),
  ...(
    [
      [
        'is not in the map of deposits',
        (outputs: Map<string, Uint8Array>, key: string) => outputs.delete(key),
      ],
      [
        'is another output in the map of deposits',
        (outputs: Map<string, Uint8Array>, key: string) => outputs.set(key, payment(9, 9n)),
      ],
    ] as const
  ).flatMap(([what, edit]) => [
    lie(
      `a deposit that is spent ${what}`,
      bridgedBlockOf({ deposits: (outputs) => edit(outputs, hexOf(deposited)) }),
      strayFromBefore(deposited),
    ),
    lie(
      `a deposit that is kept ${what}`,
      bridgedBlockOf({ deposits: (outputs) => edit(outputs, hexOf(kept)) }),
      strayFromBefore(kept),
    ),
  ]),
  lie('an output is spent before it is made', reordered, spentBeforeMade(made)),
  lie(
    'an unspent output is missing after the block',
    blockOf(story, outputsBefore(), { after: (outputs) => outputs.delete(hexOf(coin2)) }),
    wrongOutputsAfter(coin2),
  ),
  lie(
    'an untouched output is another after the block',
    blockOf(story, outputsBefore(), { after: (outputs) => outputs.set(hexOf(coin2), payment(9, 9n)) }),
    wrongOutputsAfter(coin2),
  ),
  lie(
    'an output is there after the block from nowhere',
    blockOf(story, outputsBefore(), { after: (outputs) => outputs.set(hexOf(ghost), payment(9, 9n)) }),
    wrongOutputsAfter(ghost),
  ),
  lie(
    'a spent output is there after the block',
    blockOf(story, outputsBefore(), {
      after: (outputs) => outputs.set(hexOf(coin0), payment(0, 5_000_000n)),
    }),
    wrongOutputsAfter(coin0),
  ),
  lie(
    'an output that is made is missing after the block',
    blockOf(story, outputsBefore(), { after: (outputs) => outputs.delete(hexOf(unspent)) }),
    wrongOutputsAfter(unspent),
  ),
  lie(
    'an output that is made is another after the block',
    blockOf(story, outputsBefore(), { after: (outputs) => outputs.set(hexOf(unspent), payment(9, 9n)) }),
    wrongOutputsAfter(unspent),
  ),
  ...(
    [
      ['an input', 0, made],
      ['a reference input of the block', 1, unspent],
      ['a reference input from before', 2, coin2],
    ] as const
  ).map(([what, index, key]) => {
    const { block, hashes } = withWrongHash(index)
    const right = concatBytes(...secondHashes())
    return lie(`what ${what} stands for has another hash`, block, (of) =>
      wrongResolved(index, key, of === block ? hashes : right)(of),
    )
  }),
  ...(
    [
      ['of a transaction that reads too', 1, [made, unspent, coin2]],
      ['of one without reference inputs', 2, [outputOf(first, 2), coin3]],
    ] as const
  ).map(([what, position, keys]) =>
    lie(
      `nobody knows the hashes ${what}`,
      lying((entries) => patch(entries, hexOfPosition(position), 65, new Uint8Array(32).fill(9))),
      wrongResolvedHash(position, keys),
    ),
  ),
  lie(
    'a reference input is spent before',
    blockOf([...story, reader(made).cbor], outputsBefore()),
    referenceInputMissing(3, 0, made),
    false,
  ),
  lie(
    'a reference input leaves',
    bridgedBlockOf({}, reader(left, coin5).cbor),
    referenceInputMissing(4, 0, left),
    false,
  ),
  lie('a reference input is made later', reordered, (block) =>
    block === reordered
      ? referenceInputMissing(0, 0, unspent)(block)
      : referenceInputMissing(1, 0, unspent)(block),
  ),
  lie(
    'a reference input never was',
    blockOf([...story, reader(ghost).cbor], outputsBefore()),
    referenceInputMissing(3, 0, ghost),
    false,
  ),
  lie('a position has no transaction', withRecord(transactionKey(5), transactionRecord), gap(3, 5), false),
  ...[2n ** 53n, 2n ** 64n - 1n].map((position) =>
    lie(
      `the only transaction behind a gap is at ${position}`,
      withRecord(eight(position), transactionRecord),
      gap(3, position),
      false,
    ),
  ),
  strange('a key has another length', Uint8Array.of(1, 2, 3, 4, 5, 6, 7), transactionRecord),
  strange('a key is empty', new Uint8Array(), record),
  strange('a key has 5 bytes', new Uint8Array(5), record),
  strange('the record of a chunk is an output’s', chunkKey(0), record, true),
  strange('the record of a chunk is of another kind', chunkKey(0), chunkRecord.with(0, 2), true),
  strange('the record of a chunk is a transaction’s', chunkKey(7), transactionRecord),
  strange('the record of a transaction is short', transactionKey(0), transactionRecord.subarray(1), true),
  strange('the record of a transaction is an output’s', transactionKey(0), record, true),
  ...[0, 1, 3].map((kind) =>
    strange(`a record is of kind ${kind}`, transactionKey(0), transactionRecord.with(0, kind), true),
  ),
  strange('the record of an output has 64 bytes', keyOf(unspent), new Uint8Array(64), true),
  strange('the key of an output is no reference', keyOf(ghost).with(0, 0x83), record),
  strange(
    'the index of an output is not in its shortest form',
    concatBytes(keyOf(ghost).subarray(0, 35), Uint8Array.of(24, 5)),
    record,
  ),
  strange(
    'the index of an output has a leading zero',
    concatBytes(keyOf(ghost).subarray(0, 35), Uint8Array.of(25, 0, 200)),
    record,
  ),
  strange(
    'the index of an output has four bytes',
    concatBytes(keyOf(ghost).subarray(0, 35), Uint8Array.of(26, 0, 1, 0, 0)),
    record,
  ),
  strange('the index of an output is another type', keyOf(ghost).with(35, 0x40), record),
  lie(
    'the fees so far are too high',
    lying((entries) => patch(entries, hexOfPosition(1), 97, eight(151n))),
    wrongFees(1),
  ),
  lie(
    'the fees of the first transaction are wrong',
    lying((entries) => patch(entries, hexOfPosition(0), 97, eight(99n))),
    wrongFees(0),
  ),
  ...chunkLies,
]
