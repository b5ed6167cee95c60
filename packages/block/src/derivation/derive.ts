import { compareBytes, equalBytes, toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeOutputReference,
  type OutputReference,
  outputReferenceKey,
  type Transaction,
} from '@ratatosk/ledger'
import type { TrieEntry, TrieOperation } from '@ratatosk/trie'
import type { BlockBody, BlockDiff, Deposit, ProducedOutput } from '../body.js'
import { isLeaving } from '../bridge.js'
import { BlockError, tooLarge } from '../errors.js'
import { creditFees, type FeeTarget, withFeeOutput } from '../fees.js'
import { atOnce, inTurns, isStep, type Steps, sorting } from '../steps.js'
import { type ChunkRecord, chunkKey, createChunker, encodeChunkRecord, maxChunks } from './chunks.js'
import { bytes, Column, whole } from './column.js'
import { known, noPosition, OutputTable } from './output-table.js'
import { type MovedParts, partsOf, type TransactionParts } from './parts.js'
import {
  decodeTransactionRecord,
  encodeOutputRecord,
  encodeTransactionRecord,
  outputRecordLength,
  transactionRecordLength as recordLength,
  resolvedAt,
  transactionKey,
} from './records.js'
import type { Derivation, DerivedBlock, DerivedOutput, OutputHashes } from './types.js'

/** The largest index that an input can name. Map and body leave out an output beyond it. */
const maxOutputIndex = 0xffff

/** The credits of a block. */
export interface BlockEvents {
  /** In ascending order of their ids; none by default. */
  readonly deposits?: readonly Deposit[]
  /** Whom the fees are paid to, if the deposits lack the fee output. */
  readonly feesTo?: FeeTarget | undefined
}

/** Reads what a transaction moves whose body does not decode; undefined if that is nothing. */
export type ReadBody = (body: Uint8Array) => MovedParts | undefined

/** How a block is derived. */
export interface DerivationRules {
  /** Gives what bodies that do not decode spend and produce: without it, nothing. */
  readonly read?: ReadBody | undefined
  /** Hash of the bridge's script: outputs at its enterprise address leave layer 2. Without it, none does. */
  readonly bridge?: Uint8Array | undefined
}

