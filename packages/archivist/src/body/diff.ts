import {
  compareBytes,
  decodeTransaction,
  type Effects,
  effects,
  encodeOutputReference,
  type OutputReference,
  outputReferenceKey,
} from '@ratatosk/ledger'
import { BlockError } from './errors.js'
import type { BlockBody, BlockDiff, ProducedOutput } from './types.js'

/** The effects of a block's transactions, summed up one by one in block order. */
export interface DiffSum {
  /**
   * @throws {BlockError} `BLOCK_INVALID` where an output is spent twice; `BODY_FOREIGN` where one is spent before it is made:
   *   then these are the transactions of no block in this order
   */
  add(effects: Effects): void
  /** What is left of them: nothing that the block both makes and spends; in the order of the encoding. */
  diff(): BlockDiff
}

export function createDiffSum(): DiffSum {
  const spent = new Map<string, OutputReference>()
  const produced = new Map<string, ProducedOutput>()
  /** Made and spent inside the block. */
  const passing = new Set<string>()

  return {
    add(effects) {
      for (const reference of effects.spent) {
        const key = outputReferenceKey(reference)
        if (spent.has(key) || passing.has(key))
          throw new BlockError('BLOCK_INVALID', `The block spends ${key} twice`)
        if (produced.delete(key)) passing.add(key)
        else spent.set(key, reference)
      }
      for (const { reference, output } of effects.produced) {
        const key = outputReferenceKey(reference)
        if (spent.has(key))
          throw new BlockError('BODY_FOREIGN', `A transaction spends ${key}, which a later one makes`)
        produced.set(key, { outref: encodeOutputReference(reference), output: output.bytes })
      }
    },

    diff: () => ({
      spent: [...spent.values()].map(encodeOutputReference).sort(compareBytes),
      produced: [...produced.values()].sort((a, b) => compareBytes(a.outref, b.outref)),
    }),
  }
}

/**
 * The body of the block with these transactions: the rest of it follows from them.
 *
 * @param transactions CBOR as submitted, in block order
 * @throws DecodeError where one is no transaction
 * @throws {BlockError} `BLOCK_INVALID`, `BODY_FOREIGN`: they are no block
 * @example
 * const body = bodyOf(transactions)
 * encodeBlockBody(body)
 */
export function bodyOf(transactions: readonly Uint8Array[]): BlockBody {
  const sum = createDiffSum()
  for (const cbor of transactions) sum.add(effects(decodeTransaction(cbor)))
  return { transactions, ...sum.diff() }
}
