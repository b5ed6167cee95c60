import { BytesSet, equalBytes, toHex } from '@ratatosk/cbor'
import { isLayer1Error, missingInputs } from '@ratatosk/layer1'
import { decodeTransaction, effects, outputReferenceKey, type Transaction, type Utxo } from '@ratatosk/ledger'
import { type BuiltTransaction, isWalletError, type TransactionDraft } from '@ratatosk/ledger/builder'
import type { RecordedTransaction, VerdictRecord, VerdictStage } from '@ratatosk/store'
import type { InFlight, OwnTransaction, WatcherContext } from './context.js'

const hourMs = 3_600_000

/** The status of a recorded transaction. `dead`: layer 1 can no longer include it. */
type SentState = 'included' | 'pending' | 'dead'

/** Looks up transactions in build order; sends unknown ones again, and forgets expired ones. */
export async function follow<Each extends OwnTransaction>(
  context: WatcherContext,
  journal: readonly Each[],
  slot: bigint,
): Promise<readonly { readonly state: SentState; readonly recorded: Each }[]> {
  const followed: { readonly state: SentState; readonly recorded: Each }[] = []
  for (const recorded of journal) {
    const state = await followOne(context, recorded, slot)
    followed.push({ state, recorded })
    if (state !== 'dead') continue
    const { id, stage } = recorded
    context.dead.add(id)
    context.log.warn(
      { transaction: toHex(id), stage },
      'Layer 1 cannot include a transaction: it is forgotten',
    )
    await forget(context, recorded)
  }
  return followed
}

/** The recorded transactions of a block's removal, without questions and prunings of later blocks. */
export const removalsOf = ({ journal }: VerdictRecord): readonly RecordedTransaction[] =>
  journal.filter(({ stage }) => stage !== 'question' && stage !== 'prune')

/** Forgets a transaction, so that others may spend its inputs. */
export async function forget(
  { wallet, verdicts, sendings }: WatcherContext,
  { id, stage }: OwnTransaction,
): Promise<void> {
  wallet.release(id)
  sendings.delete(id)
  if (stage !== 'sweep') await verdicts.drop(id)
}

async function followOne(context: WatcherContext, own: OwnTransaction, slot: bigint): Promise<SentState> {
  const { layer1, wallet, signal, included, dead } = context
  const { id } = own
  const { kind } = await layer1.status(id, { signal })
  if (kind === 'confirmed') {
    included.add(id)
    return 'included'
  }
  included.delete(id)
  const transaction = decodeTransaction(own.cbor)
  const expired = kind === 'unknown' ? await isExpired(context, transaction, slot) : 'no'
  if (expired === 'yes') return 'dead'
  if (expired === 'perhaps') return 'pending'
  const { dueAt } = sendingOf(context, own)
  const isWaiting = kind === 'pending' || performance.now() < dueAt
  const isHeld = (): boolean => wallet.isInFlight(id)
  // They may be about blocks that are no longer worked on, and never be included.
  if (!isHeld() || !isWaiting) await follow(context, await followedParentsOf(context, transaction), slot)
  // Sent by an earlier process, or rolled back: other transactions must not spend its inputs.
  if (!isHeld()) await wallet.adopt(own.cbor, { signal })
  if (isWaiting) return 'pending'
  for (const parent of parentIdsOf(transaction)) if (dead.has(parent)) return 'dead'
  if (await isOvertaken(context, transaction)) return 'dead'
  // An earlier sending may have an effect although this one is refused.
  await send(context, own)
  return 'pending'
}

function sendingOf({ sendings }: WatcherContext, transaction: OwnTransaction): InFlight {
  const { id } = transaction
  const known = sendings.get(id) ?? { transaction, dueAt: 0, isAccepted: false }
  sendings.set(id, known)
  return known
}

/** Those in flight that make what a transaction spends, or gives as collateral. */
function parentsOf({ wallet, sendings }: WatcherContext, transaction: Transaction): readonly InFlight[] {
  const ids = parentIdsOf(transaction)
  return wallet.inFlight().flatMap((id) => (ids.has(id) && sendings.get(id)) || [])
}

/** And those that are recorded: an earlier process may have sent them, or layer 1 may have lost them. */
async function followedParentsOf(
  context: WatcherContext,
  transaction: Transaction,
): Promise<readonly OwnTransaction[]> {
  const parents = parentsOf(context, transaction).map((parent) => parent.transaction)
  const ids = parentIdsOf(transaction)
  for (const { id } of parents) ids.delete(id)
  if (ids.size === 0) return parents
  return [...parents, ...(await context.verdicts.recorded([...ids]))]
}

