import { compareBytes, toHex } from '@ratatosk/cbor'
import { blake2b256, type OutputReference, outputReferenceKey, type Transaction } from '@ratatosk/ledger'
import type { TrieEntry, TrieOperation } from '@ratatosk/trie'
import type { BlockBody, ProducedOutput } from '../body.js'
import { BlockError, tooLarge } from '../errors.js'
import { type ChunkRecord, chunkKey, createChunker, encodeChunkRecord, maxChunks } from './chunks.js'
import { hashOf, newOutput, type Output, pathOf, unknownOutput } from './output-state.js'
import { type MovedParts, partsOf } from './parts.js'
import {
  encodeOutputRecord,
  encodeTransactionRecord,
  outputRecordLength,
  type TransactionRecord,
  transactionKey,
  transactionRecordLength,
} from './records.js'
import type { Derivation, DerivedBlock, OutputHashes } from './types.js'

/** The largest index that an input can name. Map and body leave out an output beyond it. */
const maxOutputIndex = 0xffff

interface Applied {
  readonly id: Uint8Array
  readonly witnessSetHash: Uint8Array
  readonly fee: bigint
  readonly inputs: readonly Output[]
  readonly referenceInputs: readonly OutputReference[]
  readonly bodyLength: number
  readonly witnessSetLength: number
}

/** Reads what a transaction moves whose body does not decode; undefined if that is nothing. */
export type ReadBody = (body: Uint8Array) => MovedParts | undefined

/**
 * Starts a {@link Derivation}.
 *
 * @param read gives what bodies that do not decode spend and produce: without it, nothing
 */
export function createDerivation(read?: ReadBody): Derivation {
  const outputs = new Map<string, Output>()
  const applied: Applied[] = []
  /** What has been spent or produced since operations were last given. */
  let news: Output[] = []
  /** The outputs that the block only reads, by `outputReferenceKey`. */
  let readOnly: Map<string, Output> | undefined
  let fault: BlockError | undefined
  const chunks: Omit<ChunkRecord, 'chunks'>[] = []
  const chunker = createChunker((first, bytes) => chunks.push({ first, chunkHash: blake2b256(bytes) }))

  /** @param key its `outputReferenceKey` */
  function outputOf(reference: OutputReference, key: string): Output {
    let output = outputs.get(key)
    if (output === undefined) {
      output = newOutput(reference)
      outputs.set(key, output)
    }
    if (!output.isNews) {
      output.isNews = true
      news.push(output)
    }
    return output
  }

  function outputsRead(): ReadonlyMap<string, Output> {
    if (readOnly !== undefined) return readOnly
    readOnly = new Map()
    for (const { referenceInputs } of applied) {
      for (const reference of referenceInputs) {
        const key = outputReferenceKey(reference)
        if (!outputs.has(key) && !readOnly.has(key)) readOnly.set(key, newOutput(reference))
      }
    }
    return readOnly
  }

  function spend(reference: OutputReference, position: number): Output {
    const key = outputReferenceKey(reference)
    const output = outputOf(reference, key)
    if (output.spentBy === undefined) output.spentBy = position
    else
      fault ??= contradiction(
        'BLOCK_DOUBLE_SPEND',
        `Transaction ${position} spends ${key} a second time`,
        key,
        position,
      )
    return output
  }

  function produce(reference: OutputReference, key: string, cbor: Uint8Array, position: number): void {
    const output = outputOf(reference, key)
    if (output.createdBy !== undefined) {
      fault ??= contradiction(
        'BLOCK_OUTPUT_EXISTS',
        `Transaction ${position} produces ${key} a second time`,
        key,
        position,
      )
      return
    }
    if (output.spentBy !== undefined)
      fault ??= contradiction(
        'BLOCK_SPENT_BEFORE_PRODUCED',
        `Transaction ${output.spentBy} spends ${key}, which transaction ${position} produces`,
        key,
        position,
      )
    output.createdBy = position
    output.output = cbor
  }

  return {
    get fault() {
      return fault
    },

    add(transaction) {
      const position = applied.length
      const parts = partsOf(transaction)
      if (!parts.isDecoded || !parts.isFramed) fault ??= malformed(position, parts.isDecoded)
      chunker.add(parts)
      if (chunker.count > maxChunks) fault ??= tooLarge(position)
      const moved = (parts.isDecoded ? undefined : read?.(parts.body)) ?? parts
      const inputs = moved.inputs.map((reference) => spend(reference, position))
      const id = toHex(parts.id)
      for (const [index, output] of moved.outputs.entries()) {
        if (index > maxOutputIndex) break
        // As `outputReferenceKey` writes it, with the digits of the id written once.
        produce({ transactionId: parts.id, index }, `${id}#${index}`, output, position)
      }
      applied.push({
        id: parts.id,
        witnessSetHash: blake2b256(parts.witnessSet),
        fee: moved.fee,
        inputs,
        referenceInputs: moved.referenceInputs,
        bodyLength: parts.body.length,
        witnessSetLength: parts.witnessSet.length,
      })
    },

    diff() {
      const spent: Uint8Array[] = []
      const produced: ProducedOutput[] = []
      for (const { outref, createdBy, spentBy, output } of outputs.values()) {
        if (createdBy === undefined) spent.push(outref)
        else if (spentBy === undefined && output !== undefined) produced.push({ outref, output })
      }
      return {
        spent: spent.sort(compareBytes),
        produced: produced.sort((a, b) => compareBytes(a.outref, b.outref)),
      }
    },

    operations() {
      const operations: TrieOperation[] = []
      for (const output of news) {
        const { outref: key, createdBy, spentBy, given } = output
        output.isNews = false
        if (createdBy !== undefined && spentBy === undefined) {
          operations.push({ type: 'insert', key, path: pathOf(output), valueHash: hashOf(output) })
          output.given = 'insert'
        } else if (given === 'insert' || (createdBy === undefined && given === undefined)) {
          operations.push({ type: 'delete', key, path: pathOf(output) })
          output.given = 'delete'
        }
      }
      news = []
      return operations
    },

    *read(): Generator<Uint8Array, void> {
      for (const { outref } of outputsRead().values()) yield outref
    },

    derive(before) {
      const read = outputsRead()
      for (const output of outputs.values()) {
        if (output.output === undefined) output.outputHash = before(output.outref) ?? unknownOutput
        else hashOf(output)
      }
      for (const output of read.values()) output.outputHash = before(output.outref) ?? unknownOutput
      const hashRead = (reference: OutputReference): Uint8Array => {
        const key = outputReferenceKey(reference)
        return (outputs.get(key) ?? read.get(key))?.outputHash ?? unknownOutput
      }
      let feesSoFar = 0n
      const transactions = applied.map(({ fee, inputs, referenceInputs, ...record }): TransactionRecord => {
        feesSoFar = BigInt.asUintN(64, feesSoFar + fee)
        const hashes = new Uint8Array(32 * (inputs.length + referenceInputs.length))
        let end = 0
        for (const { outputHash } of inputs) hashes.set(outputHash, 32 * end++)
        for (const reference of referenceInputs) hashes.set(hashRead(reference), 32 * end++)
        return { kind: 'transaction', ...record, resolved: blake2b256(hashes), feesSoFar }
      })
      chunker.end()
      const chunkRecords = chunks.map((chunk) => ({ ...chunk, chunks: chunks.length }))
      function* chunkEntries(): Generator<TrieEntry, void> {
        for (const [number, chunk] of chunkRecords.entries())
          yield [chunkKey(number), encodeChunkRecord(chunk)]
      }
      return {
        transactions,
        chunks: chunkRecords,
        outputs,
        *entries(): Generator<TrieEntry, void> {
          for (const [position, record] of transactions.entries())
            yield [transactionKey(position), encodeTransactionRecord(record)]
          yield* chunkEntries()
          for (const output of outputs.values()) yield [output.outref, encodeOutputRecord(output)]
        },
        *sharedEntries(): Generator<TrieEntry, void> {
          const shared = sharedMemory()
          for (const [position, record] of transactions.entries())
            yield [
              transactionKey(position, shared.key),
              encodeTransactionRecord(record, shared.transactionRecord),
            ]
          yield* chunkEntries()
          for (const output of outputs.values())
            yield [output.outref, encodeOutputRecord(output, shared.outputRecord), output.path]
        },
      }
    },
  }
}

