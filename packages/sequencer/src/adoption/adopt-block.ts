import {
  type BlockBody,
  BlockError,
  createPauses,
  type Deposit,
  type Derivation,
  decodeHeader,
  type EventSource,
  type Header,
  isBlockError,
  isBridgeAddress,
  isInvalidBlock,
  judgeBlock,
  type KnownAt,
  type KnownTransaction,
  type OutputHashes,
  verifyDeposits,
  verifyHeader,
} from '@ratatosk/block'
import { BytesSet, equalBytes, isDecodeError, toHex } from '@ratatosk/cbor'
import { verifyReadings } from '@ratatosk/follower'
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
  try {
    verifyHeader(header, means.rules.bridge)
  } catch (error) {
    if (isInvalidBlock(error)) return invalidBlock(hash, error.message)
    throw error
  }
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
type Checked = Pick<ForeignBlock, 'transactions' | 'held' | 'deposits'>

async function append(
  context: SequencerContext,
  block: ForeignHeader,
  header: Header,
  checked: Checked,
): Promise<void> {
  const { store, log } = context
  const apart = (cbor: Uint8Array) => examine(cbor, context.contracts.bridge?.place.script.hash)
  const { held, ...rest } = checked
  // Transactions that were dropped with them may be among those held.
  const isCurrent = !(await forgetReplaced(context, checked.deposits ?? []))
  const foreign = foreignBlock(block, header, isCurrent && held ? { ...rest, held } : rest)
  const adopted = await store.blocks.adopt(foreign, apart, context.lease)
  context.step('block-adopted')
  freeRoots(context)
  const { known, dropped } = adopted
  const isOwn = adopted.block.commitTransaction !== undefined
  const [fields, line] = blockLine(adopted.block, `of ${isOwn ? 'this' : 'another'} operator adopted`)
  const operator = toHex(header.operatorVkey)
  log.info({ ...fields, known, dropped, operator }, `${line}: ${known} of its transactions were known`)
  if (dropped > 0) {
    const headerHash = toHex(block.headerHash)
    log.warn({ headerHash, dropped }, `${dropped} transactions conflict with it and are dead letters`)
  }
}

const foreignBlock = (
  { headerHash, header: encoded }: ForeignHeader,
  { prevHeaderHash, utxosRoot, startTime, endTime }: Header,
  { transactions, held, deposits = [] }: Checked,
): ForeignBlock => ({
  headerHash,
  header: encoded,
  previousHeaderHash: prevHeaderHash,
  utxosRoot,
  startTime,
  endTime,
  transactions,
  deposits,
  ...(held && { held }),
})

/** Bytes of transactions taken apart before the roots are known: a block of 10,000 transfers has fewer. */
const takenApartAhead = 4 * 1024 * 1024

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
  const judge = (before: UtxoView, known?: KnownAt) =>
    faultOf(judgeBlock(transactions, header, before, rules, known, deposits), hash)

  /** @throws {BlockError} when the trie finds that the transactions are those of another header */
  function belongs(roots: BlockRoots | undefined): roots is BlockRoots {
    if (roots === undefined) return false
    const differs = (['transactionsRoot', 'depositsRoot'] as const).find(
      (name) => !equalBytes(roots[name], header[name]),
    )
    if (differs === undefined) return true
    const [content, root] =
      differs === 'transactionsRoot' ? ['transactions', 'transactions_root'] : ['deposits', 'deposits_root']
    throw new BlockError('BLOCK_BODY_MISMATCH', `The ${content} do not have the ${root} of the header`)
  }

  /** Undefined if the trie refuses the block. */
  async function checkOnTrie(): Promise<CheckedBody | undefined> {
    const applying = applied(context, transactions, deposits)
    // It may not be awaited.
    applying.catch(() => undefined)
    const bytes = transactions.reduce((sum, { length }) => sum + length, 0)
    // A stranger could have sent a larger one: what it is taken apart into takes many times its bytes.
    const isLarge = bytes > takenApartAhead
    if (isLarge && !belongs(await applying)) return undefined
    const apart = await (isLarge ? takeApartAgain : takeApart)(transactions, rules.bridge)
    if (apart === undefined) return undefined
    const held = await store.blocks.inMempool(apart.identified)
    // A credit may be another output than the one that a transaction was accepted with.
    const credited = new BytesSet(deposits.map(({ id }) => id))
    const isKnown = (place: number, { named }: Pick<Examined, 'named'>) =>
      held.has(place) && !named.some(({ transactionId }) => credited.has(transactionId))
    const known = (place: number) => {
      const part = held.has(place) ? apart.at(place) : undefined
      return part && isKnown(place, part) ? part : undefined
    }
    const before = await readOutputsBefore(store, namedBy(apart, isKnown))
    const roots = await applying
    // Only then: the body that a lying peer sends could take long to judge.
    if (!belongs(roots)) return undefined
    const fault = await judge(before.utxos, known)
    if (fault !== undefined) return { fault }
    if (!equalBytes(roots.utxosRoot, header.utxosRoot))
      return invalid('its transactions do not lead to its utxos_root.')
    if (!equalBytes(roots.withdrawalsRoot, header.withdrawalsRoot))
      return invalid('its withdrawals_root is not that of its transactions.')
    return { transactions: await apart.all(), held, deposits: deposits.map(creditedOf) }
  }

  /** Why the block is not known to credit what layer 1 has. */
  async function faultOfEvents(): Promise<SequencerError | undefined> {
    if (events === undefined) return undefined
    try {
      const found = await verifyDeposits(deposits, header, events)
      return found === 'right'
        ? undefined
        : unjudgedBlock(hash, 'layer 1 is read too late to know its deposits')
    } catch (failure) {
      if (isInvalidBlock(failure)) return invalidBlock(hash, `${failure.message}.`)
      throw failure
    }
  }

  const checked = await checkOnTrie()
  if (checked !== undefined) {
    // Last, because the body belongs to the header then.
    const fault = checked.fault ?? (await faultOfEvents())
    return fault === undefined ? checked : { fault }
  }
  await realignRoots(context)
  const before = async (derivation: Derivation) => {
    const older = mapped(derivation.older(), decodeOutputReference)
    return (await readOutputsBefore(store, older)).hashOf
  }
  const { error } = await verifyReadings(body, header, before, rules.bridge)
  if (error !== undefined) return invalid(error.message)
  const { utxos } = await readOutputsBefore(store, namedIn(transactions, rules.bridge))
  const fault = await judge(utxos)
  if (fault !== undefined) return { fault }
  throw new Error(`The outputs of this ledger do not allow block ${hash}, which is valid`)
}

