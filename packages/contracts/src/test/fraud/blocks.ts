import {
  bodyOf,
  type Deposit,
  deriveBlock,
  type FeeTarget,
  type Header,
  outputRecordLength,
  transactionKey,
} from '@ratatosk/block'
import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256, encodeOutputReference, type OutputReference } from '@ratatosk/ledger'
import type { AccusedBlock, EventMaps } from '@ratatosk/protocol/fraud'
import { createMemoryStore, createTrie, type Trie, type TrieEntry, type TrieView } from '@ratatosk/trie'
import { provableVersion } from '../../layout.js'

/** A map by hex key. */
export type Entries = Map<string, Uint8Array>

/** A block that is proven by its tries, honest or not. */
export interface TestBlock extends AccusedBlock {
  readonly after: TrieView
  readonly events: Required<EventMaps>
  readonly chunks: readonly Uint8Array[]
  readonly entries: Entries
  readonly outputsBefore: Entries
  readonly outputsAfter: Entries
}

/** A false statement of an operator. Each changes a map in place, before its root is taken. */
export interface Lie {
  readonly entries?: (entries: Entries) => void
  readonly before?: (outputs: Entries) => void
  readonly after?: (outputs: Entries) => void
  readonly deposits?: (outputs: Entries) => void
  readonly withdrawals?: (outputs: Entries) => void
  readonly header?: Partial<Header>
  /** Bytes of chunks that the accuser knows. */
  readonly chunks?: readonly Uint8Array[]
}

const trieOf = (entries: Entries): Trie => {
  const trie = createTrie({ store: createMemoryStore(), history: 0 })
  trie.update(Array.from(entries, ([key, value]) => ({ type: 'insert', key: fromHex(key), value })))
  return trie
}

/** Tries of outputs that blocks began with, by their map, which does not change. */
const begun = new WeakMap<Entries, Trie>()

function trieBeginning(outputs: Entries): Trie {
  const trie = begun.get(outputs) ?? trieOf(outputs)
  begun.set(outputs, trie)
  return trie
}

/** Deposits that a block credits, ascending by id, and the bridge through which outputs leave. */
export interface Bridged {
  readonly deposits: readonly Deposit[]
  readonly bridge: Uint8Array
  /** Whom the fees go to; no one by default. */
  readonly feesTo?: FeeTarget
}

/** The operator of blocks. */
const operator = { prevHeaderHash: new Uint8Array(28), operatorVkey: new Uint8Array(28).fill(1) }
/** Whom an honest block with a bridge pays its fees to. */
export const feesTo: FeeTarget = { ...operator, networkId: 0 }

const entriesOf = (entries: Iterable<TrieEntry>): Entries =>
  new Map(Array.from(entries, ([key, value]) => [toHex(key), value]))

/** The block that follows from transactions and the outputs before them, but for a lie. */
export function blockOf(
  transactions: readonly Uint8Array[],
  outputs: Entries,
  lie: Lie = {},
  bridged: Partial<Bridged> = {},
): TestBlock {
  const hashes = new Map(Array.from(outputs, ([key, output]) => [key, blake2b256(output)]))
  const derived = deriveBlock(transactions, (outref) => hashes.get(toHex(outref)), bridged)
  const entries = entriesOf(derived.entries())
  const [deposits, withdrawals] = [entriesOf(derived.deposits()), entriesOf(derived.withdrawals())]
  const before = lie.before === undefined ? outputs : new Map(outputs)
  const after = new Map([...outputs, ...deposits])
  for (const { outref, createdBy, spentBy } of derived.outputs.values()) {
    if (spentBy !== undefined) after.delete(toHex(outref))
    else if (createdBy !== undefined) after.set(toHex(outref), draftedOutput(outref))
  }
  lie.entries?.(entries)
  lie.before?.(before)
  lie.after?.(after)
  lie.deposits?.(deposits)
  lie.withdrawals?.(withdrawals)
  const trieBefore = trieBeginning(before)
  const [map, trieAfter] = [trieOf(entries), trieOf(after)]
  const events = { deposits: trieOf(deposits), withdrawals: trieOf(withdrawals) }
  return {
    ...bridged,
    deposits: bodyOf(transactions, bridged).deposits ?? [],
    events,
    header: {
      prevUtxosRoot: trieBefore.root,
      utxosRoot: trieAfter.root,
      transactionsRoot: map.root,
      depositsRoot: events.deposits.root,
      withdrawalsRoot: events.withdrawals.root,
      startTime: 1_700_000_000_000n,
      endTime: 1_700_000_030_000n,
      ...operator,
      blockVersion: provableVersion,
      ...lie.header,
    },
    transactions,
    map,
    valueOf: (key) => entries.get(toHex(key)),
    entriesOfMap: () => Array.from(entries, ([key, value]) => [fromHex(key), value] as const),
    before: trieBefore,
    outputBefore: (key) => before.get(toHex(key)),
    after: trieAfter,
    chunks: lie.chunks ?? [],
    entries,
    outputsBefore: before,
    outputsAfter: after,
  }
}

