import {
  type BlockBody,
  createPauses,
  type Deposit,
  type Derivation,
  decodeHeader,
  type EventSource,
  faultOfDeposits,
  faultOfHeader,
  type Header,
  isBlockError,
  isBridgeAddress,
  isInvalidBlock,
  judgeBlock,
  type KnownTransaction,
  type OutputHashes,
  partsOf,
  verifyBody,
} from '@ratatosk/block'
import { BytesSet, equalBytes, isDecodeError, toHex } from '@ratatosk/cbor'
import {
  appliedTransaction,
  blake2b256,
  decodeOutputReference,
  decodeTransaction,
  decodeTransactionOutput,
  isScriptsNotRunError,
  type OutputReference,
  outputReferenceKey,
  type UtxoView,
} from '@ratatosk/ledger'
import { isEvaluatorError } from '@ratatosk/ledger/plutus'
import { movedParts } from '@ratatosk/protocol/fraud'
import type { ExaminedTransaction, ForeignBlock } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import { foreignQueue, invalidBlock, type SequencerError, unjudgedBlock, unservedBlock } from '../errors.js'
import type { BlockRoots } from '../roots/index.js'
import {
  alignRoots,
  blockLine,
  creditedOf,
  forgetReplaced,
  freeRoots,
  type RootsContext,
  realignRoots,
} from '../state/ledger-state.js'
import type { AdoptionMeans, SequencerStore } from '../types.js'
import { type ForeignHeader, fetchBody } from './fetch.js'

/**
 * Fetches, judges and appends the next block of another operator. Only the output trie changes before.
 * Returns why it cannot be adopted now, if it cannot.
 *
 * @param isMerged whether it is in the confirmed state: its deposits may be spent then
 * @throws {SequencerError} `SEQUENCER_FOREIGN_QUEUE` if the queue began with another genesis
 */
export async function adoptBlock(
  context: SequencerContext,
  means: AdoptionMeans,
  block: ForeignHeader,
  isMerged: boolean,
): Promise<SequencerError | undefined> {
  const { store, roots } = context
  const hash = toHex(block.headerHash)
  const header = decodeHeader(block.header)
  const newest = await store.blocks.newest()
  await alignRoots(context, newest)
  if (!equalBytes(header.prevUtxosRoot, await roots.root())) {
    if (newest === undefined)
      throw foreignQueue('The state queue began with other genesis outputs than this ledger')
    return invalidBlock(hash, 'it does not begin with the state after the block before it.')
  }
  const fault = faultOfHeader(header, means.rules.bridge)
  if (fault !== undefined) return invalidBlock(hash, fault.message)
  try {
    const checked = await fetchBody(context, means, block.headerHash, (body) =>
      checkBody(context, means, block, body, isMerged ? undefined : context.events),
    )
    if (checked === undefined) return unservedBlock(hash)
    if (checked.fault !== undefined) {
      await realignRoots(context)
      return checked.fault
    }
    context.step('block-judged')
    await append(context, block, header, checked)
    return undefined
  } catch (error) {
    await realignRoots(context)
    throw error
  } finally {
    // The content prepared for the next block may no longer be the oldest.
    context.cache.ahead = []
  }
}

/** The results of checking the body of a valid block. */
type Checked = Required<Pick<ForeignBlock, 'transactions' | 'held' | 'deposits'>>

async function append(
  context: SequencerContext,
  block: ForeignHeader,
  header: Header,
  checked: Checked,
): Promise<void> {
  const { store, log } = context
  const apart = (cbor: Uint8Array) => examine(cbor, context.contracts.bridge?.place.script.hash)
  const { headerHash, header: encoded } = block
  const { prevHeaderHash: previousHeaderHash, utxosRoot, startTime, endTime, operatorVkey } = header
  const { held, ...rest } = checked
  // Transactions that were dropped with them may be among those held.
  const isCurrent = !(await forgetReplaced(context, checked.deposits))
  const fields = { headerHash, header: encoded, previousHeaderHash, utxosRoot, startTime, endTime }
  const foreign = { ...fields, ...rest, ...(isCurrent && { held }) }
  const adopted = await store.blocks.adopt(foreign, apart, context.lease)
  context.step('block-adopted')
  freeRoots(context)
  const { known, dropped } = adopted
  const isOwn = adopted.block.commitTransaction !== undefined
  const [about, line] = blockLine(adopted.block, `of ${isOwn ? 'this' : 'another'} operator adopted`)
  const operator = toHex(operatorVkey)
  log.info({ ...about, known, dropped, operator }, `${line}: ${known} of its transactions were known`)
  if (dropped === 0) return
  log.warn(
    { headerHash: toHex(headerHash), dropped },
    `${dropped} transactions conflict with it and are dead letters`,
  )
}

