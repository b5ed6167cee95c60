import { toHex } from '@ratatosk/cbor'
import { comparePlaces, holdsFor, paymentCredential, units } from '@ratatosk/chain-apis'
import type { TransactionOutput } from '@ratatosk/ledger'
import type { ChainOutput, UtxoQuery } from './types.js'

type Spending = NonNullable<ChainOutput['spent']>

/** All outputs of the chain; the unspent ones by address, credential, policy and asset. */
export interface OutputIndex {
  get(key: string): ChainOutput | undefined
  unspent(key: string): TransactionOutput | undefined
  /** Unspent outputs, oldest first; the query's `address` is the hex of the address bytes. */
  find(query: UtxoQuery): ChainOutput[]
  /** All outputs including spent ones, oldest first. */
  all(): ChainOutput[]
  /** The outputs of one transaction including spent ones, by index. */
  of(transactionHash: string): ChainOutput[]
  /** True if any output was ever sent to the address, given as the hex of its bytes. */
  knowsAddress(address: string): boolean
  add(output: ChainOutput): void
  remove(key: string): void
  spend(key: string, spent: Spending): void
  unspend(key: string): void
}

type Entry = { -readonly [field in keyof ChainOutput]: ChainOutput[field] }

export function createOutputIndex(): OutputIndex {
  const outputs = new Map<string, Entry>()
  const byTransaction = new Map<string, Set<Entry>>()
  const outputsPerAddress = new Map<string, number>()
  const unspent = new Set<Entry>()
  const unspentByAddress = new Map<string, Set<Entry>>()
  const unspentByCredential = new Map<string, Set<Entry>>()
  const unspentByPolicy = new Map<string, Set<Entry>>()
  const unspentByUnit = new Map<string, Set<Entry>>()

  function* indexKeys({ output }: Entry): Generator<[Map<string, Set<Entry>>, string]> {
    yield [unspentByAddress, toHex(output.address.bytes)]
    const credential = paymentCredential(output)
    if (credential !== undefined) yield [unspentByCredential, credential]
    for (const policy of output.value.assets.keys()) yield [unspentByPolicy, policy]
    for (const unit of units(output)) yield [unspentByUnit, unit]
  }

  function addUnspent(entry: Entry): void {
    unspent.add(entry)
    for (const [index, key] of indexKeys(entry)) addTo(index, key, entry)
  }

  function removeUnspent(entry: Entry): void {
    unspent.delete(entry)
    for (const [index, key] of indexKeys(entry)) removeFrom(index, key, entry)
  }

  /** The smallest indexed set that contains every match. */
  function candidates(query: UtxoQuery): Iterable<Entry> {
    const { references, transaction, address, paymentCredential, policy, unit } = query
    if (references !== undefined) {
      return [...new Set(references)].flatMap((key) => outputs.get(key) ?? [])
    }
    if (transaction !== undefined) return byTransaction.get(transaction) ?? []
    if (unit !== undefined) return unspentByUnit.get(unit) ?? []
    if (policy !== undefined) return unspentByPolicy.get(policy) ?? []
    if (address !== undefined) return unspentByAddress.get(address) ?? []
    if (paymentCredential !== undefined) return unspentByCredential.get(paymentCredential) ?? []
    return unspent
  }

  function countAddress({ output }: ChainOutput, change: number): void {
    const address = toHex(output.address.bytes)
    const count = (outputsPerAddress.get(address) ?? 0) + change
    if (count === 0) outputsPerAddress.delete(address)
    else outputsPerAddress.set(address, count)
  }

  return {
    get: (key) => outputs.get(key),
    unspent(key) {
      const entry = outputs.get(key)
      return entry === undefined || entry.spent !== undefined ? undefined : entry.output
    },
    find(query) {
      const found: Entry[] = []
      for (const entry of candidates(query)) if (matches(entry, query)) found.push(entry)
      return found.sort(byAge)
    },
    all: () => [...outputs.values()].sort(byAge),
    of: (transactionHash) => [...(byTransaction.get(transactionHash) ?? [])].sort(byAge),
    knowsAddress: (address) => outputsPerAddress.has(address),
    add(output) {
      const entry = { ...output }
      outputs.set(output.key, entry)
      addTo(byTransaction, output.transactionHash, entry)
      countAddress(output, 1)
      addUnspent(entry)
    },
    remove(key) {
      const entry = outputs.get(key)
      if (entry === undefined) return
      outputs.delete(key)
      removeFrom(byTransaction, entry.transactionHash, entry)
      countAddress(entry, -1)
      removeUnspent(entry)
    },
    spend(key, spent) {
      const entry = outputs.get(key)
      if (entry === undefined) return
      entry.spent = spent
      removeUnspent(entry)
    },
    unspend(key) {
      const entry = outputs.get(key)
      if (entry === undefined) return
      delete entry.spent
      addUnspent(entry)
    },
  }
}

function addTo(index: Map<string, Set<Entry>>, key: string, entry: Entry): void {
  const set = index.get(key)
  if (set === undefined) index.set(key, new Set([entry]))
  else set.add(entry)
}

function removeFrom(index: Map<string, Set<Entry>>, key: string, entry: Entry): void {
  const set = index.get(key)
  set?.delete(entry)
  if (set?.size === 0) index.delete(key)
}

function matches(entry: Entry, query: UtxoQuery): boolean {
  const { transaction } = query
  if (entry.spent !== undefined) return false
  if (transaction !== undefined && entry.transactionHash !== transaction) return false
  return holdsFor(entry.output, query)
}

function byAge(a: ChainOutput, b: ChainOutput): number {
  return comparePlaces(a.created, b.created) || a.index - b.index
}
