import { equalBytes } from '@ratatosk/cbor'
import { outputReferenceKey, type Utxo, type Value } from '@ratatosk/ledger'
import { addValue, type BuiltTransaction, type Quantities } from '@ratatosk/ledger/builder'
import type { BridgeState, Settlement } from '@ratatosk/protocol'
import type { OwedEntry } from './owed.js'

const lovelaceUnit = 'lovelace'

/** The outputs that payouts of a settlement may spend: reserves, and deposits that are older than it. */
export function treasuryOf({ reserves, deposits }: BridgeState, { time }: Pick<Settlement, 'time'>): Utxo[] {
  return [...reserves, ...deposits.filter((deposit) => deposit.time < time).map(({ utxo }) => utxo)]
}

/** The value that a withdrawal takes from the treasury: nothing if it cannot be paid. */
export const amountOf = ({ withdrawal }: OwedEntry): Value =>
  withdrawal ?? { lovelace: 0n, assets: new Map() }

/** The sum of values. */
export function totalOf(values: Iterable<Value>): Quantities {
  const sum: Quantities = new Map()
  for (const value of values) addValue(sum, value)
  return sum
}

/** Whether quantities hold all of others. */
export function covers(held: ReadonlyMap<string, bigint>, needed: ReadonlyMap<string, bigint>): boolean {
  return [...needed].every(([unit, quantity]) => (held.get(unit) ?? 0n) >= quantity)
}

interface Source {
  readonly utxo: Utxo
  readonly holds: Quantities
}

/** A few outputs that hold what is needed; one that is no larger than necessary if one is enough. */
export function sourcesFor(treasury: readonly Utxo[], needed: Quantities): readonly Utxo[] | undefined {
  const sources = treasury.map((utxo): Source => ({ utxo, holds: totalOf([utxo.output.value]) }))
  const [least] = sources.filter(({ holds }) => covers(holds, needed)).sort(byQuantity(lovelaceUnit))
  if (least !== undefined) return [least.utxo]
  const missing = new Map(needed)
  const chosen = new Set<Source>()
  // Rare assets first: they bring ada with them.
  for (const unit of [...needed.keys()].sort((a) => (a === lovelaceUnit ? 1 : -1))) {
    for (const source of [...sources].sort(byQuantity(unit)).reverse()) {
      if ((missing.get(unit) ?? 0n) <= 0n) break
      if (chosen.has(source)) continue
      chosen.add(source)
      for (const [held, quantity] of source.holds) missing.set(held, (missing.get(held) ?? 0n) - quantity)
    }
    if ((missing.get(unit) ?? 0n) > 0n) return undefined
  }
  return withoutNeedless(chosen, missing).map(({ utxo }) => utxo)
}

const byQuantity =
  (unit: string) =>
  (a: Source, b: Source): number => {
    const difference = (a.holds.get(unit) ?? 0n) - (b.holds.get(unit) ?? 0n)
    return difference === 0n ? 0 : difference < 0n ? -1 : 1
  }

/** @param missing the units that are needed, less what is chosen */
function withoutNeedless(chosen: ReadonlySet<Source>, missing: Quantities): readonly Source[] {
  return [...chosen].filter(({ holds }) => {
    const isNeeded = [...missing].some(([unit, lacking]) => lacking + (holds.get(unit) ?? 0n) > 0n)
    if (!isNeeded)
      for (const [unit, quantity] of holds) missing.set(unit, (missing.get(unit) ?? 0n) + quantity)
    return isNeeded
  })
}

/** A transaction whose effect a read of layer 1 may not show yet. */
type Effect = Pick<BuiltTransaction, 'spent' | 'produced'>

/** The outputs at an address after transactions in flight. */
export interface Overlay<Each> {
  readonly utxos: readonly Utxo[]
  /** The transactions that have an effect on the given outputs. */
  readonly applied: ReadonlySet<Each>
}

/**
 * The outputs at an address after transactions in flight, in the order of building. One whose inputs at the
 * address are not all there has no effect: it is included already, or never will be.
 */
export function afterInFlight<Each extends Effect>(
  utxos: readonly Utxo[],
  inFlight: readonly Each[],
  address: Uint8Array,
): Overlay<Each> {
  const outputs = new Map(utxos.map((utxo) => [outputReferenceKey(utxo.reference), utxo]))
  const isHere = ({ output }: Utxo): boolean => equalBytes(output.address.bytes, address)
  const applied = new Set<Each>()
  for (const transaction of inFlight) {
    const keys = transaction.spent.filter(isHere).map(({ reference }) => outputReferenceKey(reference))
    if (!keys.every((key) => outputs.has(key))) continue
    applied.add(transaction)
    for (const key of keys) outputs.delete(key)
    for (const utxo of transaction.produced.filter(isHere))
      outputs.set(outputReferenceKey(utxo.reference), utxo)
  }
  return { utxos: [...outputs.values()], applied }
}
