import { equalBytes, isDecodeError } from '@ratatosk/cbor'
import {
  decodeTransaction,
  decodeTransactionOutput,
  type Effects,
  effects,
  type Failures,
  type OutputReference,
  outputReferenceKey,
  type PhaseTwo,
  type ProtocolParameters,
  type SlotConfig,
  type Transaction,
  type TransactionOutput,
  timeToSlot,
  type UtxoView,
  type ValidityInterval,
  validateMint,
  validatePhaseOne,
  validateProfile,
  validateProfileOfInputs,
  validateScripts,
} from '@ratatosk/ledger'
import type { Deposit } from './body.js'
import { countWithinChunks } from './derivation/chunks.js'
import { BlockError, isBlockError, tooLarge } from './errors.js'
import { type FeeHeader, type FeeTarget, feeOutput, isBridgeAddress, isFeeOutput } from './events.js'
import type { Header } from './header.js'
import { createPauses } from './turns.js'

/**
 * The rules that the transactions of a block must keep. Validation workers and verifiers of blocks must use
 * the same rules.
 */
export interface BlockRules {
  readonly parameters: ProtocolParameters
  /** 0 for every test network, 1 for mainnet. */
  readonly networkId: number
  /** How layer-2 slots map to time. */
  readonly slots: SlotConfig
  /** Runs Plutus scripts. Without it, a block with Plutus scripts cannot be judged. */
  readonly evaluator?: PhaseTwo['evaluator']
  /** Hash of the bridge's script, 28 bytes: outputs at its enterprise address leave layer 2. */
  readonly bridge?: Uint8Array | undefined
  /** Policies, 56 hex digits each, whose assets come from layer 1: layer 2 neither mints nor burns them. */
  readonly bridged?: ReadonlySet<string> | undefined
}

/** A transaction that was found valid by the same rules before. */
export interface KnownTransaction {
  /** Every output that it names: spends, reads, or offers as collateral. */
  readonly named: readonly OutputReference[]
  readonly spent: readonly OutputReference[]
  /** `output`: CBOR. */
  readonly produced: readonly { readonly reference: OutputReference; readonly output: Uint8Array }[]
  /** In lovelace. */
  readonly fee: bigint
  readonly validityInterval: ValidityInterval
}

/**
 * The transaction at a position, if it is known: only what may have changed since is judged, which is its
 * interval, and whether what it reads is there. Its inputs are not looked up, because the trie of the
 * outputs refuses a block that spends what is not there.
 */
export type KnownAt = (position: number) => KnownTransaction | undefined

/** The fields of a header that transactions and fees are judged by. */
export type JudgedHeader = Pick<Header, 'startTime' | 'endTime'> & FeeHeader

/** Lovelace that the fees of a block stay below: a transaction record holds their sum in eight bytes. */
const feesLimit = 2n ** 64n

/** Changes up to which outputs are kept decoded: those of a large block would fill the memory. */
const mostDecoded = 65_536

/** Maximum number of scripts that run concurrently. */
const maxScripts = 32

/**
 * Judges every transaction of a block by the ledger's rules and the layer-2 profile, in block order, each
 * against the outputs that the transactions before it leave. Lets the event loop run at intervals.
 *
 * The transactions must fit into 1,024 chunks, the validity interval of each must meet the block's
 * `[startTime, endTime)`, and the fees must add up to less than 2^64 lovelace. With a bridge, the block
 * credits just these fees to its operator, after its last transaction.
 *
 * @param transactions CBOR in block order
 * @param before unspent outputs before the block, by `outputReferenceKey`
 * @param deposits that the block credits before its first transaction, and its fee output
 * @throws {BlockError} `BLOCK_INVALID` with `position` and, for a rule of the ledger, `failures` of the first
 *   transaction that breaks a rule, does not decode, or names an output that does not
 * @throws {ScriptsNotRunError} when scripts could not be run, which says nothing about the block
 */