/** Bytes of transactions that are kept taken apart: a block of 10,000 transfers has fewer. */
const keptApart = 4 * 1024 * 1024

/** The result of judging a body that belongs to its header. */
type CheckedBody =
  /** Why the block is not known to be valid: it breaks a rule, or its scripts cannot be run now. */
  | { readonly fault: SequencerError }
  /** It is valid, and the output trie is after it. */
  | ({ readonly fault?: undefined } & Checked)

/**
 * Whether a body belongs to a header, and whether that block is valid. Of transactions in the mempool, only
 * what may have changed since their acceptance is judged.
 *
 * @param events what layer 1 has for the block; undefined for a merged one, and without a bridge
 * @throws {BlockError} when it belongs to another header
 */
export async function checkBody(
  context: RootsContext,
  { rules }: Pick<AdoptionMeans, 'rules'>,
  { headerHash, header: encoded }: ForeignHeader,
  body: BlockBody,
  events?: EventSource,
): Promise<CheckedBody> {
  const { store } = context
  const { transactions, deposits = [] } = body
  const hash = toHex(headerHash)
  const header = decodeHeader(encoded)
  const invalid = (message: string): CheckedBody => ({ fault: invalidBlock(hash, message) })
  const before = openOutputsBefore(store)
  const hashesBefore = async (derivation: Derivation) => {
    await before.read(mapped(derivation.older(), decodeOutputReference))
    return before.hashOf
  }
  const { error } = await verifyBody(body, header, hashesBefore, { read: movedParts, bridge: rules.bridge })
  if (error !== undefined) return invalid(error.message)
  const applying = applied(context, transactions, deposits)
  // It may not be awaited.
  applying.catch(() => undefined)
  const apart = await takeApart(transactions, rules.bridge)
  const held = await store.blocks.inMempool(apart.identified)
  // A credit may be another output than the one that a transaction was accepted with.
  const credited = new BytesSet(deposits.map(({ id }) => id))
  const known = (place: number) => {
    const part = held.has(place) ? apart.at(place) : undefined
    return part?.named.some(({ transactionId }) => credited.has(transactionId)) ? undefined : part
  }
  await before.read(collateralOf(apart))
  const judging = judgeBlock(transactions, header, before.utxos, rules, known, deposits)
  const fault = await faultOf(judging, hash)
  if (fault !== undefined) return { fault }
  const roots = await applying
  if (roots === undefined)
    throw new Error(`The outputs of this ledger do not allow block ${hash}, which is valid`)
  if (!equalBytes(roots.utxosRoot, header.utxosRoot))
    return invalid('its transactions do not lead to its utxos_root.')
  // Last, because layer 1 may be read too late to know them.
  const due = await events?.between(header.startTime, header.endTime)
  if (due === 'not read yet')
    return { fault: unjudgedBlock(hash, 'layer 1 is read too late to know its deposits') }
  const other = due && faultOfDeposits(deposits, due, header)
  if (other !== undefined) return invalid(`${other.message}.`)
  return { transactions: await apart.all(), held, deposits: deposits.map(creditedOf) }
}

/** The outputs that the transactions of a block offer as collateral. */
function* collateralOf({ identified, at }: BlockApart): Generator<OutputReference, void> {
  for (const place of identified.keys()) yield* at(place)?.collateral ?? []
}

function* mapped<From, To>(items: Iterable<From>, to: (item: From) => To): Generator<To, void> {
  for (const item of items) yield to(item)
}

/** The roots of a block that the trie has applied; undefined if it cannot. */
async function applied(
  { roots, step }: RootsContext,
  transactions: readonly Uint8Array[],
  deposits: readonly Deposit[],
): Promise<BlockRoots | undefined> {
  try {
    const found = await roots.apply(transactions, deposits)
    step('roots-applied')
    return found
  } catch (error) {
    if (!isBlockError(error)) throw error
    return undefined
  }
}

