import { chunkKey, type Header, transactionKey } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import {
  encodeLedgerFraudProof,
  encodeResolution,
  type LedgerFraudProof,
  openOutput,
  openRecord,
  openTransaction,
  openUnspent,
  type Resolution,
  resolutionName,
} from '@ratatosk/protocol/fraud'
import { leafHash } from '../../mpf/proofs.js'
import {
  blockOf,
  bridgedBlock,
  bridgedBlockOf,
  coin0,
  coin2,
  coin3,
  deposited,
  eight,
  first,
  ghost,
  hexOf,
  hexOfPosition,
  honestBlock,
  kept,
  keyOf,
  left,
  outputRecord,
  outputsBefore,
  patch,
  payment,
  story,
  third,
} from '../blocks.js'
import { tokensOf } from '../minting.js'
import type { PolicyBreach } from '../without-rules.js'
import { chunkBreaches } from './chunk-lies.js'
import { ledgerLies } from './lies.js'
import { honestHashes, prove, storyKeys } from './statements.js'

const { made, unspent, beyond } = storyKeys
const honest = honestBlock

const of = (
  rule: string,
  what: string,
  proof: LedgerFraudProof,
  block = honest,
): PolicyBreach<LedgerFraudProof> => ({
  rule,
  what,
  block,
  proof,
})

const record = openRecord(honest, 0)
const transaction = openTransaction(honest, 0)
const spentLie = ledgerLies[0]!

const oldVersion = blockOf(story, outputsBefore(), {
  entries: (entries) => patch(entries, hexOf(coin0), 8, eight(3n)),
  header: { blockVersion: 2n },
})
const deposit = blockOf(story, outputsBefore(), {
  entries: (entries) => {
    patch(entries, hexOf(coin0), 8, eight(3n))
    patch(entries, hexOfPosition(0), 0, Uint8Array.of(0))
  },
})

const fullBlock = blockOf(story, outputsBefore(), {
  entries: (entries) => patch(entries, toHex(chunkKey(0)), 9, eight(1024n)),
})

/** The position before 2^63, which an output notes that leaves. */
const farPosition = 2n ** 63n - 1n

/** A block with a transaction at that position, which no honest block has. */
const farBlock = bridgedBlockOf({
  entries: (entries) => entries.set(toHex(eight(farPosition)), entries.get(hexOfPosition(2))!),
})

/** A block with a deposit that it does not note. */
const unnotedDeposit = bridgedBlockOf({
  deposits: (outputs) => outputs.set(hexOf(coin2), payment(2, 5_000_000n)),
})

/** A block whose outputs after it are one leaf at a path that no leaf can have, and its proof there. */
function leafAt(what: string, path: Uint8Array): PolicyBreach<LedgerFraudProof> {
  const hash = new Uint8Array(32).fill(7)
  const block = blockOf(story, outputsBefore(), { header: { utxosRoot: leafHash(path, 0, hash) } })
  return of(
    'path-is-of-leaf',
    what,
    {
      fraud: 'wrongOutputsAfter',
      path,
      output: { proof: block.map.openPath(path).proof },
      before: block.before.openPath(path),
      after: { hash, proof: [] },
    },
    block,
  )
}

/** A proof with the tokens that it refers to. */
const resolved = (rule: string, what: string, proof: LedgerFraudProof): PolicyBreach<LedgerFraudProof> => ({
  ...of(rule, what, proof),
  tokens: tokensOf(honest.header, proof),
})

/** The references of the second transaction. */
const secondKeys = [made, unspent, coin2]
const inParts = prove.wrongResolvedHash(1, secondKeys)(honest)
const [firstPart, lastPart] = inParts.resolutions
const namesOf = (...parts: readonly Resolution[]) => parts.map((part) => resolutionName(honest.header, part))