export async function judgeBlock(
  transactions: readonly Uint8Array[],
  header: JudgedHeader,
  before: UtxoView,
  rules: BlockRules,
  known: KnownAt = () => undefined,
  deposits: readonly Deposit[] = [],
): Promise<void> {
  requireSize(transactions)
  const interval = intervalOf(header, rules.slots)
  const pauseIfDue = createPauses()
  /** Outputs that the block has produced, or their CBOR; undefined once they are spent. */
  const changes = new Map<string, TransactionOutput | Uint8Array | undefined>()
  /** Its fee output, or several wrong ones, by `outputReferenceKey`: after the last transaction. */
  const own = new Map<string, Uint8Array>()
  for (const credit of deposits) {
    await pauseIfDue()
    const key = outputReferenceKey({ transactionId: credit.id, index: 0 })
    const isOwn = rules.bridge !== undefined && isFeeOutput(credit, header)
    if (isOwn) own.set(key, credit.output)
    changes.set(key, isOwn ? undefined : credit.output)
  }
  /** Outputs before the block that the transaction at `position` names: all could fill the memory. */
  const found = new Map<string, TransactionOutput | undefined>()
  let position = 0
  const utxos: UtxoView = {
    get(key) {
      if (!changes.has(key)) {
        if (!found.has(key)) found.set(key, outputBefore(before, key, position))
        return found.get(key)
      }
      const output = changes.get(key)
      return output instanceof Uint8Array ? decodeTransactionOutput(output) : output
    },
  }
  const isStillValid = ({ named, spent, validityInterval }: KnownTransaction): boolean => {
    if (fitOf(validityInterval, interval) !== 'within') return false
    const keys = new Set(spent.map(outputReferenceKey))
    const isThere = (key: string) => (keys.has(key) && !own.has(key)) || utxos.get(key) !== undefined
    return named.map(outputReferenceKey).every(isThere)
  }
  const apply = ({ spent, produced }: Effects | KnownTransaction): void => {
    for (const reference of spent) changes.set(outputReferenceKey(reference), undefined)
    for (const { reference, output } of produced)
      changes.set(outputReferenceKey(reference), changes.size < mostDecoded ? output : bytesOf(output))
  }
  const pay = (fee: bigint): void => {
    fees += fee
    if (fees >= feesLimit) throw new BlockError('BLOCK_INVALID', feesOverflow(position), { position })
  }
  let scripts: Promise<void>[] = []
  let fees = 0n
  for (const [place, cbor] of transactions.entries()) {
    position = place
    found.clear()
    await pauseIfDue()
    const judged = known(position)
    if (judged && isStillValid(judged)) {
      pay(judged.fee)
      apply(judged)
      continue
    }
    const transaction = decoded(cbor, position)
    const context = { ...rules, slot: slotFor(transaction.body.validityInterval, interval) }
    // First, because it bounds the work of the others, which do not pause.
    refuse(position, [...validateProfile(transaction), ...validateMint(transaction, rules.bridged)])
    refuse(position, [
      ...validateProfileOfInputs(transaction, utxos),
      ...validatePhaseOne(transaction, utxos, context),
    ])
    pay(transaction.body.fee)
    if (transaction.witnesses.redeemers.length > 0) {
      const { evaluator, slots } = rules
      const phaseTwo = evaluator && { evaluator, slots }
      // The outputs are looked up before this returns: later transactions do not change what the scripts see.
      const run = validateScripts(transaction, utxos, context, phaseTwo).then((failures) =>
        refuse(place, failures),
      )
      run.catch(() => undefined)
      scripts.push(run)
    }
    apply(remaining(effects(transaction), rules.bridge))
    if (scripts.length < maxScripts) continue
    await Promise.all(scripts)
    scripts = []
  }
  await Promise.all(scripts)
  if (rules.bridge !== undefined)
    requireFeeOutput([...own.values()], { ...header, networkId: rules.networkId }, fees)
}

function requireFeeOutput(outputs: readonly Uint8Array[], target: FeeTarget, fees: bigint): void {
  const wanted = feeOutput(target, fees)
  const isRight = outputs.every((output) => wanted !== undefined && equalBytes(output, wanted.output))
  if (isRight && outputs.length === (wanted === undefined ? 0 : 1)) return
  throw new BlockError(
    'BLOCK_INVALID',
    `The fees of the block are ${fees} lovelace, and its fee output does not pay just that to its operator.`,
  )
}