const parentIdsOf = ({ body: { inputs, collateralInputs } }: Transaction): BytesSet =>
  new BytesSet([...inputs, ...collateralInputs].map(({ transactionId }) => transactionId))

/** Sends a transaction. @returns false if layer 1 refuses it for good */
export async function send(context: WatcherContext, own: OwnTransaction): Promise<boolean> {
  const { wallet, signal, step, log, resendMs, refusedMs } = context
  const { id, cbor, stage } = own
  const sending = sendingOf(context, own)
  try {
    await wallet.submit({ id, bytes: cbor }, { signal })
    sending.isAccepted = true
  } catch (error) {
    if (!isLayer1Error(error) || error.code !== 'LAYER1_REJECTED') throw error
    const fields = { transaction: toHex(id), stage, reason: error.reason }
    log.warn(fields, `Layer 1 refused a transaction: ${error.message}`)
    // If it may have an effect, the next lookup decides.
    if (!error.mayHaveEffect) return false
  }
  const now = performance.now()
  sending.dueAt = now + (sending.isAccepted ? resendMs : refusedMs)
  if (!sending.isAccepted)
    for (const parent of parentsOf(context, decodeTransaction(cbor)))
      parent.dueAt = Math.min(parent.dueAt, sending.dueAt)
  if (stage !== 'sweep') step(`${stage}-sent`)
  return true
}

interface Wanted {
  /** Of the block that it is about; 28 bytes. */
  readonly headerHash: Uint8Array
  readonly stage: VerdictStage
  readonly draft: TransactionDraft
  readonly proof?: VerdictRecord['proof']
  /** Read once more before it costs ada. */
  readonly isNeeded?: () => Promise<boolean>
}

/** Stages whose outputs with datums come back to the wallet later, or to the asker. */
const locking: readonly VerdictStage[] = ['question', 'datum']

/** Builds, records and sends a transaction; undefined if it is not needed, or ada or budget is lacking. */
export async function buildAndSend(
  context: WatcherContext,
  wanted: Wanted,
  slot: bigint,
): Promise<RecordedTransaction | undefined> {
  const { wallet, verdicts, step, log } = context
  const { headerHash, stage, proof, isNeeded = async () => true } = wanted
  const built = await build(context, wanted, slot)
  if (built === undefined) return undefined
  const locked = locking.includes(stage) ? lovelaceInDatums(built) : 0n
  const recorded = { id: built.id, stage, cbor: built.bytes, fee: built.fee, locked }
  try {
    if (!(await isNeeded()) || !(await isWithinBudget(context, built.fee + locked))) {
      wallet.release(built.id)
      return undefined
    }
    await verdicts.record(headerHash, recorded, proof)
  } catch (error) {
    wallet.release(built.id)
    throw error
  }
  context.lacks(undefined)
  step(`${stage}-recorded`)
  if (!(await send(context, recorded))) {
    await forget(context, recorded)
    return undefined
  }
  log.warn(
    { headerHash: toHex(headerHash), transaction: toHex(built.id), stage, ...proof, fee: Number(built.fee) },
    lines[stage] ?? 'Removing an invalid block',
  )
  return recorded
}

const lines: Partial<Record<VerdictStage, string>> = {
  question: 'Asking for what the operator of a block hides',
  prune: 'Pruning blocks behind a removed one',
}

async function build(
  context: WatcherContext,
  { draft }: Wanted,
  slot: bigint,
): Promise<BuiltTransaction | undefined> {
  const { wallet, layer1, signal, validityMs, sendings } = context
  const slots = await layer1.slots({ signal })
  const validUntil = slot + BigInt(Math.ceil(validityMs / slots.slotLength))
  try {
    const built = await wallet.build(
      { validUntil, ...draft },
      { signal, spared: await sparedOf(context, draft) },
    )
    for (const id of sendings.keys()) if (!wallet.isInFlight(id)) sendings.delete(id)
    return built
  } catch (error) {
    if (!isWalletError(error) || error.code !== 'WALLET_INSUFFICIENT_FUNDS') throw error
    context.lacks({ code: 'WATCHER_LACKS_FUNDS', reason: `${error.message}: send ada to it` })
    return undefined
  }
}

const lovelaceInDatums = ({ produced }: BuiltTransaction): bigint =>
  produced
    .filter(({ output }) => output.datum.kind === 'inline')
    .reduce((sum, { output }) => sum + output.value.lovelace, 0n)