/** The outputs of the drafted transactions by reference: the state after a block without decoding. */
const drafted = new Map<string, Uint8Array>()

function draftedOutput(outref: Uint8Array): Uint8Array {
  const output = drafted.get(toHex(outref))
  if (output === undefined)
    throw new RangeError(`No transaction was drafted with the output ${toHex(outref)}`)
  return output
}

/** Makes the outputs of a transaction known to {@link blockOf}. */
export function noteOutputs(id: Uint8Array, outputs: readonly Uint8Array[]): void {
  outputs.forEach((output, index) => {
    drafted.set(toHex(encodeOutputReference({ transactionId: id, index })), output)
  })
}

export interface Draft {
  readonly inputs: readonly OutputReference[]
  readonly referenceInputs?: readonly OutputReference[]
  readonly outputs: readonly Uint8Array[]
  readonly fee: bigint
  /** Whether lists and maps have indefinite length. */
  readonly indefinite?: boolean
  readonly auxiliaryData?: Uint8Array
}

export interface Drafted {
  readonly id: Uint8Array
  readonly body: Uint8Array
  readonly cbor: Uint8Array
}

/** Encodes a transaction without witnesses: frauds of the ledger policy need none. */
export function draft({ inputs, referenceInputs = [], outputs, fee, ...options }: Draft): Drafted {
  const { indefinite = false, auxiliaryData } = options
  const writer = new CborWriter(4096)
  const list = (items: readonly Uint8Array[]) => {
    if (indefinite) writer.indefiniteArray()
    else writer.array(items.length)
    for (const item of items) writer.raw(item)
    if (indefinite) writer.break()
  }
  writer.map(3 + Number(referenceInputs.length > 0) + Number(auxiliaryData !== undefined)).uint(0)
  if (!indefinite) writer.tag(258)
  list(inputs.map(encodeOutputReference))
  writer.uint(1)
  list(outputs)
  writer.uint(2).uint(fee)
  if (auxiliaryData) writer.uint(7).bytes(blake2b256(auxiliaryData))
  if (referenceInputs.length > 0) {
    writer.uint(18)
    list(referenceInputs.map(encodeOutputReference))
  }
  const body = writer.toBytes()
  const id = blake2b256(body)
  noteOutputs(id, outputs)
  const rest = auxiliaryData ?? Uint8Array.of(0xf6)
  const cbor = new CborWriter(4096).array(4).raw(body).map(0).boolean(true).raw(rest).toBytes()
  return { id, body, cbor }
}

/** An output at a key's address. */
export const payment = (key: number, lovelace: bigint): Uint8Array =>
  paymentTo(Uint8Array.of(0x60, ...new Uint8Array(28).fill(key)), lovelace)

const paymentTo = (address: Uint8Array, lovelace: bigint): Uint8Array =>
  new CborWriter(64).map(2).uint(0).bytes(address).uint(1).uint(lovelace).toBytes()

export const bridge = new Uint8Array(28).fill(0xbb)

/** An output that leaves layer 2 through the bridge. */
export const leaving = (lovelace: bigint): Uint8Array => paymentTo(Uint8Array.of(0x70, ...bridge), lovelace)

export const outputOf = ({ id }: Drafted, index: number): OutputReference => ({ transactionId: id, index })
export const keyOf = encodeOutputReference
export const hexOf = (reference: OutputReference): string => toHex(encodeOutputReference(reference))
export const hexOfPosition = (position: number): string => toHex(transactionKey(position))

const genesis = (index: number): OutputReference => ({ transactionId: new Uint8Array(32).fill(0xaa), index })