/** Starts a {@link Derivation}. */
export function createDerivation({ read, bridge }: DerivationRules = {}): Derivation {
  const outputs = new OutputTable()
  const applied = createAppliedTransactions()
  /** The outputs spent or produced since operations were last given. */
  let news: number[] = []
  let fault: BlockError | undefined
  const chunks: Omit<ChunkRecord, 'chunks'>[] = []
  const chunker = createChunker((first, bytes) => chunks.push({ first, chunkHash: blake2b256(bytes) }))

  /** The number of an output that a transaction spends or produces. @param key its `outputReferenceKey` */
  function moved(reference: OutputReference, key: string): number {
    const output = outputs.add(reference, key)
    const flags = outputs.flags.get(output)
    if ((flags & known.news) === 0) news.push(output)
    outputs.flags.set(output, flags | known.news | known.moved)
    return output
  }

  function spend(reference: OutputReference, position: number): number {
    const key = outputReferenceKey(reference)
    const output = moved(reference, key)
    if (outputs.spentBy.get(output) === noPosition) outputs.spentBy.set(output, position)
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
    const output = moved(reference, key)
    if (outputs.createdBy.get(output) !== noPosition) {
      fault ??= contradiction(
        'BLOCK_OUTPUT_EXISTS',
        `Transaction ${position} produces ${key} a second time`,
        key,
        position,
      )
      return
    }
    const spentBy = outputs.spentBy.get(output)
    if (spentBy !== noPosition)
      fault ??= contradiction(
        'BLOCK_SPENT_BEFORE_PRODUCED',
        `Transaction ${spentBy} spends ${key}, which transaction ${position} produces`,
        key,
        position,
      )
    outputs.produce(output, cbor, position)
    if (!isLeaving(cbor, bridge)) return
    outputs.mark(output, known.left)
    if (spentBy !== noPosition) return
    // An output that has left layer 2 cannot be spent; the next input that names it is one too many.
    outputs.spentBy.set(output, position)
  }

  function* diffing(): Steps<BlockDiff> {
    const numbers = new Uint32Array(outputs.size)
    let count = 0
    for (let output = 0; output < outputs.size; output++) {
      if (outputs.isSpent(output) || outputs.isProduced(output)) numbers[count++] = output
      if (isStep(output)) yield
    }
    const sorted = yield* sorting(numbers.subarray(0, count), (a, b) => outputs.compare(a, b))
    const spent: Uint8Array[] = []
    const produced: ProducedOutput[] = []
    for (const [place, output] of sorted.entries()) {
      const outref = outputs.outref(output)
      if (outputs.isSpent(output)) spent.push(outref)
      else produced.push({ outref, output: outputs.output(output) })
      if (isStep(place)) yield
    }
    return { spent, produced }
  }

  /** The number of an output; undefined if the block has none of this reference. */
  const outputAt = (outref: Uint8Array): number | undefined =>
    outputs.find(outputReferenceKey(decodeOutputReference(outref)))

  /** Whether references are those of some outputs, each once, in ascending order. */
  function* naming(
    outrefs: Iterable<Uint8Array>,
    isRight: (output: number, place: number) => boolean,
  ): Steps<boolean> {
    let previous: Uint8Array | undefined
    let place = 0
    for (const outref of outrefs) {
      const output = outputAt(outref)
      if (output === undefined || !isRight(output, place)) return false
      if (previous !== undefined && compareBytes(previous, outref) >= 0) return false
      previous = outref
      if (isStep(place++)) yield
    }
    return true
  }

  function* comparing({ spent, produced }: BlockDiff): Steps<boolean> {
    let [mostSpent, mostProduced] = [0, 0]
    for (let output = 0; output < outputs.size; output++) {
      if (outputs.isSpent(output)) mostSpent++
      else if (outputs.isProduced(output)) mostProduced++
    }
    if (spent.length !== mostSpent || produced.length !== mostProduced) return false
    if (!(yield* naming(spent, (output) => outputs.isSpent(output)))) return false
    return yield* naming(
      outrefsOf(produced),
      (output, place) =>
        outputs.isProduced(output) &&
        equalBytes(outputs.output(output), (produced[place] as ProducedOutput).output),
    )
  }

  function* deriving(before: OutputHashes): Steps<DerivedBlock> {
    for (let output = 0; output < outputs.size; output++) {
      if (!outputs.isOlder(output)) continue
      const hash = before(outputs.outref(output))
      if (hash !== undefined) outputs.setHash(output, hash)
      if (isStep(output)) yield
    }
    for (let position = 0; position < applied.size; position++) {
      applied.resolve(position, outputs)
      if (isStep(position)) yield
    }
    chunker.end()
    return derivedBlock(
      outputs,
      applied,
      chunks.map((chunk) => ({ ...chunk, chunks: chunks.length })),
    )
  }

  return {
    get fault() {
      return fault
    },

    get fees() {
      return applied.fees
    },

    deposit({ id, output: cbor }) {
      const reference = { transactionId: id, index: 0 }
      const key = outputReferenceKey(reference)
      const output = moved(reference, key)
      if (!outputs.isOlder(output)) return
      outputs.mark(output, known.deposited)
      outputs.deposit(output, cbor)
    },

    add(transaction) {
      const position = applied.size
      const parts = partsOf(transaction)
      if (!parts.isDecoded || !parts.isFramed) fault ??= malformed(position, parts.isDecoded)
      chunker.add(parts)
      if (chunker.count > maxChunks) fault ??= tooLarge(position)
      const {
        inputs,
        referenceInputs,
        outputs: added,
        fee,
      } = (parts.isDecoded ? undefined : read?.(parts.body)) ?? parts
      applied.add(parts, fee)
      for (const reference of inputs) applied.addResolved(spend(reference, position))
      for (const reference of referenceInputs)
        applied.addResolved(outputs.add(reference, outputReferenceKey(reference)))
      outputs.addSource(parts.body)
      const id = toHex(parts.id)
      for (const [index, output] of added.entries()) {
        if (index > maxOutputIndex) break
        // As `outputReferenceKey` writes it, with the digits of the id written once.
        produce({ transactionId: parts.id, index }, `${id}#${index}`, output, position)
      }
    },

    diff: () => atOnce(diffing()),
    diffInTurns: () => inTurns(diffing()),
    hasDiff: (diff) => inTurns(comparing(diff)),

    operations() {
      const operations: TrieOperation[] = []
      for (const output of news) {
        const flags = outputs.flags.get(output) & ~known.news
        outputs.flags.set(output, flags)
        const isNew = (flags & (known.inserted | known.deleted)) === 0
        if (outputs.isProduced(output)) {
          const key = outputs.outref(output)
          const path = outputs.path(output, key)
          operations.push({ type: 'insert', key, path, valueHash: outputs.hash(output) })
          given(output, known.inserted)
        } else if ((flags & known.inserted) !== 0 || (isNew && outputs.isOlder(output))) {
          const key = outputs.giveOutref(output)
          operations.push({ type: 'delete', key, path: outputs.path(output, key) })
          given(output, known.deleted)
        }
      }
      news = []
      return operations
    },

    *read(): Generator<Uint8Array, void> {
      for (let output = 0; output < outputs.size; output++)
        if (!outputs.isMoved(output)) yield outputs.giveOutref(output)
    },

    *older(): Generator<Uint8Array, void> {
      for (let output = 0; output < outputs.size; output++)
        if (outputs.isOlder(output)) yield outputs.outref(output)
    },

    derive: (before) => atOnce(deriving(before)),
    deriveInTurns: (before) => inTurns(deriving(before)),
  }

  function given(output: number, operation: number): void {
    const others = outputs.flags.get(output) & ~(known.inserted | known.deleted)
    outputs.flags.set(output, others | operation)
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
  rules: BlockEvents & DerivationRules = {},
): DerivedBlock {
  return creditedDerivation(transactions, rules).derivation.derive(before)
}

/**
 * The body of a block with these transactions: `spent` and `produced` follow from them. Total, like
 * {@link Derivation}.
 *
 * @param transactions CBOR as submitted, in block order
 * @example
 * encodeBlockBody(bodyOf(transactions))
 */
export function bodyOf(
  transactions: readonly Uint8Array[],
  rules: BlockEvents & DerivationRules = {},
): BlockBody {
  const { derivation, deposits } = creditedDerivation(transactions, rules)
  return { transactions, ...derivation.diff(), deposits }
}

function creditedDerivation(
  transactions: Iterable<Uint8Array | Transaction>,
  { deposits: events = [], feesTo, ...rules }: BlockEvents & DerivationRules,
) {
  const derivation = createDerivation(rules)
  for (const deposit of events) derivation.deposit(deposit)
  for (const transaction of transactions) derivation.add(transaction)
  const fees = feesTo && creditFees(derivation, feesTo)
  return { derivation, deposits: withFeeOutput(events, fees) }
}

function* outrefsOf(produced: readonly ProducedOutput[]): Generator<Uint8Array, void> {
  for (const { outref } of produced) yield outref
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

/** The transactions map of a block whose records are complete. */
function derivedBlock(
  outputs: OutputTable,
  applied: AppliedTransactions,
  chunks: readonly ChunkRecord[],
): DerivedBlock {
  function* moved(): Generator<DerivedOutput, void> {
    for (let output = 0; output < outputs.size; output++)
      if (outputs.isMoved(output)) yield outputs.derived(output)
  }

  function* chunkEntries(): Generator<TrieEntry, void> {
    for (const [number, chunk] of chunks.entries()) yield [chunkKey(number), encodeChunkRecord(chunk)]
  }

  return {
    get transactions() {
      return Array.from({ length: applied.size }, (_, position) =>
        decodeTransactionRecord(applied.record(position)),
      )
    },

    chunks,

    outputs: {
      get(key) {
        const output = outputs.find(key)
        return output !== undefined && outputs.isMoved(output) ? outputs.derived(output) : undefined
      },
      values: moved,
    },

    *deposits(): Generator<TrieEntry, void> {
      for (let output = 0; output < outputs.size; output++)
        if (outputs.has(output, known.deposited)) yield [outputs.outref(output), outputs.output(output)]
    },

    *withdrawals(): Generator<TrieEntry, void> {
      for (let output = 0; output < outputs.size; output++)
        if (outputs.has(output, known.left)) yield [outputs.outref(output), outputs.output(output)]
    },

    *entries(): Generator<TrieEntry, void> {
      for (let position = 0; position < applied.size; position++)
        yield [transactionKey(position), applied.record(position).slice()]
      yield* chunkEntries()
      for (const output of moved()) yield [output.outref, encodeOutputRecord(output)]
    },

    *sharedEntries(): Generator<TrieEntry, void> {
      // Views of a larger buffer, which native code reads without moving them first.
      const memory = new Uint8Array(1024)
      const [key, record] = [memory.subarray(0, 8), memory.subarray(8, 8 + outputRecordLength)]
      for (let position = 0; position < applied.size; position++)
        yield [transactionKey(position, key), applied.record(position)]
      yield* chunkEntries()
      for (let output = 0; output < outputs.size; output++)
        if (outputs.isMoved(output))
          yield [
            outputs.outref(output),
            encodeOutputRecord(outputs.derived(output), record),
            outputs.knownPath(output),
          ]
    },
  }
}

/** The records of a block's transactions, and the outputs they name; in columns, like {@link OutputTable}. */
interface AppliedTransactions {
  readonly size: number
  /** Lovelace, modulo 2^64. */
  readonly fees: bigint
  /** Adds the next transaction. @param fee lovelace */
  add(parts: Pick<TransactionParts, 'id' | 'witnessSet' | 'body'>, fee: bigint): void
  /** Adds an output that the transaction added last names: its inputs, then its reference inputs. */
  addResolved(output: number): void
  /** Completes a record once the hashes of all outputs are known. */
  resolve(position: number, outputs: OutputTable): void
  record(position: number): Uint8Array
}

const unknown = new Uint8Array(32)

function createAppliedTransactions(): AppliedTransactions {
  const records = new Column(bytes, recordLength)
  let size = 0
  let feesSoFar = 0n
  const resolved = new Column(whole)
  let count = 0
  /** Where the outputs of each transaction end in `resolved`. */
  const ends = new Column(whole)
  let hashes = new Uint8Array(1024)

  return {
    get size() {
      return size
    },

    get fees() {
      return feesSoFar
    },

    add({ id, witnessSet, body }, fee) {
      const position = size++
      feesSoFar = BigInt.asUintN(64, feesSoFar + fee)
      const witnessSetHash = blake2b256(witnessSet)
      const lengths = { bodyLength: body.length, witnessSetLength: witnessSet.length }
      encodeTransactionRecord(
        { kind: 'transaction', id, witnessSetHash, resolved: unknown, feesSoFar, ...lengths },
        records.view(position),
      )
      ends.set(position, count)
    },

    addResolved(output) {
      resolved.set(count++, output)
      ends.set(size - 1, count)
    },

    resolve(position, outputs) {
      const start = position === 0 ? 0 : ends.get(position - 1)
      const length = 32 * (ends.get(position) - start)
      if (length > hashes.length) hashes = new Uint8Array(2 * length)
      for (let i = 0; 32 * i < length; i++) outputs.copyHash(resolved.get(start + i), hashes, 32 * i)
      records.view(position).set(blake2b256(hashes.subarray(0, length)), resolvedAt)
    },

    record: (position) => records.view(position),
  }
}