/** The outputs that transactions name. Of those that are known, only the ones that they read. */
function* namedBy(
  { identified, at }: BlockApart,
  isKnown: (place: number, part: Examined) => boolean,
): Generator<OutputReference, void> {
  for (const place of identified.keys()) {
    const part = at(place)
    const { spent, named } = part
    const left = new Set(isKnown(place, part) ? spent.map(outputReferenceKey) : [])
    for (const reference of named)
      if (left.size === 0 || !left.has(outputReferenceKey(reference))) yield reference
  }
}

/** The outputs that transactions name which decode. */
function* namedIn(
  transactions: readonly Uint8Array[],
  bridge: Uint8Array | undefined,
): Generator<OutputReference, void> {
  for (const cbor of transactions) yield* tryExamine(cbor, bridge)?.named ?? []
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
  at(place: number): Examined
  all(): Promise<readonly Examined[]>
}

/** Takes the transactions of a block apart, once; undefined if one does not decode. */
export async function takeApart(
  transactions: readonly Uint8Array[],
  bridge?: Uint8Array,
): Promise<BlockApart | undefined> {
  const examined = await each(transactions, bridge, (part) => part)
  if (examined === undefined) return undefined
  return { identified: examined, at: (place) => examined[place] as Examined, all: async () => examined }
}

/** The same for a huge block: keeps no transaction taken apart until the block is known to keep the rules. */
export async function takeApartAgain(
  transactions: readonly Uint8Array[],
  bridge?: Uint8Array,
): Promise<BlockApart | undefined> {
  const identified = await each(transactions, bridge, ({ id, cbor }) => ({ id, cbor }))
  if (identified === undefined) return undefined
  return {
    identified,
    at: (place) => examine(transactions[place] as Uint8Array, bridge),
    all: async () => (await each(transactions, bridge, (part) => part)) ?? [],
  }
}

/** The kept part of each transaction; undefined if one does not decode. Other work runs meanwhile. */
async function each<Kept>(
  transactions: readonly Uint8Array[],
  bridge: Uint8Array | undefined,
  keep: (examined: Examined) => Kept,
): Promise<readonly Kept[] | undefined> {
  const kept: Kept[] = []
  const pauseIfDue = createPauses()
  for (const cbor of transactions) {
    await pauseIfDue()
    const examined = tryExamine(cbor, bridge)
    if (examined === undefined) return undefined
    kept.push(keep(examined))
  }
  return kept
}

/** Outputs that one query asks for. */
const step = 1_000

/** The outputs that are unspent after the store's newest block, of those that were asked for. */
interface OutputsBefore {
  /** For the transactions map; see `OutputHashes`. */
  readonly hashOf: OutputHashes
  /** For the rules of the ledger. */
  readonly utxos: UtxoView
}

/** Reads those outputs before a block that it names. References are not kept: there may be half a million. */
async function readOutputsBefore(
  { blocks }: Pick<SequencerStore, 'blocks'>,
  references: Iterable<OutputReference>,
): Promise<OutputsBefore> {
  const outputs = new Map<string, Uint8Array>()
  let wanted = new Map<string, OutputReference>()
  const pauseIfDue = createPauses()
  async function read(): Promise<void> {
    for (const { reference, output } of await blocks.outputsAfterNewest([...wanted.values()]))
      outputs.set(outputReferenceKey(reference), output)
    wanted = new Map()
  }
  for (const reference of references) {
    await pauseIfDue()
    const key = outputReferenceKey(reference)
    if (!outputs.has(key)) wanted.set(key, reference)
    if (wanted.size === step) await read()
  }
  if (wanted.size > 0) await read()
  return {
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
  readonly produced: ExaminedTransaction['produced']
}

/** Takes a transaction apart. @param bridge hash of the bridge's script, in a deployment that has one */
function examine(cbor: Uint8Array, bridge: Uint8Array | undefined): Examined {
  const transaction = decodeTransaction(cbor)
  const { inputs, collateralInputs, referenceInputs, fee, validityInterval } = transaction.body
  return {
    ...appliedTransaction(transaction, ({ address }) => isBridgeAddress(address.bytes, bridge)),
    named: [...inputs, ...collateralInputs, ...referenceInputs],
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