/** One block: three transactions over 40 outputs. The first makes what the others spend and read. */
const [coin0, coin1, coin2, coin3, coin4] = [0, 1, 2, 30, 31].map(genesis) as [
  OutputReference,
  OutputReference,
  OutputReference,
  OutputReference,
  OutputReference,
]

export { coin0, coin1, coin2, coin3, coin4 }
export const outputsBefore = (): Entries =>
  new Map(Array.from({ length: 40 }, (_, index) => [hexOf(genesis(index)), payment(index, 5_000_000n)]))

export const first = draft({
  inputs: [coin0, coin1],
  referenceInputs: [coin2],
  outputs: [payment(60, 3_000_000n), payment(61, 3_000_000n), payment(62, 3_999_900n)],
  fee: 100n,
})
export const second = draft({
  inputs: [outputOf(first, 0)],
  referenceInputs: [outputOf(first, 1), coin2],
  outputs: [payment(63, 1_000_000n), payment(64, 1_999_950n)],
  fee: 50n,
  indefinite: true,
})
export const third = draft({
  inputs: [outputOf(first, 2), coin3],
  outputs: [payment(65, 8_999_893n)],
  fee: 7n,
})
export const story = [first.cbor, second.cbor, third.cbor] as const
export const honestBlock = blockOf(story, outputsBefore())

/** Two deposits: the first is spent, the second read. */
const deposits: readonly Deposit[] = [1, 2].map((number) => ({
  id: new Uint8Array(32).fill(number),
  output: payment(80 + number, 6_000_000n),
}))
const [deposited, kept] = deposits.map(({ id }) => ({ transactionId: id, index: 0 })) as [
  OutputReference,
  OutputReference,
]

export { deposited, kept }

/** A transaction of which output 1 leaves. */
const withdrawing = draft({
  inputs: [coin4, deposited],
  referenceInputs: [kept],
  outputs: [payment(66, 7_999_990n), leaving(3_000_000n)],
  fee: 10n,
})
export const left = outputOf(withdrawing, 1)

/** The story, with deposits and a withdrawal. */
export const bridgedBlockOf = (lie?: Lie, ...more: readonly Uint8Array[]): TestBlock =>
  blockOf([...story, withdrawing.cbor, ...more], outputsBefore(), lie, { deposits, bridge })
export const bridgedBlock = bridgedBlockOf()

/** An output that never was. */
export const ghost: OutputReference = { transactionId: new Uint8Array(32).fill(0xee), index: 0 }

export function patch(entries: Entries, key: string, offset: number, bytes: Uint8Array): void {
  const value = Uint8Array.from(entries.get(key)!)
  value.set(bytes, offset)
  entries.set(key, value)
}

/** A number in 8 bytes. */
export function eight(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, value)
  return bytes
}

export function outputRecord(created: bigint, spent: bigint, output: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(outputRecordLength)
  bytes.set(eight(created), 0)
  bytes.set(eight(spent), 8)
  bytes.set(blake2b256(output), 16)
  return bytes
}

/** The sizes of the maps in which proofs are measured. */
export const measuredSizes = { entries: 40_000, outputs: 1_000_000 } as const

/** The first three nibbles of the path of a key. */
function branchOf(key: Uint8Array): number {
  const path = blake2b256(key)
  return (path[0]! << 4) | (path[1]! >> 4)
}

/** The CBOR of references to output 0 of numbered transaction ids; the next overwrites the same bytes. */
function* numbered(count: number, from: number): Generator<Uint8Array, void> {
  const key = Buffer.from(hexOf({ transactionId: new Uint8Array(32), index: 0 }), 'hex')
  for (let i = 0; i < count; i++) {
    key.writeUInt32BE(from + i, 3)
    yield key
  }
}

/**
 * Keys that make the proofs of some keys as long as in a map of so many. Of the others of that map only one
 * is left in each branch: a proof has the hash of a branch only.
 * @param keys in hex, whose branches are whole
 * @param from the first number: other numbers are other keys
 */
export function fillers(count: number, keys: Iterable<string>, from = 0): string[] {
  const whole = new Set(Array.from(keys, (key) => branchOf(fromHex(key))))
  const seen = new Set<number>()
  const kept: string[] = []
  for (const key of numbered(count, from)) {
    const branch = branchOf(key)
    if (seen.has(branch) && !whole.has(branch)) continue
    seen.add(branch)
    kept.push(Buffer.from(key).toString('hex'))
  }
  return kept
}
