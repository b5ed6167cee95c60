import { equalBytes, toHex } from '@ratatosk/cbor'
import type { Layer1, Wallet } from '@ratatosk/layer1'
import { decodeTransactionOutput, outputReferenceKey, type Utxo, type Value } from '@ratatosk/ledger'
import { addValue, type BuiltTransaction, type Quantities } from '@ratatosk/ledger/builder'
import type { Log } from '@ratatosk/ports'
import { type BridgeState, readBridge, type Settlement } from '@ratatosk/protocol'
import type { LedgerEntry } from '@ratatosk/store'
import type { OwedEntry } from './owed.js'
import type { BridgeContracts } from './types.js'

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

/** Reserves that the treasury gets at a time, so that payouts side by side need not share one. */
const pieces = 4n

/** Options of {@link backGenesis}. */
export interface BackGenesisOptions {
  readonly layer1: Layer1
  readonly contracts: BridgeContracts
  /** The outputs of layer 2 that no deposit backs. */
  readonly genesis: readonly LedgerEntry[]
  /** Pay in this order, each as much as it has but for `spared`. */
  readonly wallets: readonly Wallet[]
  /** Lovelace that stays with each wallet. @defaultValue 200 ada */
  readonly spared?: bigint
  readonly log?: Log
  readonly signal?: AbortSignal
}

/** The money of a treasury for a genesis, in lovelace. */
export interface Backing {
  /** The sum that layer 2 starts with. */
  readonly genesis: bigint
  /** The sum that the treasury has now, transactions in flight included. */
  readonly treasury: bigint
  /** Ids of the transactions that were sent, 64 hex digits. */
  readonly txHashes: readonly string[]
}

/**
 * Pays reserves to the treasury until they hold the ada of a genesis, for a devnet whose ledger starts with
 * outputs that no one has deposited.
 *
 * @returns `treasury` < `genesis` if the wallets have too little
 * @throws {Layer1Error} (rejects)
 * @throws {WalletError} (rejects)
 */
export async function backGenesis(options: BackGenesisOptions): Promise<Backing> {
  const { layer1, contracts, wallets, spared = 200_000_000n, log, signal } = options
  const call = signal ? { signal } : {}
  const { place, terms } = contracts.bridge
  const genesis = options.genesis
    .map(({ output }) => decodeTransactionOutput(output).value.lovelace)
    .reduce((sum, lovelace) => sum + lovelace, 0n)
  const { utxos } = await layer1.utxosAsOf(place.addressText, call)
  let treasury = readBridge(contracts, utxos)
    .reserves.map(({ output }) => output.value.lovelace)
    .reduce((sum, lovelace) => sum + lovelace, 0n)
  const txHashes: string[] = []
  for (const wallet of wallets) {
    const has = (await wallet.balance(call)).lovelace - spared
    const missing = genesis - treasury
    if (has < terms.reserveMin || missing < terms.reserveMin) continue
    const amount = lesser(has, missing)
    const count = amount / pieces < terms.reserveMin ? 1n : pieces
    const outputs = Array.from({ length: Number(count) }, (_, index) => ({
      address: place.address,
      lovelace: amount / count + (index === 0 ? amount % count : 0n),
    }))
    const { id } = await wallet.send({ outputs }, call)
    treasury += amount
    txHashes.push(toHex(id))
  }
  log?.info({ genesis: Number(genesis), treasury: Number(treasury) }, 'The treasury backs the genesis')
  return { genesis, treasury, txHashes }
}

const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)