/** Proofs of hashes that no token shows, and the tokens at the places where these would be. */
const unshown: readonly (readonly [what: string, proof: LedgerFraudProof, tokens: readonly Uint8Array[]])[] =
  [
    ['the last references are left out', { ...inParts, resolutions: [firstPart] }, namesOf(firstPart)],
    ['the first references are left out', { ...inParts, resolutions: [lastPart] }, namesOf(lastPart)],
    [
      'the parts are in another order',
      { ...inParts, resolutions: [lastPart, firstPart] },
      namesOf(lastPart, firstPart),
    ],
    [
      'a part is there twice',
      { ...inParts, resolutions: [firstPart, firstPart, lastPart] },
      namesOf(firstPart, firstPart, lastPart),
    ],
    [
      'the hashes are those of another transaction',
      prove.wrongResolvedHash(1, [storyThirdInput(), coin3])(honest),
      namesOf(...prove.wrongResolvedHash(2, [storyThirdInput(), coin3])(honest).resolutions),
    ],
    [
      'the hashes are invented',
      { ...inParts, resolutions: [firstPart, { ...lastPart, outputs: lastPart.outputs.toReversed() }] },
      namesOf(firstPart, lastPart),
    ],
  ]

type LedgerBreach = LedgerFraudProof | Resolution

/** The redeemer of a proof, or of a part of one: Plutus data CBOR. */
export const encodeLedgerBreach = (header: Header, proof: LedgerBreach): Uint8Array =>
  'fraud' in proof ? encodeLedgerFraudProof(header, proof) : encodeResolution(header, proof)

