import { compareBytes, toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  encodeOutputReference,
  type OutputReference,
  outputReferenceKey,
  type Transaction,
} from '@ratatosk/ledger'
import type { TrieEntry, TrieOperation } from '@ratatosk/trie'
import type { BlockBody, BlockDiff, ProducedOutput } from '../body.js'
import { BlockError } from '../errors.js'
import { partsOf } from './parts.js'
import {
  encodeOutputRecord,
  encodeTransactionRecord,
  type OutputRecord,
  outputRecordLength,
  type TransactionRecord,
  transactionKey,
  transactionRecordLength,
} from './records.js'

/**
 * The outputs before a block: Blake2b-256 of an output's CBOR by the CBOR of its reference; undefined when
 * it is not unspent. `OutputTrie.outputHash` is one.
 */
export type OutputHashes = (outref: Uint8Array) => Uint8Array | undefined

/** The transactions map of a block, and what else follows from its transactions. */
export interface DerivedBlock {
  /** By position. */
  readonly transactions: readonly TransactionRecord[]
  /** What happened to the outputs that the block produces or spends; keys are `outputReferenceKey`s. */
  readonly outputs: ReadonlyMap<string, DerivedOutput>
  /** Key and value of every entry of the map: transactions, then outputs. */
  entries(): Iterable<TrieEntry>
  /** The same entries, of which each is overwritten by the next, with the hashes of keys that are known. */
  sharedEntries(): Iterable<TrieEntry>
}

/** An entry of the transactions map for an output. */
export interface DerivedOutput extends OutputRecord {
  /** CBOR of its reference: the key. */
  readonly outref: Uint8Array
}

/**
 * Derives the transactions map of a block from its transactions, one at a time. Total: every list of byte
 * strings has a map. If several transactions spend or produce the same output, the first one counts; an
 * output without a producer has a hash of zeros; bytes that are no transaction spend and produce nothing.
 */
export interface Derivation {
  /** Adds the next transaction of the block. @param transaction its CBOR, or what it decodes to */
  add(transaction: Uint8Array | Transaction): void
  /** The first contradiction between the transactions, or the first that does not decode. */
  readonly fault: BlockError | undefined
  /** Position of the first transaction whose bytes do not follow from its record. */
  readonly unframed: number | undefined
  /** `spent` and `produced` of the body, in the order of the encoding. */
  diff(): BlockDiff
  /**
   * What the transactions added since the last call do to the trie of unspent outputs, in no particular
   * order: after all of them, what the diff does.
   */
  operations(): readonly TrieOperation[]
  /** The outputs that the block only reads: CBOR of their references. */
  read(): Iterable<Uint8Array>
  /**
   * The map. May be called once.
   *
   * @param before the outputs before the block. It gets the very arrays that {@link Derivation.operations}
   *   and
   *   {@link Derivation.read} have given, so that it can look them up by identity.
   */
  derive(before: OutputHashes): DerivedBlock
}

/** The largest index that an input can name. Map and body leave out an output beyond it. */
const maxOutputIndex = 0xffff

interface Output {
  readonly outref: Uint8Array
  createdBy: number | undefined
  spentBy: number | undefined
  /** CBOR; undefined while no transaction has produced it. */
  output: Uint8Array | undefined
  /** Zeros until it is derived. */
  outputHash: Uint8Array
  /** Blake2b-256 of `outref`, once it is needed. */
  path: Uint8Array | undefined
  /** The operation that was last given for it. */
  given: TrieOperation['type'] | undefined
  /** Whether a transaction has spent or produced it since operations were last given. */
  isNews: boolean
}

interface Applied {
  readonly id: Uint8Array
  readonly witnessSetHash: Uint8Array
  readonly fee: bigint
  readonly inputs: readonly Output[]
  readonly referenceInputs: readonly OutputReference[]
}

const unknownOutput = new Uint8Array(32)

/** Starts a {@link Derivation}. */
export function createDerivation(): Derivation {
  const outputs = new Map<string, Output>()
  const applied: Applied[] = []
  /** What has been spent or produced since operations were last given. */
  let news: Output[] = []
  /** The outputs that the block only reads, by `outputReferenceKey`. */
  let readOnly: Map<string, Output> | undefined
  let fault: BlockError | undefined
  let unframed: number | undefined

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

    get unframed() {
      return unframed
    },

    add(transaction) {
      const position = applied.length
      const parts = partsOf(transaction)
      if (!parts.isFramed) unframed ??= position
      if (!parts.isDecoded)
        fault ??= new BlockError(
          'BLOCK_TRANSACTION_MALFORMED',
          `Transaction ${position} of the block does not decode`,
          { position },
        )
      const inputs = parts.inputs.map((reference) => spend(reference, position))
      const id = toHex(parts.id)
      for (const [index, output] of parts.outputs.entries()) {
        if (index > maxOutputIndex) break
        // As `outputReferenceKey` writes it, with the digits of the id written once.
        produce({ transactionId: parts.id, index }, `${id}#${index}`, output, position)
      }
      applied.push({
        id: parts.id,
        witnessSetHash: blake2b256(parts.witnessSet),
        fee: parts.fee,
        inputs,
        referenceInputs: parts.referenceInputs,
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
      const transactions = applied.map(
        ({ id, witnessSetHash, fee, inputs, referenceInputs }): TransactionRecord => {
          feesSoFar = BigInt.asUintN(64, feesSoFar + fee)
          const hashes = new Uint8Array(32 * (inputs.length + referenceInputs.length))
          let end = 0
          for (const { outputHash } of inputs) hashes.set(outputHash, 32 * end++)
          for (const reference of referenceInputs) hashes.set(hashRead(reference), 32 * end++)
          return { kind: 'transaction', id, witnessSetHash, resolved: blake2b256(hashes), feesSoFar }
        },
      )
      return {
        transactions,
        outputs,
        *entries(): Generator<TrieEntry, void> {
          for (const [position, record] of transactions.entries())
            yield [transactionKey(position), encodeTransactionRecord(record)]
          for (const output of outputs.values()) yield [output.outref, encodeOutputRecord(output)]
        },
        *sharedEntries(): Generator<TrieEntry, void> {
          const shared = sharedMemory()
          for (const [position, record] of transactions.entries())
            yield [
              transactionKey(position, shared.key),
              encodeTransactionRecord(record, shared.transactionRecord),
            ]
          for (const output of outputs.values())
            yield [output.outref, encodeOutputRecord(output, shared.outputRecord), output.path]
        },
      }
    },
  }
}

const newOutput = (reference: OutputReference): Output => ({
  outref: encodeOutputReference(reference),
  createdBy: undefined,
  spentBy: undefined,
  output: undefined,
  outputHash: unknownOutput,
  path: undefined,
  given: undefined,
  isNews: false,
})

function pathOf(output: Output): Uint8Array {
  output.path ??= blake2b256(output.outref)
  return output.path
}

/** The hash of an output that the block produces. */
function hashOf(output: Output): Uint8Array {
  if (output.outputHash === unknownOutput && output.output !== undefined)
    output.outputHash = blake2b256(output.output)
  return output.outputHash
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

function contradiction(
  code: 'BLOCK_DOUBLE_SPEND' | 'BLOCK_SPENT_BEFORE_PRODUCED' | 'BLOCK_OUTPUT_EXISTS',
  message: string,
  reference: string,
  position: number,
): BlockError {
  return new BlockError(code, message, { reference, position })
}
