import { encodeHeader } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { isLayer1Error } from '@ratatosk/layer1'
import { outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import { isWalletError } from '@ratatosk/ledger/builder'
import {
  type OpenQuestion,
  pruneBlocks,
  removeInvalidBlock,
  type StateQueue,
  staleBlocks,
} from '@ratatosk/protocol'
import {
  type AccusedBlock,
  accuse,
  type FraudRemoval,
  type ProvenFraud,
  type RemovalByFraud,
  removeFraudulentBlock,
} from '@ratatosk/protocol/fraud'
import type { VerdictRecord } from '@ratatosk/store'
import { silence } from './ask.js'
import type { Job, WatcherContext } from './context.js'
import { searchOutputs, searchTransactions } from './hidden-root.js'
import { elementsOf, readHeld, readOperators, readScripts } from './read-layer1.js'
import { buildAndSend, follow, removalsOf } from './send.js'

/** Takes the next step of a removal; without a proof, asks for what the operator hides. */
export async function advanceRemoval(
  context: WatcherContext,
  job: Job,
  queue: StateQueue,
  known: VerdictRecord | undefined,
  open: () => Promise<readonly OpenQuestion[]>,
  slot: bigint,
): Promise<void> {
  const { block } = job
  const { headerHash } = block
  const elements = elementsOf(queue, headerHash)
  // The provider shows an older queue than to the follower, or the block is gone.
  if (elements === undefined) return
  const { before, element } = elements
  const verdict = known !== undefined && job.isRecorded ? known : await record(context, job, before)
  const sent = await follow(context, removalsOf(verdict), slot)
  const isWaiting = sent.some(
    ({ state, recorded: { stage } }) => state === 'pending' || (state === 'included' && stage === 'removal'),
  )
  if (isWaiting || job.signal.aborted) return
  const included = sent.flatMap(({ state, recorded }) => (state === 'included' ? recorded : []))
  const held = await readHeld(context, headerHash, included)
  if (await removeByVerdict(context, headerHash, queue, held, slot)) return
  const state = await readState(context, queue, [before, element], held)
  const removal =
    (await search(context, job, state)) ?? (await ask(context, job, verdict, state, await open(), slot))
  if (removal === undefined || job.signal.aborted) return
  const { stage, draft, policy, fraud } = removal
  try {
    await buildAndSend(context, { headerHash, stage, draft, proof: { policy, fraud } }, slot)
  } catch (error) {
    if (!isWalletError(error) || error.code !== 'WALLET_TRANSACTION_REFUSED') throw error
    searched(job, state, undefined, error.message)
  }
}

interface State extends Required<Pick<RemovalByFraud, 'queue' | 'registry' | 'referenceScripts' | 'held'>> {
  /** Names the outputs. */
  readonly key: string
}

async function readState(
  context: WatcherContext,
  queue: StateQueue,
  elements: readonly Utxo[],
  held: readonly Utxo[],
): Promise<State> {
  const registry = await readOperators(context)
  const referenceScripts = await readScripts(context)
  const key = [...elements, registry.utxo, ...referenceScripts, ...held]
    .map(({ reference }) => outputReferenceKey(reference))
    .join()
  return { key, queue, registry, referenceScripts, held }
}

async function record({ verdicts, step }: WatcherContext, job: Job, before: Utxo): Promise<VerdictRecord> {
  const { headerHash, height, header, error } = job.block
  const { message: reason, position } = error
  const verdict = await verdicts.found({
    headerHash,
    height,
    header: encodeHeader(header),
    reason,
    commitId: before.reference.transactionId,
    ...(position !== undefined && { position }),
  })
  job.isRecorded = true
  step('found')
  return verdict
}

/** Searches a proof, once for each state of layer 1; undefined where none is accepted. */
async function search(context: WatcherContext, job: Job, state: State): Promise<FraudRemoval | undefined> {
  if (job.searched?.key === state.key) return job.searched.removal
  try {
    job.accused ??= await accuse(job.block)
  } catch (error) {
    return searched(job, state, undefined, messageOf(error))
  }
  return draftRemoval(context, job, state, job.accused)
}

/** Keeps the result of a search for this state of layer 1. */
function searched(job: Job, { key }: State, removal: FraudRemoval | undefined, why?: string) {
  job.searched = { key, removal, ...(why !== undefined && { why }) }
  return removal
}

/** Drafts a removal by a proof, which is searched unless it is given; undefined where none is accepted. */
async function draftRemoval(
  context: WatcherContext,
  job: Job,
  state: State,
  accused: AccusedBlock,
  proven?: readonly ProvenFraud[],
): Promise<FraudRemoval | undefined> {
  const { contracts, rules, layer1, wallet, evaluator, signal } = context
  const { key: _, ...outputs } = state
  try {
    const removal = await removeFraudulentBlock(
      contracts,
      {
        block: { ...accused, valueOf: (value) => whileWatched(job, accused.valueOf(value)) },
        rules,
        ...outputs,
        address: wallet.keys.address.bytes,
        ...(proven && { proven }),
      },
      {
        parameters: await layer1.parameters({ signal }),
        slots: await layer1.slots({ signal }),
        slot: await layer1.currentSlot({ signal }),
        evaluator,
      },
    )
    if (removal === undefined) return searched(job, state, undefined, noProof)
    context.log.info({ headerHash: toHex(job.block.headerHash), ...what(removal) }, 'Found a fraud')
    return searched(job, state, removal)
  } catch (error) {
    if (job.signal.aborted) return undefined
    if (isLayer1Error(error) || (isWalletError(error) && error.code !== 'WALLET_INVALID_DRAFT')) throw error
    return searched(job, state, undefined, messageOf(error))
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const noProof = 'no fraud proof shows it'

/** Asks for what the operator hides, until that is a proof. Reports a block that nothing can remove. */
async function ask(
  context: WatcherContext,
  job: Job,
  verdict: VerdictRecord,
  state: State,
  open: readonly OpenQuestion[],
  slot: bigint,
): Promise<FraudRemoval | undefined> {
  if (job.signal.aborted) return undefined
  const { why = noProof } = job.searched ?? {}
  const asking = { context, job, verdict, open, slot }
  const { accused } = job
  const hidden =
    accused === undefined
      ? await searchTransactions(asking, (block, proven) => draftRemoval(context, job, state, block, proven))
      : await searchOutputs(asking, accused)
  if (hidden.kind === 'found') {
    const { found } = hidden
    const removal =
      'draft' in found ? found : accused && (await draftRemoval(context, job, state, accused, [found]))
    if (removal !== undefined) return removal
  }
  if (hidden.kind !== 'waiting') await fail(context, job, ('why' in hidden && hidden.why) || why)
  return undefined
}

const what = ({ policy, fraud, stage }: FraudRemoval) => ({ policy, fraud, stage })

/** Ends a search when the block is gone. */
function whileWatched<Value>({ signal }: Job, value: Value): Value {
  signal.throwIfAborted()
  return value
}

/** Attempts at a block; what is wrong may be what the provider showed. */
const attempts = 3

/** Notes a failed attempt. After the last, the follower may judge the blocks behind. */
async function fail({ verdicts, log, retryLater }: WatcherContext, job: Job, why: string): Promise<void> {
  delete job.searched
  job.failures++
  if (job.failures < attempts) return retryLater()
  const { headerHash, height, error } = job.block
  const reason = `${error.message} (not provable: ${why})`
  await verdicts.unprovable(headerHash, reason)
  log.error(
    { code: 'WATCHER_UNPROVABLE', headerHash: toHex(headerHash), height: Number(height), reason },
    'An invalid block stays in the state queue: no fraud proof removes it',
  )
  job.giveUp()
}

/** Prunes the blocks behind a removed one. `wasPruning`, and the result: transactions may be in flight. */
export async function pruneBehindRemoved(
  context: WatcherContext,
  queue: StateQueue,
  slot: bigint,
  wasPruning: boolean,
): Promise<boolean> {
  const isStale = staleBlocks(queue) !== undefined
  if (!isStale && !wasPruning) return false
  const removed = await context.verdicts.newestRemoved()
  if (removed === undefined) return false
  const { headerHash, journal } = removed
  const sent = await follow(
    context,
    journal.filter(({ stage }) => stage === 'prune'),
    slot,
  )
  if (sent.some(({ state }) => state === 'pending')) return true
  if (!isStale) return false
  const draft = pruneBlocks(context.contracts, queue, await readScripts(context))
  await buildAndSend(context, { headerHash, stage: 'prune', draft }, slot)
  return true
}

/** Removes a block by a verdict of the summons, if an output holds one; returns whether one does. */
export async function removeByVerdict(
  context: WatcherContext,
  headerHash: Uint8Array,
  queue: StateQueue,
  held: readonly Utxo[],
  slot: bigint,
): Promise<boolean> {
  const { contracts } = context
  const name = toHex(headerHash)
  const policy = contracts.summons?.policy ?? ''
  const utxo = held.find(({ output }) => output.value.assets.get(policy)?.has(name))
  if (utxo === undefined) return false
  const registry = await readOperators(context)
  const draft = removeInvalidBlock(contracts, {
    queue,
    registry,
    headerHash,
    verdict: { kind: 'held', utxo },
    referenceScripts: await readScripts(context),
  })
  await buildAndSend(context, { headerHash, stage: 'removal', draft, proof: silence }, slot)
  return true
}
