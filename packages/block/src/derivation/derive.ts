import { toHex } from '@ratatosk/cbor'
import { blake2b256, type OutputReference, outputReferenceKey, type Transaction } from '@ratatosk/ledger'
import type { TrieEntry, TrieOperation } from '@ratatosk/trie'
import type { BlockBody, BlockDiff, Deposit } from '../body.js'
import { BlockError, tooLarge } from '../errors.js'
import { type FeeTarget, feeOutput, isLeaving, withFeeOutput } from '../events.js'
import { atOnce, inTurns, isStep, type Steps } from '../turns.js'
import { type ChunkRecord, chunkKey, createChunker, encodeChunkRecord, maxChunks } from './chunks.js'
import { bytes, Column, comparing, diffing, known, noPosition, OutputTable, whole } from './output-table.js'
import { type MovedParts, partsOf, type TransactionParts } from './parts.js'
import {
  type DerivedOutput,
  decodeTransactionRecord,
  encodeOutputRecord,
  encodeTransactionRecord,
  outputRecordLength,
  transactionRecordLength as recordLength,
  resolvedAt,
  type TransactionRecord,
  transactionKey,
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
  /** By number. */
  readonly chunks: readonly ChunkRecord[]
  /** The changes of the outputs that the block brings or spends; by `outputReferenceKey`. */
  readonly outputs: DerivedOutputs
  /** The map of `depositsRoot`: the reference of each output that the block credits, and its CBOR. */
  deposits(): Iterable<TrieEntry>
  /** The map of `withdrawalsRoot`: the reference of each output that leaves layer 2, and its CBOR. */
  withdrawals(): Iterable<TrieEntry>
  /** Key and value of every entry of the map: transactions, chunks, outputs. */
  entries(): Iterable<TrieEntry>
  /** The same entries, of which each is overwritten by the next, with the hashes of keys that are known. */
  sharedEntries(): Iterable<TrieEntry>
}

/** The entries of the transactions map for outputs, which are made when they are asked for. */
export interface DerivedOutputs {
  /** @param key `outputReferenceKey` of the output */
  get(key: string): DerivedOutput | undefined
  values(): Iterable<DerivedOutput>
}

/**
 * Derives the maps of a block from its deposits and its transactions, one at a time. Total: every list of
 * byte strings has a map. If several transactions spend or produce the same output, the first one counts; an
 * output without a producer has a hash of zeros; bytes that are no transaction spend and produce nothing.
 */
export interface Derivation {
  /**
   * Adds a deposit of the block, or its fee output: neither has a transaction that made it, whenever it is
   * added. One with an id that is already there counts for nothing.
   */
  deposit(deposit: Deposit): void
  /** Adds the next transaction of the block. @param transaction its CBOR, or what it decodes to */
  add(transaction: Uint8Array | Transaction): void
  /** The fees of the transactions so far in lovelace, modulo 2^64. */
  readonly fees: bigint
  /**
   * The first contradiction between the transactions, or the first that does not decode, has bytes that do
   * not follow from its body and witness set, or is one too many.
   */
  readonly fault: BlockError | undefined
  /** `spent` and `produced` of the body, in the order of the encoding. */
  diff(): BlockDiff
  /** The same; other work runs meanwhile. */
  diffInTurns(): Promise<BlockDiff>
  /** Whether {@link Derivation.diff} is this one; other work runs meanwhile. */
  hasDiff(diff: BlockDiff): Promise<boolean>
  /**
   * The operations on the trie of unspent outputs by the transactions since the last call, in no particular
   * order: after all of them, what the diff does.
   */
  operations(): readonly TrieOperation[]
  /** The outputs that the block only reads: CBOR of their references. */
  read(): Iterable<Uint8Array>
  /** The outputs that the block spends or reads and does not bring: CBOR of their references. */
  older(): Iterable<Uint8Array>
  /**
   * The map. May be called once.
   *
   * @param before the outputs before the block. It gets the very arrays that {@link Derivation.operations}
   *   and {@link Derivation.read} have given, so that it can look them up by identity.
   */
  derive(before: OutputHashes): DerivedBlock
  /** The same; other work runs meanwhile. */
  deriveInTurns(before: OutputHashes): Promise<DerivedBlock>
}

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

/** The outputs of a block as far as its transactions are added, and their first contradiction. */
interface Moves {
  readonly outputs: OutputTable
  readonly bridge: Uint8Array | undefined
  fault: BlockError | undefined
}

/** Starts a {@link Derivation}. */
export function createDerivation({ read, bridge }: DerivationRules = {}): Derivation {
  const outputs = new OutputTable()
  const moves: Moves = { outputs, bridge, fault: undefined }
  const applied = new AppliedTransactions()
  const chunks: Omit<ChunkRecord, 'chunks'>[] = []
  const chunker = createChunker((first, bytes) => chunks.push({ first, chunkHash: blake2b256(bytes) }))

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
      return moves.fault
    },

    get fees() {
      return applied.fees
    },

    deposit({ id, output: cbor }) {
      const reference = { transactionId: id, index: 0 }
      const output = outputs.addMoved(reference, outputReferenceKey(reference))
      if (!outputs.isOlder(output)) return
      outputs.mark(output, known.deposited)
      outputs.deposit(output, cbor)
    },

    add(transaction) {
      const position = applied.size
      const parts = partsOf(transaction)
      if (!parts.isDecoded || !parts.isFramed) moves.fault ??= malformed(position, parts.isDecoded)
      chunker.add(parts)
      if (chunker.count > maxChunks) moves.fault ??= tooLarge(position)
      const moved = (parts.isDecoded ? undefined : read?.(parts.body)) ?? parts
      applied.add(parts, moved.fee)
      for (const reference of moved.inputs) applied.addResolved(spend(moves, reference, position))
      for (const reference of moved.referenceInputs)
        applied.addResolved(outputs.add(reference, outputReferenceKey(reference)))
      outputs.addSource(parts.body)
      const id = toHex(parts.id)
      for (const [index, output] of moved.outputs.entries()) {
        if (index > maxOutputIndex) break
        // As `outputReferenceKey` writes it, with the digits of the id written once.
        produce(moves, { transactionId: parts.id, index }, `${id}#${index}`, output, position)
      }
    },

    diff: () => atOnce(diffing(outputs)),
    diffInTurns: () => inTurns(diffing(outputs)),
    hasDiff: (diff) => inTurns(comparing(outputs, diff)),
    operations: () => outputs.takeOperations(),

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
}

