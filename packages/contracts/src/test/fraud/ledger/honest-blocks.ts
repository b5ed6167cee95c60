import { isLeaving, partsOf, transactionKey } from '@ratatosk/block'
import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256, encodeOutputReference, type OutputReference } from '@ratatosk/ledger'
import {
  type LedgerFraudProof,
  openOutput,
  openRecord,
  openTransaction,
  openUnspent,
  type Resolution,
} from '@ratatosk/protocol/fraud'
import {
  blockOf,
  bridge,
  type Drafted,
  draft,
  type Entries,
  eight,
  feesTo,
  ghost,
  hexOf,
  leaving,
  payment,
  type TestBlock,
} from '../blocks.js'
import type { Draw } from '../draw.js'
import { chunkProofsOf } from './statements.js'

/**
 * A block as an honest operator builds it, at random: every input is unspent when its transaction comes. Some
 * inputs are deposits, and some outputs leave.
 */
export function honestBlockOf(draw: Draw): TestBlock {
  const before: Entries = new Map()
  const unspent: OutputReference[] = []
  for (let i = 0; i < 8 + draw(30); i++) {
    const reference = {
      transactionId: new Uint8Array(32).fill(1 + draw(200)),
      index: 7 * i * (1 + draw(100)),
    }
    before.set(hexOf(reference), payment(i, BigInt(draw(2 ** 30))))
    unspent.push(reference)
  }
  const deposits = Array.from({ length: draw(4) }, (_, i) => ({
    id: new Uint8Array(32).fill(201 + i),
    output: payment(i, BigInt(draw(2 ** 30))),
  }))
  for (const { id } of deposits) unspent.push({ transactionId: id, index: 0 })
  const taken = (count: number) =>
    Array.from({ length: Math.min(count, unspent.length) }, () => unspent.splice(draw(unspent.length), 1)[0]!)
  const transactions: Drafted[] = []
  const size = draw(8)
  for (let i = 0; i < size && unspent.length > 0; i++) {
    const inputs = taken(1 + draw(3))
    const read = new Map(
      Array.from({ length: unspent.length > 0 ? draw(3) : 0 }, () => unspent[draw(unspent.length)]!).map(
        (reference) => [hexOf(reference), reference],
      ),
    )
    const outputs = Array.from({ length: 1 + draw(4) }, () =>
      draw(6) === 5 ? leaving(BigInt(draw(2 ** 30))) : payment(draw(200), BigInt(draw(2 ** 30))),
    )
    const referenceInputs = [...read.values()]
    const made = draft({
      inputs,
      referenceInputs,
      outputs,
      fee: BigInt(draw(2 ** 30)),
      indefinite: draw(3) === 2,
    })
    transactions.push(made)
    const staying = outputs.flatMap((output, index) => (isLeaving(output, bridge) ? [] : [index]))
    unspent.push(...staying.map((index) => ({ transactionId: made.id, index })))
  }
  return blockOf(
    transactions.map(({ cbor }) => cbor),
    before,
    {},
    { deposits, bridge, feesTo },
  )
}

/** The resolutions of a transaction: of all references, of a half, and of the other. */
function resolutionsAt(block: TestBlock, position: number): readonly [Resolution, Resolution, Resolution] {
  const { inputs, referenceInputs } = partsOf(block.transactions[position]!)
  const outputs = [...inputs, ...referenceInputs].map(encodeOutputReference).map((key) => ({
    output: openOutput(block, key),
    before: openUnspent(block.before, key),
  }))
  const transaction = openTransaction(block, position)
  const half = Math.floor(outputs.length / 2)
  return [
    { transaction, first: 0, outputs, isLast: true },
    { transaction, first: 0, outputs: outputs.slice(0, half), isLast: false },
    { transaction, first: half, outputs: outputs.slice(half), isLast: true },
  ]
}

/** Parts of proofs about a block, which are true of every block. */
export function* resolutionsIn(block: TestBlock): Generator<Resolution, void> {
  for (const position of block.transactions.keys()) yield* resolutionsAt(block, position)
}

