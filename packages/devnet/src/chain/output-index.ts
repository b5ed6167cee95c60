import type { TransactionOutput } from '@ratatosk/ledger'
import { toHex } from '@ratatosk/ledger'
import type { ChainOutput, Place, UtxoQuery } from './types.js'

/** What {@link UtxoQuery} asks for, read: the address as its bytes in hex. */
export interface UtxoCriteria extends Omit<UtxoQuery, 'address'> {
  readonly address?: string
}

export type Spending = NonNullable<ChainOutput['spent']>

/** Every output that the chain has made, spent ones too; the unspent ones also by what wallets ask for. */
export interface OutputIndex {
  get(key: string): ChainOutput | undefined
  /** The unspent output of this key. */
  unspent(key: string): TransactionOutput | undefined
  /** Unspent outputs, oldest first. */
  find(criteria: UtxoCriteria): ChainOutput[]
  /** All outputs, spent ones too, oldest first. */
  all(): ChainOutput[]
  /** Outputs of one transaction, spent ones too, in order. */
  of(transactionHash: string): ChainOutput[]
  /** Whether any output was ever made to the address (hex). */
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
  const made = new Map<string, number>()
  const live = new Set<Entry>()
  const byAddress = new Map<string, Set<Entry>>()
  const byCredential = new Map<string, Set<Entry>>()
  const byUnit = new Map<string, Set<Entry>>()

  function* places({ output }: Entry): Generator<[Map<string, Set<Entry>>, string]> {
    yield [byAddress, toHex(output.address.bytes)]
    const credential = paymentCredential(output)
    if (credential !== undefined) yield [byCredential, credential]
    for (const unit of units(output)) yield [byUnit, unit]
  }

  function enter(entry: Entry): void {
    live.add(entry)
    for (const [index, key] of places(entry)) put(index, key, entry)
  }

  function leave(entry: Entry): void {
    live.delete(entry)
    for (const [index, key] of places(entry)) take(index, key, entry)
  }

  /** The smallest set that holds all that is asked for. */
  function candidates(criteria: UtxoCriteria): Iterable<Entry> {
    const { references, transaction, address, paymentCredential, unit } = criteria
    if (references !== undefined) {
      return [...new Set(references)].flatMap((key) => outputs.get(key) ?? [])
    }
    if (transaction !== undefined) return byTransaction.get(transaction) ?? []
    if (unit !== undefined) return byUnit.get(unit) ?? []
    if (address !== undefined) return byAddress.get(address) ?? []
    if (paymentCredential !== undefined) return byCredential.get(paymentCredential) ?? []
    return live
  }

  function count(address: string, change: number): void {
    const number = (made.get(address) ?? 0) + change
    if (number === 0) made.delete(address)
    else made.set(address, number)
  }

  return {
    get: (key) => outputs.get(key),
    unspent(key) {
      const entry = outputs.get(key)
      return entry === undefined || entry.spent !== undefined ? undefined : entry.output
    },
    find(criteria) {
      const found: Entry[] = []
      for (const entry of candidates(criteria)) if (meets(entry, criteria)) found.push(entry)
      return found.sort(byAge)
    },
    all: () => [...outputs.values()].sort(byAge),
    of: (transactionHash) => [...(byTransaction.get(transactionHash) ?? [])].sort(byAge),
    knowsAddress: (address) => made.has(address),
    add(output) {
      const entry = { ...output }
      outputs.set(output.key, entry)
      put(byTransaction, output.transactionHash, entry)
      count(toHex(output.output.address.bytes), 1)
      enter(entry)
    },
    remove(key) {
      const entry = outputs.get(key)
      if (entry === undefined) return
      outputs.delete(key)
      take(byTransaction, entry.transactionHash, entry)
      count(toHex(entry.output.address.bytes), -1)
      leave(entry)
    },
    spend(key, spent) {
      const entry = outputs.get(key)
      if (entry === undefined) return
      entry.spent = spent
      leave(entry)
    },
    unspend(key) {
      const entry = outputs.get(key)
      if (entry === undefined) return
      delete entry.spent
      enter(entry)
    },
  }
}

/** Policy id and asset name, joined, of every native asset in an output. */
export function* units({ value }: TransactionOutput): Generator<string> {
  for (const [policy, names] of value.assets) for (const name of names.keys()) yield policy + name
}

export function paymentCredential({ address }: TransactionOutput): string | undefined {
  return 'payment' in address ? toHex(address.payment.hash) : undefined
}

function put(index: Map<string, Set<Entry>>, key: string, entry: Entry): void {
  const set = index.get(key)
  if (set === undefined) index.set(key, new Set([entry]))
  else set.add(entry)
}

function take(index: Map<string, Set<Entry>>, key: string, entry: Entry): void {
  const set = index.get(key)
  set?.delete(entry)
  if (set?.size === 0) index.delete(key)
}

function meets(entry: Entry, criteria: UtxoCriteria): boolean {
  const { transaction, address, paymentCredential: credential, unit } = criteria
  if (entry.spent !== undefined) return false
  if (transaction !== undefined && entry.transactionHash !== transaction) return false
  if (address !== undefined && toHex(entry.output.address.bytes) !== address) return false
  if (credential !== undefined && paymentCredential(entry.output) !== credential) return false
  return unit === undefined || [...units(entry.output)].includes(unit)
}

function byAge(a: ChainOutput, b: ChainOutput): number {
  return comparePlaces(a.created, b.created) || a.index - b.index
}

export function comparePlaces(a: Place, b: Place): number {
  return a.block.height - b.block.height || a.position - b.position
}