/** Proofs about the honest block, and of frauds under the wrong name, version or kind. */
export const ledgerBreaches: readonly PolicyBreach<LedgerBreach>[] = [
  {
    rule: 'token-names-what-is-proven',
    what: 'a part of a proof takes the name of a verdict',
    block: honest,
    proof: lastPart,
  },
  {
    ...of(
      'token-names-what-is-proven',
      'the verdict names another block',
      spentLie.prove(spentLie.block),
      spentLie.block,
    ),
    name: new Uint8Array(28),
  },
  of(
    'header-is-provable',
    'the header is of an older version',
    prove.inputSpentElsewhere(0, 0, coin0)(oldVersion),
    oldVersion,
  ),
  of('transaction-is-in-block', 'the transaction is at another position', {
    ...prove.inputSpentElsewhere(0, 0, coin0)(honest),
    transaction: { ...transaction, position: 5 },
  }),
  of(
    'record-is-of-transaction',
    'the record is of a deposit',
    prove.inputSpentElsewhere(0, 0, coin0)(deposit),
    deposit,
  ),
  of('body-is-recorded', 'the body is of another transaction', {
    ...prove.inputSpentElsewhere(0, 0, coin0)(honest),
    transaction: { ...transaction, body: third.body },
    output: openOutput(honest, keyOf(storyThirdInput())),
  }),
  of('output-record-is-in-block', 'the record of the output is invented', {
    ...prove.inputSpentElsewhere(0, 0, coin0)(honest),
    output: { ...openOutput(honest, keyOf(coin0)), record: outputRecord(0n, 9n, payment(0, 5_000_000n)) },
  }),
  of('output-record-is-in-block', 'the proof of absence is of another output', {
    ...prove.inputSpentElsewhere(0, 0, coin0)(honest),
    output: openOutput(honest, keyOf(ghost)),
  }),
  of('output-record-has-its-length', 'the record is of a transaction', {
    fraud: 'inventedOutput',
    key: transactionKey(0),
    output: { record: record.record, proof: record.proof },
    maker: { absent: honest.map.proveAbsence(makerIn(record.record)) },
  }),
  of('output-hash-is-proven', 'the hash after the block is invented', {
    ...prove.wrongOutputsAfter(coin2)(honest),
    after: { ...openUnspent(honest.after, keyOf(coin2)), hash: new Uint8Array(32) },
  }),
  of('output-hash-is-proven', 'what is unspent after the block is shown of before', {
    ...prove.wrongOutputsAfter(coin0)(honest),
    after: openUnspent(honest.before, keyOf(coin0)),
  }),
  of(
    'output-hash-is-proven',
    'what was deposited is shown of the outputs before',
    {
      ...prove.strayFromBefore(kept)(bridgedBlock),
      deposits: openUnspent(bridgedBlock.before, keyOf(kept)),
    },
    bridgedBlock,
  ),
  of(
    'output-hash-is-proven',
    'what is owed is shown of the outputs after',
    {
      ...prove.spentWithoutInput(left, 'left')(bridgedBlock),
      spender: { withdrawals: openUnspent(bridgedBlock.after, keyOf(left)) },
    },
    bridgedBlock,
  ),
  of(
    'input-is-spent-elsewhere',
    'the transaction spends its input',
    prove.inputSpentElsewhere(0, 0, coin0)(honest),
  ),
  of(
    'spender-is-noted',
    'the transaction is not noted as the spender',
    prove.spentWithoutInput(unspent, 1)(honest),
  ),
  of('spender-lacks-input', 'the spender has the input', prove.spentWithoutInput(made, 1)(honest)),
  of('spender-is-missing', 'the spender is there', prove.spentWithoutInput(made, 'absent')(honest)),
  of(
    'output-stays',
    'what leaves has no spender',
    {
      ...prove.spentWithoutInput(left, 'absent')(bridgedBlock),
      spender: { absent: bridgedBlock.map.proveAbsence(eight(farPosition)) },
    },
    bridgedBlock,
  ),
  of(
    'output-stays',
    'what leaves is not spent by the last transaction of all',
    {
      ...prove.spentWithoutInput(left, 'left')(farBlock),
      spender: { ...openRecord(farBlock, farPosition), body: third.body },
    },
    farBlock,
  ),
  of('output-leaves', 'a transaction spends the output', prove.spentWithoutInput(made, 'left')(honest)),
  of('output-leaves', 'the output is unspent', prove.spentWithoutInput(unspent, 'left')(honest)),
  of(
    'output-is-not-owed',
    'layer 1 owes the output',
    prove.spentWithoutInput(left, 'left')(bridgedBlock),
    bridgedBlock,
  ),
  of('output-is-in-body', 'the transaction has fewer outputs', {
    fraud: 'outputNotNoted',
    transaction,
    index: 7,
    output: openOutput(honest, keyOf(beyond)),
  }),
  of('output-is-not-noted', 'the output is noted', prove.outputNotNoted(0, 1)(honest)),
  of(
    'output-is-not-noted',
    'the output is noted, in a list of indefinite length',
    prove.outputNotNoted(1, 1)(honest),
  ),
  of('maker-is-missing', 'the maker is there', {
    ...prove.inventedOutput(made, () => ({ absent: honest.map.proveAbsence(transactionKey(8)) }))(honest),
  }),
  of(
    'maker-is-noted',
    'the output is older than the block',
    prove.inventedOutput(coin0, (block) => openRecord(block, 2))(honest),
  ),
  of(
    'maker-has-another-id',
    'the output is of its maker',
    prove.inventedOutput(made, (block) => openRecord(block, 0))(honest),
  ),
  of(
    'invented-output-is-noted',
    'the output is not noted',
    prove.inventedOutput(beyond, (block) => ({ transaction: openTransaction(block, 0), index: 7 }))(honest),
  ),
  of(
    'key-is-of-maker',
    'the output is of another transaction',
    prove.inventedOutput(made, (block) => ({ transaction: openTransaction(block, 1), index: 7 }))(honest),
  ),
  of(
    'maker-has-fewer-outputs',
    'the maker has the output',
    prove.inventedOutput(made, (block) => ({ transaction: openTransaction(block, 0), index: 0 }))(honest),
  ),
  of(
    'output-is-noted',
    'the block does not note the output',
    prove.strayFromBefore(coin2)(unnotedDeposit),
    unnotedDeposit,
  ),
  of('output-is-from-before', 'the block makes the output', prove.strayFromBefore(made)(honest)),
  of(
    'output-is-from-before',
    'the block makes it, and it is unspent',
    prove.strayFromBefore(unspent)(honest),
  ),
  ...[deposited, kept].map((key) =>
    of(
      'output-was-not-deposited',
      `${hexOf(key).slice(6, 10)} was deposited`,
      prove.strayFromBefore(key)(bridgedBlock),
      bridgedBlock,
    ),
  ),
  of('output-was-not-there', 'the output was there', prove.strayFromBefore(coin0)(honest)),
  of('output-is-spent', 'the output is unspent', prove.spentBeforeMade(unspent)(honest)),
  of('output-is-spent-before-made', 'the output is made first', prove.spentBeforeMade(made)(honest)),
  leafAt('the path has 31 bytes', new Uint8Array(31).fill(0xaa)),
  leafAt('the last 24 bytes of the path are nibbles', new Uint8Array(32).fill(0xaa, 0, 8)),
  ...[coin0, coin2, made, unspent, ghost].map((key) =>
    of('after-does-not-follow', `${hexOf(key).slice(6, 10)} follows`, prove.wrongOutputsAfter(key)(honest)),
  ),
  of(
    'hashes-are-recorded',
    'the hashes are invented',
    prove.wrongResolved(0, made, new Uint8Array(96))(honest),
  ),
  ...[made, unspent, coin2].map((key, index) =>
    of(
      'recorded-hash-is-wrong',
      `hash ${index} is right`,
      prove.wrongResolved(index, key, honestHashes())(honest),
    ),
  ),
  resolved('resolved-is-wrong', 'the hashes are right', prove.wrongResolvedHash(1, secondKeys)(honest)),
  resolved(
    'resolved-is-wrong',
    'the hashes are right, without reference inputs',
    prove.wrongResolvedHash(2, [storyThirdInput(), coin3])(honest),
  ),
  ...unshown.map(([what, proof, tokens]) => ({ ...of('part-is-shown', what, proof), tokens })),
  of(
    'reference-input-is-missing',
    'the reference input is made before',
    prove.referenceInputMissing(1, 0, unspent)(honest),
  ),
  of(
    'reference-input-is-missing',
    'the reference input is from before the block',
    prove.referenceInputMissing(1, 1, coin2)(honest),
  ),
  of(
    'reference-input-is-missing',
    'the reference input is a deposit',
    prove.referenceInputMissing(3, 0, kept)(bridgedBlock),
    bridgedBlock,
  ),
  of('position-is-missing', 'there is a transaction', {
    fraud: 'gapInTransactions',
    position: 0,
    absent: honest.map.proveAbsence(transactionKey(8)),
    later: openRecord(honest, 2),
  }),
  of('position-is-before-transaction', 'the block ends before', prove.gap(3, 2)(honest)),
  of('entry-is-in-block', 'the entry is invented', {
    fraud: 'strangeEntry',
    key: new Uint8Array(7),
    value: record.record,
    proof: record.proof,
  }),
  of('entry-is-in-block', 'the key is not there, and the value is empty', {
    fraud: 'strangeEntry',
    key: new Uint8Array(7),
    value: new Uint8Array(),
    proof: honest.map.proveAbsence(new Uint8Array(7)),
  }),
  of('entry-is-strange', 'the entry is a transaction’s', prove.strangeEntry(transactionKey(0))(honest)),
  of('entry-is-strange', 'the entry is a chunk’s', prove.strangeEntry(chunkKey(0))(honest)),
  of('entry-is-strange', 'the chunk is one of 1,024', prove.strangeEntry(chunkKey(0))(fullBlock), fullBlock),
  of(
    'entry-is-strange',
    'the entry is of an output that is made',
    prove.strangeEntry(keyOf(unspent))(honest),
  ),
  of('entry-is-strange', 'the entry is of an output that is spent', prove.strangeEntry(keyOf(coin0))(honest)),
  of(
    'entry-is-strange',
    'the entry is of a deposit that is kept',
    prove.strangeEntry(keyOf(kept))(bridgedBlock),
    bridgedBlock,
  ),
  of(
    'entry-is-strange',
    'the entry is of an output that leaves',
    prove.strangeEntry(keyOf(left))(bridgedBlock),
    bridgedBlock,
  ),
  of('fees-before-are-those-before', 'a transaction is left out', {
    fraud: 'wrongFees',
    transaction: openTransaction(honest, 2),
    previous: record,
  }),
  of('fees-before-are-those-before', 'all transactions before are left out', {
    fraud: 'wrongFees',
    transaction: openTransaction(honest, 2),
  }),
  of('fees-so-far-are-wrong', 'the fees are right', prove.wrongFees(2)(honest)),
  of('fees-so-far-are-wrong', 'the first fee is right', prove.wrongFees(0)(honest)),
  ...chunkBreaches,
]

function storyThirdInput() {
  return { transactionId: first.id, index: 2 }
}

/** The key of the transaction that a transaction's record, read as an output's, names as its maker. */
function makerIn(value: Uint8Array): Uint8Array {
  const created = new DataView(value.buffer, value.byteOffset).getBigUint64(0)
  return eight(created - 1n)
}
