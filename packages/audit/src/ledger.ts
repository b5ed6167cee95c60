import { toHex } from '@ratatosk/cbor'
import { createMemoryStore, createTrie, rootOf, type TrieOperation } from '@ratatosk/trie'
import { ada, type OutputValue, Sum, valueOfOutput } from './grammar/output.js'
import { outref, reasonOf } from './transaction.js'
import type { GenesisOutput } from './types.js'

interface Unspent {
  /** CBOR of its reference. */
  readonly outref: Uint8Array
  /** CBOR. */
  readonly output: Uint8Array
}

/** The changes of a block: all that is needed to undo it. */
export interface Change {
  readonly removed: readonly (readonly [key: string, unspent: Unspent])[]
  readonly added: readonly (readonly [key: string, unspent: Unspent])[]
  /** Lovelace. */
  readonly fees: bigint
  /** The value of the fee output. */
  readonly paid: OutputValue
  readonly minted: OutputValue
  /** The value of the deposits. */
  readonly deposited: OutputValue
  /** The value of what leaves through the bridge. */
  readonly withdrawn: OutputValue
  /** Its deposits: the id in hex, and the hash of the output. */
  readonly credits: readonly (readonly [id: string, hash: Uint8Array])[]
}

/** Moves no value. */
export const nothingMoved = {
  fees: 0n,
  paid: ada(0n),
  minted: ada(0n),
  deposited: ada(0n),
  withdrawn: ada(0n),
  credits: [],
} as const

/** The unspent outputs, rebuilt from nothing, and what they must hold together. */
export interface AuditedLedger {
  readonly size: number
  readonly root: Uint8Array
  readonly genesisValue: OutputValue
  /** The value of all unspent outputs, put together block by block. */
  readonly unspent: OutputValue
  readonly fees: bigint
  /** Lovelace of the fees that blocks pay to their operators. */
  readonly paid: bigint
  /** Lovelace that deposits have brought, and that has left through the bridge. */
  readonly deposited: bigint
  readonly withdrawn: bigint
  readonly mintedAssets: number
  /** Blake2b-256 of the output that a deposit is credited with; undefined if it is not. */
  creditOf(id: Uint8Array): Uint8Array | undefined
  isGenesis(key: string): boolean
  /** Whether the ledger began with an output of this transaction. @param id 64 hex digits */
  isGenesisId(id: string): boolean
  keys(): Iterable<string>
  /** CBOR of each output. */
  outputs(): Iterable<Uint8Array>
  get(key: string): Uint8Array | undefined
  apply(change: Change): void
  undo(change: Change): void
  /** The sum of all unspent outputs, what it should be, and the root of a map made of them from nothing. */
  recount(pause: () => Promise<void>): Promise<{ found: Sum; expected: Sum; root: Uint8Array }>
}

/** @throws TypeError if a genesis output does not decode or occurs twice */
export function createLedger(genesis: Iterable<GenesisOutput>): AuditedLedger {
  const unspent = new Map<string, Unspent>()
  const credits = new Map<string, Uint8Array>()
  const began = new Set<string>()
  const supply = new Sum()
  let fees = 0n
  const [paid, minted, deposited, withdrawn] = [new Sum(), new Sum(), new Sum(), new Sum()]
  for (const { reference, output } of genesis) {
    const { key, cbor } = outref(reference.transactionId, reference.index)
    if (began.has(key)) throw new TypeError(`@ratatosk/audit: the genesis has ${key} twice`)
    supply.add(valueOrThrow(key, output))
    began.add(key)
    unspent.set(key, { outref: cbor, output })
  }
  const held = new Sum().add(supply)
  const beganIds = new Set(Array.from(began, (key) => key.slice(0, key.indexOf('#'))))
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  trie.update(Array.from(unspent.values(), insertion))

  /** @param times 1 to apply a block, -1 to undo it */
  function change({ removed, added, ...values }: Change, times: 1n | -1n): void {
    const [gone, come] = times === 1n ? [removed, added] : [added, removed]
    for (const [key, { output }] of gone) {
      unspent.delete(key)
      held.add(valueOfOutput(output), -1n)
    }
    for (const [key, value] of come) {
      unspent.set(key, value)
      held.add(valueOfOutput(value.output))
    }
    for (const [id, hash] of values.credits) {
      if (times === 1n) credits.set(id, hash)
      else credits.delete(id)
    }
    const operations: TrieOperation[] = gone.map(([, { outref: key }]) => ({ type: 'delete', key }))
    for (const [, value] of come) operations.push(insertion(value))
    if (operations.length > 0) trie.update(operations)
    fees += times * values.fees
    paid.add(values.paid, times)
    minted.add(values.minted, times)
    deposited.add(values.deposited, times)
    withdrawn.add(values.withdrawn, times)
  }

  return {
    get size() {
      return unspent.size
    },
    get root() {
      return trie.root
    },
    genesisValue: supply,
    unspent: held,
    creditOf: (id) => credits.get(toHex(id)),
    get fees() {
      return fees
    },
    get paid() {
      return paid.lovelace
    },
    get deposited() {
      return deposited.lovelace
    },
    get withdrawn() {
      return withdrawn.lovelace
    },
    get mintedAssets() {
      return minted.assets.size
    },
    isGenesis: (key) => began.has(key),
    isGenesisId: (id) => beganIds.has(id),
    keys: () => unspent.keys(),
    *outputs() {
      for (const { output } of unspent.values()) yield output
    },
    get: (key) => unspent.get(key)?.output,
    apply: (block) => change(block, 1n),
    undo: (block) => change(block, -1n),

    async recount(pause) {
      const found = new Sum()
      const expected = new Sum().add(supply).add(minted).add(ada(-fees)).add(paid)
      expected.add(deposited).add(withdrawn, -1n)
      for (const [key, { output }] of unspent) {
        await pause()
        found.add(valueOrThrow(key, output))
      }
      const entries = function* () {
        for (const { outref: key, output } of unspent.values()) yield [key, output] as const
      }
      return { found, expected, root: await rootOf(entries(), pause) }
    },
  }
}

function insertion({ outref: key, output: value }: Unspent): TrieOperation {
  return { type: 'insert', key, value }
}

function valueOrThrow(key: string, output: Uint8Array): OutputValue {
  try {
    return valueOfOutput(output)
  } catch (error) {
    throw new TypeError(`@ratatosk/audit: the output ${key} (${toHex(output)}) ${reasonOf(error)}`)
  }
}