/** @returns the number of the output */
function spend(moves: Moves, reference: OutputReference, position: number): number {
  const { outputs } = moves
  const key = outputReferenceKey(reference)
  const output = outputs.addMoved(reference, key)
  if (outputs.spentBy.get(output) === noPosition) outputs.spentBy.set(output, position)
  else
    moves.fault ??= contradiction(
      'BLOCK_DOUBLE_SPEND',
      `Transaction ${position} spends ${key} a second time`,
      key,
      position,
    )
  return output
}

/** @param key `outputReferenceKey` of the reference */
function produce(
  moves: Moves,
  reference: OutputReference,
  key: string,
  cbor: Uint8Array,
  position: number,
): void {
  const { outputs, bridge } = moves
  const output = outputs.addMoved(reference, key)
  if (outputs.createdBy.get(output) !== noPosition) {
    moves.fault ??= contradiction(
      'BLOCK_OUTPUT_EXISTS',
      `Transaction ${position} produces ${key} a second time`,
      key,
      position,
    )
    return
  }
  const spentBy = outputs.spentBy.get(output)
  if (spentBy !== noPosition)
    moves.fault ??= contradiction(
      'BLOCK_SPENT_BEFORE_PRODUCED',
      `Transaction ${spentBy} spends ${key}, which transaction ${position} produces`,
      key,
      position,
    )
  outputs.produce(output, cbor, position)
  if (!isLeaving(cbor, bridge)) return
  outputs.mark(output, known.left)
  // An output that has left layer 2 cannot be spent; the next input that names it is one too many.
  if (spentBy === noPosition) outputs.spentBy.set(output, position)
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

/** Adds the fee output of all transactions so far to a derivation. @returns it, undefined without fees */
export function creditFees(
  derivation: Pick<Derivation, 'deposit' | 'fees'>,
  target: FeeTarget,
): Deposit | undefined {
  const fees = feeOutput(target, derivation.fees)
  if (fees !== undefined) derivation.deposit(fees)
  return fees
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

  function* marked(flag: number): Generator<TrieEntry, void> {
    for (let output = 0; output < outputs.size; output++)
      if (outputs.has(output, flag)) yield [outputs.outref(output), outputs.output(output)]
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

    deposits: () => marked(known.deposited),
    withdrawals: () => marked(known.left),

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

const unknown = new Uint8Array(32)

/** The records of a block's transactions, and the outputs they name; in columns, like {@link OutputTable}. */
class AppliedTransactions {
  readonly #records = new Column(bytes, recordLength)
  #size = 0
  #fees = 0n
  readonly #resolved = new Column(whole)
  #count = 0
  /** Where the outputs of each transaction end in those that are resolved. */
  readonly #ends = new Column(whole)
  #hashes = new Uint8Array(1024)

  get size(): number {
    return this.#size
  }

  /** Lovelace, modulo 2^64. */
  get fees(): bigint {
    return this.#fees
  }

  /** Adds the next transaction. @param fee lovelace */
  add({ id, witnessSet, body }: Pick<TransactionParts, 'id' | 'witnessSet' | 'body'>, fee: bigint): void {
    const position = this.#size++
    this.#fees = BigInt.asUintN(64, this.#fees + fee)
    const witnessSetHash = blake2b256(witnessSet)
    const lengths = { bodyLength: body.length, witnessSetLength: witnessSet.length }
    encodeTransactionRecord(
      { kind: 'transaction', id, witnessSetHash, resolved: unknown, feesSoFar: this.#fees, ...lengths },
      this.record(position),
    )
    this.#ends.set(position, this.#count)
  }

  /** Adds an output that the transaction added last names: its inputs, then its reference inputs. */
  addResolved(output: number): void {
    this.#resolved.set(this.#count++, output)
    this.#ends.set(this.#size - 1, this.#count)
  }

  /** Completes a record once the hashes of all outputs are known. */
  resolve(position: number, outputs: OutputTable): void {
    const start = position === 0 ? 0 : this.#ends.get(position - 1)
    const length = 32 * (this.#ends.get(position) - start)
    if (length > this.#hashes.length) this.#hashes = new Uint8Array(2 * length)
    for (let i = 0; 32 * i < length; i++)
      outputs.copyHash(this.#resolved.get(start + i), this.#hashes, 32 * i)
    this.record(position).set(blake2b256(this.#hashes.subarray(0, length)), resolvedAt)
  }

  record(position: number): Uint8Array {
    return this.#records.view(position)
  }
}
