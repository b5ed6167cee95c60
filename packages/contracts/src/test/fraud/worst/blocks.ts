import { partsOf } from '@ratatosk/block'
import type { OutputReference } from '@ratatosk/ledger'
import { operator } from '../../world.js'
import {
  blockOf,
  type Entries,
  hexOf,
  noteOutputs,
  outputRecord,
  payment,
  type TestBlock,
} from '../blocks.js'
import { fillers, measuredSizes } from '../fillers.js'

/** Outputs that are unspent before a block. */
export type Coins = readonly (readonly [reference: OutputReference, output: Uint8Array])[]

/** A block of transactions among many entries and over many outputs. */
export function amongMany(
  transactions: readonly Uint8Array[],
  coins: Coins,
  lie: (entries: Entries) => void = () => undefined,
  noted: readonly string[] = [],
): TestBlock {
  for (const transaction of transactions) {
    const { id, outputs } = partsOf(transaction)
    noteOutputs(id, outputs)
  }
  const outputs: Entries = new Map(coins.map(([reference, output]) => [hexOf(reference), output]))
  for (const key of fillers(measuredSizes.outputs, [...outputs.keys(), ...noted]))
    outputs.set(key, payment(1, 2_000_000n))
  return blockOf(transactions, outputs, {
    entries(entries) {
      for (const key of fillers(measuredSizes.entries, [...entries.keys(), ...noted], measuredSizes.outputs))
        entries.set(key, outputRecord(0n, 1n, payment(1, 2_000_000n)))
      lie(entries)
    },
    header: { operatorVkey: operator.hash },
  })
}
