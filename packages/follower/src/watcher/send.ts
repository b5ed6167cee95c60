import { toHex } from '@ratatosk/cbor'
import { createOutbox, type Outbox, type OutboxOptions, type OutboxState } from '@ratatosk/layer1'
import { decodeTransaction, effects, outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import { type BuiltTransaction, isWalletError, type TransactionDraft } from '@ratatosk/ledger/builder'
import type { RecordedTransaction, VerdictRecord, VerdictStage } from '@ratatosk/store'
import type { OwnTransaction, WatcherContext } from './context.js'

const hourMs = 3_600_000

type Means = Pick<WatcherContext, 'layer1' | 'wallet' | 'verdicts' | 'log' | 'step'>
type Times = Pick<OutboxOptions, 'resendEverySlots' | 'refusedSlots' | 'lagSlots'>

/** Opens the outbox of a watcher. All but sweeps are recorded before they are sent. */
export const openOutbox = (
  { layer1, wallet, verdicts, log, step }: Means,
  times: Times,
): Outbox<OwnTransaction> =>
  createOutbox({
    ...times,
    layer1,
    wallet,
    log,
    parents: async (ids) => (await verdicts.recorded(ids)).map(letterOf),
    sent({ stage }) {
      if (stage !== 'sweep') step(`${stage}-sent`)
    },
    async forget({ id, stage }, why) {
      const fields = { transaction: toHex(id), stage }
      if (why === 'dead') log.warn(fields, 'Layer 1 cannot include a transaction: it is forgotten')
      if (stage !== 'sweep') await verdicts.drop(id)
    },
  })

/** A recorded transaction as the outbox takes it. */
const letterOf = ({ id, cbor, stage }: RecordedTransaction): OwnTransaction => ({ id, bytes: cbor, stage })

/** A recorded transaction, and whether layer 1 has it. */
interface Followed {
  readonly state: OutboxState
  readonly recorded: RecordedTransaction
}

/** Looks up transactions; sends unknown ones again, and forgets dead ones. */
export async function follow(
  context: WatcherContext,
  journal: readonly RecordedTransaction[],
  slot: bigint,
): Promise<readonly Followed[]> {
  const { included, signal } = context
  const outbox = await context.outbox()
  const followed: Followed[] = []
  for (const recorded of journal) {
    const state = await outbox.follow(letterOf(recorded), slot, { signal })
    if (state === 'included') included.add(recorded.id)
    else included.delete(recorded.id)
    followed.push({ state, recorded })
  }
  return followed
}

/** The recorded transactions of a block's removal, without questions and prunings of later blocks. */
export const removalsOf = ({ journal }: VerdictRecord): readonly RecordedTransaction[] =>
  journal.filter(({ stage }) => stage !== 'question' && stage !== 'prune')

interface Wanted {
  /** Of the block that it is about; 28 bytes. */
  readonly headerHash: Uint8Array
  readonly stage: VerdictStage
  readonly draft: TransactionDraft
  readonly proof?: VerdictRecord['proof']
  /** The slot at which its validity begins to count; by default that of the tip. */
  readonly from?: bigint
  /** Read once more before it costs ada. */
  readonly isNeeded?: () => Promise<boolean>
}

/** Stages whose outputs with datums come back to the wallet later, or to the asker. */
const locking: readonly VerdictStage[] = ['question', 'datum']

/**
 * Builds, records and sends a transaction; undefined if it is not needed, if ada or budget is lacking, or if
 * layer 1 has refused it.
 *
 * @param slot of the tip
 */
export async function buildAndSend(
  context: WatcherContext,
  wanted: Wanted,
  slot: bigint,
): Promise<RecordedTransaction | undefined> {
  const { wallet, verdicts, signal, step, log } = context
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
  const outbox = await context.outbox()
  if ((await outbox.send(letterOf(recorded), slot, { signal })) === 'refused') return undefined
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
  { draft, from }: Wanted,
  slot: bigint,
): Promise<BuiltTransaction | undefined> {
  const { wallet, layer1, signal, validityMs } = context
  const slots = await layer1.slots({ signal })
  const validUntil = (from ?? slot) + BigInt(Math.ceil(validityMs / slots.slotLength))
  try {
    return await wallet.build({ validUntil, ...draft }, { signal, spared: await sparedOf(context, draft) })
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

type Spared = Pick<Utxo, 'reference'>

/**
 * Outputs that a new transaction must not pay with: those that recorded ones in flight use, datums of proofs,
 * and outputs of sweeps in flight, because the next process could not follow what spends them.
 */
export async function sparedOf(
  context: WatcherContext,
  { referenceInputs = [] }: Pick<TransactionDraft, 'referenceInputs'> = {},
): Promise<readonly Spared[]> {
  const { verdicts, wallet, isUndecided } = context
  const pruned = (await verdicts.newestRemoved())?.journal.filter(({ stage }) => stage === 'prune') ?? []
  const open = (await verdicts.open()).filter(isUndecided)
  const proving = open.filter(({ state }) => state !== 'unprovable').flatMap(({ journal }) => journal)
  const sweeps = [...context.sweeps.values()].filter(({ id }) => wallet.isInFlight(id))
  const recorded = [...open.flatMap(({ journal }) => journal), ...pruned]
  const needed: Spared[] = []
  for (const each of recorded) if (!(await isIncluded(context, each))) needed.push(...neededBy(each))
  const datums = proving
    .flatMap(({ cbor }) => madeBy(cbor))
    .filter(({ output }) => output.datum.kind === 'inline')
  const read = new Set(referenceInputs.map(keyOf))
  const swept = sweeps.flatMap(({ bytes }) => madeBy(bytes))
  return [...needed, ...datums, ...swept].filter((each) => !read.has(keyOf(each)))
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

const madeBy = (cbor: Uint8Array): readonly Utxo[] => effects(decodeTransaction(cbor)).produced

const keyOf = ({ reference }: Spared): string => outputReferenceKey(reference)