/** The fault that judging has found; undefined if there is none. */
async function faultOf(judging: Promise<void>, hash: string): Promise<SequencerError | undefined> {
  try {
    await judging
    return undefined
  } catch (failure) {
    if (isInvalidBlock(failure)) return invalidBlock(hash, failure.message)
    if (isScriptsNotRunError(failure) || isEvaluatorError(failure))
      return unjudgedBlock(hash, failure.message)
    throw failure
  }
}

interface BlockApart {
  readonly identified: readonly Pick<Examined, 'id' | 'cbor'>[]
  /** Undefined for one that does not decode. */
  at(place: number): Examined | undefined
  /** Those that decode. */
  all(): Promise<readonly Examined[]>
}

/** Takes the transactions of a block apart, each again when it is asked for if all could fill the memory. */
export async function takeApart(
  transactions: readonly Uint8Array[],
  bridge: Uint8Array | undefined,
  mostBytes = keptApart,
): Promise<BlockApart> {
  const isKept = transactions.reduce((sum, { length }) => sum + length, 0) <= mostBytes
  const identified: (Examined | Pick<Examined, 'id' | 'cbor'>)[] = []
  const pauseIfDue = createPauses()
  for (const cbor of transactions) {
    await pauseIfDue()
    const part = tryExamine(cbor, bridge)
    identified.push(part && isKept ? part : { id: part?.id ?? partsOf(cbor).id, cbor })
  }

  function at(place: number): Examined | undefined {
    const part = identified[place]
    return part && ('named' in part ? part : tryExamine(part.cbor, bridge))
  }

  async function all(): Promise<readonly Examined[]> {
    const parts: Examined[] = []
    for (const place of identified.keys()) {
      await pauseIfDue()
      const part = at(place)
      if (part !== undefined) parts.push(part)
    }
    return parts
  }

  return { identified, at, all }
}

/** Outputs that one query asks for. */
const step = 1_000

/** The outputs that are unspent after the store's newest block, of those that were read. */
interface OutputsBefore {
  /** References are not kept: there may be half a million. */
  read(references: Iterable<OutputReference>): Promise<void>
  /** For the transactions map. */
  readonly hashOf: OutputHashes
  /** For the rules of the ledger. */
  readonly utxos: UtxoView
}

function openOutputsBefore({ blocks }: Pick<SequencerStore, 'blocks'>): OutputsBefore {
  const outputs = new Map<string, Uint8Array>()
  return {
    async read(references) {
      let wanted = new Map<string, OutputReference>()
      const pauseIfDue = createPauses()
      async function readWanted(): Promise<void> {
        for (const { reference, output } of await blocks.outputsAfterNewest([...wanted.values()]))
          outputs.set(outputReferenceKey(reference), output)
        wanted = new Map()
      }
      for (const reference of references) {
        await pauseIfDue()
        const key = outputReferenceKey(reference)
        if (!outputs.has(key)) wanted.set(key, reference)
        if (wanted.size === step) await readWanted()
      }
      if (wanted.size > 0) await readWanted()
    },
    hashOf(outref) {
      const output = outputs.get(outputReferenceKey(decodeOutputReference(outref)))
      return output && blake2b256(output)
    },
    utxos: {
      get(key) {
        const output = outputs.get(key)
        return output && decodeTransactionOutput(output)
      },
    },
  }
}

/** A transaction as the store adopts it and, once it is known to be valid, as a block is judged by it. */
interface Examined extends ExaminedTransaction, KnownTransaction {
  readonly collateral: readonly OutputReference[]
  readonly produced: ExaminedTransaction['produced']
}

/** Takes a transaction apart. @param bridge hash of the bridge's script, in a deployment that has one */
function examine(cbor: Uint8Array, bridge: Uint8Array | undefined): Examined {
  const transaction = decodeTransaction(cbor)
  const { inputs, collateralInputs, referenceInputs, fee, validityInterval } = transaction.body
  return {
    ...appliedTransaction(transaction, ({ address }) => isBridgeAddress(address.bytes, bridge)),
    named: [...inputs, ...collateralInputs, ...referenceInputs],
    collateral: collateralInputs,
    fee,
    validityInterval,
  }
}

/** Takes a transaction apart; undefined if it does not decode. */
function tryExamine(cbor: Uint8Array, bridge: Uint8Array | undefined): Examined | undefined {
  try {
    return examine(cbor, bridge)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    return undefined
  }
}
