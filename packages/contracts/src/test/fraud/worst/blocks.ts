import { partsOf } from '@ratatosk/block'
import { blake2b256, type OutputReference } from '@ratatosk/ledger'
import { deepened, freeMap, leavesOf, nodeOf } from '../../../../../fraud/dist/test/free-map.js'
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

/** The ways to entries: as in a map of {@link measuredSizes}, or as deep as in a false map. */
export type Ways = 'many' | 'deep'

/** A block of transactions over many outputs. */
export function amongMany(
  ways: Ways,
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
  const block = blockOf(transactions, outputs, {
    entries(entries) {
      const others = ways === 'many' ? measuredSizes.entries : 0
      for (const key of fillers(others, [...entries.keys(), ...noted], measuredSizes.outputs))
        entries.set(key, outputRecord(0n, 1n, payment(1, 2_000_000n)))
      lie(entries)
    },
    header: { operatorVkey: operator.hash },
  })
  return ways === 'many' ? block : withDeepWays(block)
}

/** A block with the same transactions map, but each entry behind as many branches as fit into a path. */
function withDeepWays(block: TestBlock): TestBlock {
  const deep = freeMap(deepened(nodeOf(leavesOf(block.entries))))
  const prove = (key: Uint8Array) => deep.openPath(blake2b256(key)).proof
  return {
    ...block,
    header: { ...block.header, transactionsRoot: deep.root },
    map: { prove, proveAbsence: prove, openPath: deep.openPath },
  }
}