// Views of a larger buffer, which native code reads without moving them first.
function sharedMemory() {
  const memory = new Uint8Array(1024)
  return {
    key: memory.subarray(0, 8),
    outputRecord: memory.subarray(8, 8 + outputRecordLength),
    transactionRecord: memory.subarray(8, 8 + transactionRecordLength),
  }
}

/**
 * Derives the transactions map of a block; see {@link Derivation}.
 *
 * @param transactions CBOR of the transactions, or what they decode to, in block order
 * @param before the outputs before the block
 * @example
 * const derived = deriveBlock(body.transactions, trie.outputHash)
 * const map = await createTransactionsMap(derived)
 * equalBytes(map.root, header.transactionsRoot) // true
 */
export function deriveBlock(
  transactions: Iterable<Uint8Array | Transaction>,
  before: OutputHashes,
): DerivedBlock {
  const derivation = createDerivation()
  for (const transaction of transactions) derivation.add(transaction)
  return derivation.derive(before)
}

/**
 * The body of a block with these transactions: `spent` and `produced` follow from them. Total, like
 * {@link Derivation}.
 *
 * @param transactions CBOR as submitted, in block order
 * @example
 * encodeBlockBody(bodyOf(transactions))
 */
export function bodyOf(transactions: readonly Uint8Array[]): BlockBody {
  const derivation = createDerivation()
  for (const cbor of transactions) derivation.add(cbor)
  return { transactions, ...derivation.diff() }
}

const malformed = (position: number, isDecoded: boolean): BlockError =>
  new BlockError(
    'BLOCK_TRANSACTION_MALFORMED',
    isDecoded
      ? `Transaction ${position} has bytes besides its body and witness set that do not follow from them`
      : `Transaction ${position} of the block does not decode`,
    { position },
  )

function contradiction(
  code: 'BLOCK_DOUBLE_SPEND' | 'BLOCK_SPENT_BEFORE_PRODUCED' | 'BLOCK_OUTPUT_EXISTS',
  message: string,
  reference: string,
  position: number,
): BlockError {
  return new BlockError(code, message, { reference, position })
}