/** Every proof about a block from its true commitments: of each fraud at each place, and beyond the last. */
export function* proofsOf(block: TestBlock): Generator<LedgerFraudProof, void> {
  yield* chunkProofsOf(block)
  const { transactions, map, entries } = block
  const positions = transactions.map((_, position) => position)
  const absent = (position: number) => map.proveAbsence(transactionKey(position))
  const parts = transactions.map(partsOf)
  const hashOf = (key: Uint8Array) => block.valueOf(key)?.subarray(16) ?? block.before.valueHash(key)!

  for (const position of positions) {
    const transaction = openTransaction(block, position)
    const { inputs, referenceInputs, outputs, id } = parts[position]!
    const keys = [...inputs, ...referenceInputs].map(encodeOutputReference)
    const hashes = concatBytes(...keys.map(hashOf))
    const [whole, head, tail] = resolutionsAt(block, position)
    for (const resolutions of [[whole], [head, tail], [tail], [head], [tail, head], [whole, whole]] as const)
      yield { fraud: 'wrongResolvedHash', resolutions }
    for (const [index, key] of keys.entries()) {
      const output = openOutput(block, key)
      const before = openUnspent(block.before, key)
      if (index < inputs.length) yield { fraud: 'inputSpentElsewhere', transaction, index, output }
      else {
        const place = index - inputs.length
        yield { fraud: 'referenceInputMissing', transaction, index: place, output, before }
      }
      yield { fraud: 'wrongResolved', transaction, index, hashes, output, before }
    }
    for (let index = -1; index <= outputs.length; index++) {
      const key = encodeOutputReference({ transactionId: id, index: Math.max(0, index) })
      const output = openOutput(block, key)
      yield { fraud: 'outputNotNoted', transaction, index, output }
      yield { fraud: 'inventedOutput', key, output, maker: { transaction, index } }
      // Indexes beyond the last, with what a reader that does not stop would find.
      yield { fraud: 'inputSpentElsewhere', transaction, index: inputs.length + index, output }
      yield {
        fraud: 'referenceInputMissing',
        transaction,
        index: referenceInputs.length + index,
        output: openOutput(block, encodeOutputReference(ghost)),
        before: openUnspent(block.before, encodeOutputReference(ghost)),
      }
    }
    yield { fraud: 'wrongFees', transaction }
    for (const other of positions) {
      yield { fraud: 'wrongFees', transaction, previous: openRecord(block, other) }
    }
    for (const missing of [transactions.length, transactions.length + 1]) {
      yield { fraud: 'gapInTransactions', position: missing, absent: absent(missing), later: transaction }
    }
  }
  // Where a transaction would be that spends what has left.
  const farAbsent = map.proveAbsence(eight(2n ** 63n - 1n))
  const keys = new Set([...entries.keys(), ...[...block.outputsBefore.keys()].slice(0, 4), hexOf(ghost)])
  for (const key of [...keys].map(fromHex)) {
    const output = openOutput(block, key)
    const [before, after] = [openUnspent(block.before, key), openUnspent(block.after, key)]
    const [deposits, withdrawals] = [
      openUnspent(block.events.deposits, key),
      openUnspent(block.events.withdrawals, key),
    ]
    const value = entries.get(toHex(key))
    if (value !== undefined) yield { fraud: 'strangeEntry', key, value, proof: map.prove(key) }
    else yield { fraud: 'strangeEntry', key, value: new Uint8Array(), proof: map.proveAbsence(key) }
    yield { fraud: 'strayFromBefore', key, output, before, deposits }
    yield { fraud: 'spentWithoutInput', key, output, spender: { withdrawals } }
    yield { fraud: 'spentWithoutInput', key, output, spender: { absent: farAbsent } }
    yield { fraud: 'spentBeforeMade', key, output }
    yield { fraud: 'wrongOutputsAfter', path: blake2b256(key), output, before, after }
    yield { fraud: 'spentWithoutInput', key, output, spender: { absent: absent(transactions.length) } }
    yield { fraud: 'inventedOutput', key, output, maker: { absent: absent(transactions.length) } }
    for (const position of positions) {
      yield { fraud: 'spentWithoutInput', key, output, spender: openTransaction(block, position) }
      yield { fraud: 'inventedOutput', key, output, maker: openRecord(block, position) }
    }
  }
}
