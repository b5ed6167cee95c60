import { rootOf, type TrieEntry } from '@ratatosk/trie'
import { blake2b256 } from './header.js'
import type { AuditedTransaction } from './transaction.js'

export interface MapOutput {
  /** CBOR of the reference. */
  readonly outref: Uint8Array
  /** Position of the transaction that makes it, plus 1; 0 if it is older than the block, or a deposit. */
  created: number
  /** Position of the first transaction that spends it, plus 1; 0 if none does. */
  spent: number
  /** CBOR; undefined if no such output is known. */
  output: Uint8Array | undefined
  /** Whether it comes from a deposit of the block. */
  readonly isDeposit?: boolean
  /** Whether it is paid to the bridge, and so leaves layer 2 at once. */
  leaves?: boolean
}

/** Whether a block has not brought an output. */
export const isOlder = ({ created, isDeposit = false }: MapOutput): boolean => created === 0 && !isDeposit

/** Whether it is unspent behind the transactions so far. */
export const isLeft = ({ spent, leaves = false }: MapOutput): boolean => spent === 0 && !leaves

/** The effects of a block, from which its transactions map follows. See docs/block-body.md. */
interface BlockEffects {
  readonly transactions: readonly AuditedTransaction[]
  readonly chunks: readonly Chunk[]
  /** By the key of the reference. */
  readonly outputs: ReadonlyMap<string, MapOutput>
  /** CBOR of an output that the block only reads. */
  readonly before: (key: string) => Uint8Array | undefined
}

const unknownOutput = new Uint8Array(32)
/** 2^63 in the place of a spender. */
const throughBridge = Uint8Array.of(0x80, 0, 0, 0, 0, 0, 0, 0)
const kindOfTransaction = 2
const kindOfChunk = 3

/** The root of the transactions map, 32 bytes. */
export function transactionsRootOf(effects: BlockEffects, pause: () => Promise<void>): Promise<Uint8Array> {
  return rootOf(entriesOf(effects), pause)
}

/** The roots of the outputs that come from deposits, and of those that leave layer 2. */
export async function eventRootsOf(outputs: Iterable<MapOutput>, pause: () => Promise<void>) {
  const deposits: TrieEntry[] = []
  const withdrawals: TrieEntry[] = []
  for (const { outref, output, isDeposit, leaves } of outputs) {
    if (output === undefined) continue
    if (isDeposit === true) deposits.push([outref, output])
    if (leaves === true) withdrawals.push([outref, output])
  }
  return { deposits: await rootOf(deposits, pause), withdrawals: await rootOf(withdrawals, pause) }
}

function* entriesOf({ transactions, chunks, outputs, before }: BlockEffects): Generator<TrieEntry, void> {
  const hashes = new Map<string, Uint8Array>()
  const hashOf = (key: string): Uint8Array => {
    let hash = hashes.get(key)
    if (hash === undefined) {
      const cbor = outputs.has(key) ? outputs.get(key)?.output : before(key)
      hash = cbor === undefined ? unknownOutput : blake2b256(cbor)
      hashes.set(key, hash)
    }
    return hash
  }
  let fees = 0n
  for (const [position, transaction] of transactions.entries()) {
    const { id, body, witnessSet, inputs, referenceInputs, fee } = transaction
    fees = BigInt.asUintN(64, fees + fee)
    const resolved = new Uint8Array(32 * (inputs.length + referenceInputs.length))
    let end = 0
    for (const { key } of inputs) resolved.set(hashOf(key), 32 * end++)
    for (const { key } of referenceInputs) resolved.set(hashOf(key), 32 * end++)
    const record = new Uint8Array(113)
    record[0] = kindOfTransaction
    record.set(id, 1)
    record.set(blake2b256(witnessSet), 33)
    record.set(blake2b256(resolved), 65)
    const view = new DataView(record.buffer)
    view.setBigUint64(97, fees)
    view.setUint32(105, body.length)
    view.setUint32(109, witnessSet.length)
    yield [bigEndian(position), record]
  }
  for (const [number, { first, hash }] of chunks.entries()) {
    const record = new Uint8Array(49)
    record[0] = kindOfChunk
    record.set(bigEndian(first), 1)
    record.set(bigEndian(chunks.length), 9)
    record.set(hash, 17)
    yield [bigEndian(number).subarray(4), record]
  }
  for (const [key, { outref, created, spent, leaves = false }] of outputs) {
    const record = new Uint8Array(48)
    record.set(bigEndian(created), 0)
    record.set(leaves ? throughBridge : bigEndian(spent), 8)
    record.set(hashOf(key), 16)
    yield [outref, record]
  }
}

function bigEndian(number: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(number))
  return bytes
}

/** A chunk of more than one transaction has at most as many bytes. */
const maxLength = 12_288

/** A block has at most as many. */
export const maxChunks = 1024

/** Consecutive transactions of a block. */
interface Chunk {
  readonly first: number
  /** Blake2b-256 of the frames of its transactions. */
  readonly hash: Uint8Array
}

/** Cuts the transactions of a block into chunks, each with as many as fit. See docs/block-body.md. */
export function createChunks() {
  const chunks: Chunk[] = []
  let frames: Uint8Array[] = []
  let length = 0
  let first = 0
  let position = 0

  function complete(): void {
    if (frames.length > 0) chunks.push({ first, hash: blake2b256(Buffer.concat(frames, length)) })
    frames = []
    length = 0
    first = position
  }

  return {
    add({ body, witnessSet, rest }: AuditedTransaction): void {
      const parts = [body, witnessSet, rest].flatMap((part) => [lengthOf(part), part])
      const added = parts.reduce((sum, part) => sum + part.length, 0)
      if (length + added > maxLength) complete()
      frames.push(...parts)
      length += added
      position++
    },

    /** All chunks, once every transaction is added. */
    end(): readonly Chunk[] {
      complete()
      return chunks
    },
  }
}

function lengthOf(part: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, part.length)
  return bytes
}