async function isWithinBudget(context: WatcherContext, lovelace: bigint): Promise<boolean> {
  const left = await leftOfBudget(context)
  if (left === undefined || lovelace <= left) return true
  const { maxLovelacePerHour: most } = context
  const rest = `${left} of ${most} are left in this hour`
  const reason = `The next transaction takes ${lovelace} lovelace, and ${rest}`
  context.lacks({ code: 'WATCHER_BUDGET_SPENT', reason })
  return false
}

/** Lovelace; undefined without a budget. */
async function leftOfBudget({ maxLovelacePerHour, verdicts }: WatcherContext): Promise<bigint | undefined> {
  if (maxLovelacePerHour === undefined) return undefined
  return maxLovelacePerHour - (await verdicts.spentSince(new Date(Date.now() - hourMs)))
}

/** Lovelace that stays for fees, change and collateral. */
const keptBack = 12_000_000n
/** Lovelace that a transaction with many questions costs at most. */
const keptFee = 1_000_000n

/** Lovelace that questions may lock now, by wallet and budget. */
export async function affordable(context: WatcherContext): Promise<bigint> {
  const { wallet, signal } = context
  const left = await leftOfBudget(context)
  const owned = (await wallet.spendable({}, { signal })) - keptBack
  return left === undefined || owned < left - keptFee ? owned : left - keptFee
}

/** Whether an unknown transaction has expired. `perhaps`: the answer may be older than the tip. */
async function isExpired(
  { layer1, signal, lagMs }: WatcherContext,
  { body: { validityInterval } }: Transaction,
  slot: bigint,
): Promise<'yes' | 'perhaps' | 'no'> {
  const { invalidHereafter } = validityInterval
  if (invalidHereafter === undefined || slot < invalidHereafter) return 'no'
  const { slotLength } = await layer1.slots({ signal })
  return slot >= invalidHereafter + BigInt(Math.ceil(lagMs / slotLength)) ? 'yes' : 'perhaps'
}

/** Whether another included transaction uses one of its inputs. A missing output proves nothing. */
async function isOvertaken(
  { layer1, wallet, signal }: WatcherContext,
  transaction: Transaction,
): Promise<boolean> {
  const missing = await missingInputs(layer1, (id) => wallet.isInFlight(id), transaction, { signal })
  for (const reference of missing) {
    const spending = await layer1.spending(reference, { signal })
    if (spending !== undefined && !equalBytes(spending.transactionId, transaction.id)) return true
  }
  return false
}

type Spared = Pick<Utxo, 'reference'>

/**
 * Outputs that a new transaction must not pay with: those that recorded ones in flight use, datums of proofs,
 * and outputs of sweeps in flight, because the next process could not follow what spends them.
 */
export async function sparedOf(
  context: WatcherContext,
  { referenceInputs = [] }: Pick<TransactionDraft, 'referenceInputs'> = {},
): Promise<readonly Spared[]> {
  const { verdicts, wallet, sendings, isUndecided } = context
  const pruned = (await verdicts.newestRemoved())?.journal.filter(({ stage }) => stage === 'prune') ?? []
  const open = (await verdicts.open()).filter(isUndecided)
  const proving = open.filter(({ state }) => state !== 'unprovable').flatMap(({ journal }) => journal)
  const sweeps = wallet.inFlight().flatMap((id) => {
    const own = sendings.get(id)?.transaction
    return own?.stage === 'sweep' ? madeBy(own) : []
  })
  const recorded = [...open.flatMap(({ journal }) => journal), ...pruned]
  const needed: Spared[] = []
  for (const each of recorded) if (!(await isIncluded(context, each))) needed.push(...neededBy(each))
  const datums = proving.flatMap(madeBy).filter(({ output }) => output.datum.kind === 'inline')
  const read = new Set(referenceInputs.map(keyOf))
  return [...needed, ...datums, ...sweeps].filter((each) => !read.has(keyOf(each)))
}

/** Whether layer 1 has shown a transaction in a block: its collateral is free again. */
async function isIncluded(
  { layer1, signal, included }: WatcherContext,
  { id }: RecordedTransaction,
): Promise<boolean> {
  if (included.has(id)) return true
  if ((await layer1.status(id, { signal })).kind !== 'confirmed') return false
  included.add(id)
  return true
}

function neededBy({ cbor }: RecordedTransaction): readonly Spared[] {
  const { inputs, referenceInputs, collateralInputs } = decodeTransaction(cbor).body
  return [...inputs, ...referenceInputs, ...collateralInputs].map((reference) => ({ reference }))
}

const madeBy = ({ cbor }: Pick<RecordedTransaction, 'cbor'>): readonly Utxo[] =>
  effects(decodeTransaction(cbor)).produced

const keyOf = ({ reference }: Spared): string => outputReferenceKey(reference)