/** The effects on layer 2: what leaves it is neither there to be spent nor to be read. */
export function remaining({ spent, produced }: Effects, bridge: Uint8Array | undefined): Effects {
  if (bridge === undefined) return { spent, produced }
  return { spent, produced: produced.filter(({ output }) => !isBridgeAddress(output.address.bytes, bridge)) }
}

const bytesOf = (output: TransactionOutput | Uint8Array): Uint8Array =>
  output instanceof Uint8Array ? output : output.bytes

function requireSize(transactions: readonly Uint8Array[]): void {
  const { transactions: position } = countWithinChunks(transactions.map(({ length }) => length))
  if (position === transactions.length) return
  const cause = tooLarge(position)
  throw new BlockError('BLOCK_INVALID', cause.message, { position, cause })
}

function decoded(cbor: Uint8Array, position: number): Transaction {
  try {
    return decodeTransactionAt(cbor, position)
  } catch (cause) {
    if (!isBlockError(cause)) throw cause
    throw new BlockError('BLOCK_INVALID', cause.message, { position, cause })
  }
}

/** An invalid block that nothing removes may leave outputs that do not decode. */
function outputBefore(before: UtxoView, key: string, position: number): TransactionOutput | undefined {
  try {
    return before.get(key)
  } catch (cause) {
    if (!isDecodeError(cause)) throw cause
    const message = `Transaction ${position} names ${key}, which does not decode: ${cause.message}`
    throw new BlockError('BLOCK_INVALID', message, { position, reference: key, cause })
  }
}

const feesOverflow = (position: number) =>
  `Transaction ${position} brings the fees of the block to 2^64 lovelace or more.`

function refuse(position: number, failures: Failures): void {
  const [first] = failures
  if (first === undefined) return
  throw new BlockError(
    'BLOCK_INVALID',
    `Transaction ${position} breaks ${first.predicate}: ${first.message}`,
    { position, failures },
  )
}

/** The slot at which a transaction is judged: of the block, and of its validity interval if they meet. */
function slotFor({ invalidBefore }: ValidityInterval, { first, last }: BlockInterval): bigint {
  if (invalidBefore === undefined || invalidBefore < first) return first
  return invalidBefore < last ? invalidBefore : last
}

/** The slots of a block, both included: those that `[startTime, endTime)` touches. */
export interface BlockInterval {
  readonly first: bigint
  readonly last: bigint
}

/**
 * How a transaction's validity interval lies to a block: `within` if a block may hold it; `expired` if it
 * ends before the block begins, so that no later block may hold it either; `not begun` if it begins after
 * the block; `empty` if it has no slot at all.
 */
export type IntervalFit = 'within' | 'expired' | 'not begun' | 'empty'

/** The slots of a block. Layer-2 slots are those of `slots`. */
export function intervalOf(
  { startTime, endTime }: Pick<Header, 'startTime' | 'endTime'>,
  slots: SlotConfig,
): BlockInterval {
  return { first: timeToSlot(slots, startTime), last: timeToSlot(slots, endTime - 1n) }
}

/**
 * Whether a validity interval meets a block. In milliseconds: the time of `invalidBefore` is before the
 * block's end, and the time of `invalidHereafter` after its start.
 */
export function fitOf(
  { invalidBefore, invalidHereafter }: ValidityInterval,
  { first, last }: BlockInterval,
): IntervalFit {
  if (invalidHereafter !== undefined) {
    if (invalidHereafter <= (invalidBefore ?? 0n)) return 'empty'
    if (invalidHereafter <= first) return 'expired'
  }
  return invalidBefore !== undefined && invalidBefore > last ? 'not begun' : 'within'
}

/**
 * Decodes the transaction at a position of a block.
 *
 * @param position from 0
 * @throws {BlockError} `BLOCK_TRANSACTION_MALFORMED`
 */
export function decodeTransactionAt(cbor: Uint8Array, position: number): Transaction {
  try {
    return decodeTransaction(cbor)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new BlockError(
      'BLOCK_TRANSACTION_MALFORMED',
      `Transaction ${position} does not decode: ${error.message}`,
      { position, cause: error },
    )
  }
}
