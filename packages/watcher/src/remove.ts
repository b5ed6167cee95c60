import { setTimeout as pause } from 'node:timers/promises'
import { encodeHeader } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { accuse, type FraudRemoval, removeFraudulentBlock } from '@ratatosk/fraud'
import { isLayer1Error } from '@ratatosk/layer1'
import { outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import { type StateQueue, soundRoot } from '@ratatosk/protocol'
import type { VerdictRecord } from '@ratatosk/store'
import { isWalletError } from '@ratatosk/transaction'
import type { Job, WatcherContext } from './context.js'
import { findRegistry, readHeld, readScripts } from './read-layer1.js'
import { buildAndSend, follow, removalsOf } from './send.js'

/**
 * Does what is next for the removal of an invalid block: records the finding, follows what was sent, or
 * searches a proof and sends the next transaction.
 *
 * @param known the verdict, if it is recorded
 * @param slot of layer 1's tip
 */
export async function advanceRemoval(
  context: WatcherContext,
  job: Job,
  queue: StateQueue,
  known: VerdictRecord | undefined,
  slot: bigint,
): Promise<void> {
  const { block } = job
  const name = toHex(block.headerHash)
  const place = queue.blocks.findIndex(({ headerHash }) => headerHash === name)
  const element = queue.blocks[place]
  // The provider shows an older queue than to the follower, or the block is gone.
  if (element === undefined) return
  const before = (queue.blocks[place - 1] ?? soundRoot(queue)).utxo
  const verdict = known !== undefined && job.isRecorded ? known : await record(context, job, before)
  const sent = await follow(context, removalsOf(verdict), slot)
  const isWaiting = sent.some(
    ({ state, recorded: { stage } }) => state === 'pending' || (state === 'included' && stage === 'removal'),
  )
  if (isWaiting || job.signal.aborted) return
  const included = sent.flatMap(({ state, recorded }) => (state === 'included' ? recorded : []))
  const held = await readHeld(context, name, included)
  const removal = await search(context, job, queue, [before, element.utxo], held)
  if (removal === undefined || job.signal.aborted) return
  const { stage, draft, policy, fraud } = removal
  const { headerHash } = block
  try {
    await buildAndSend(context, { headerHash, stage, draft, proof: { policy, fraud } }, slot)
  } catch (error) {
    if (!isWalletError(error) || error.code !== 'WALLET_TRANSACTION_REFUSED') throw error
    await fail(context, job, error.message)
  }
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
async function search(
  context: WatcherContext,
  job: Job,
  queue: StateQueue,
  elements: readonly Utxo[],
  held: readonly Utxo[],
): Promise<FraudRemoval | undefined> {
  const registry = await findRegistry(context)
  if (registry === undefined) throw new Error('Layer 1 shows no registry of operators')
  const referenceScripts = await readScripts(context)
  const key = [...elements, registry.utxo, ...referenceScripts, ...held]
    .map(({ reference }) => outputReferenceKey(reference))
    .join()
  if (job.searched?.key === key) return job.searched.removal
  const { contracts, rules, layer1, wallet, evaluator, signal } = context
  try {
    job.accused ??= await accuse(job.block)
    const { accused, block } = job
    const removal = await removeFraudulentBlock(
      contracts,
      {
        block: { ...accused, valueOf: (value) => whileWatched(job, accused.valueOf(value)) },
        rules,
        queue,
        registry,
        referenceScripts,
        held,
        address: wallet.keys.address.bytes,
      },
      {
        parameters: await layer1.parameters({ signal }),
        slots: await layer1.slots({ signal }),
        slot: await layer1.currentSlot({ signal }),
        evaluator,
      },
    )
    if (removal === undefined) {
      await fail(context, job, 'no fraud proof shows it')
      return undefined
    }
    job.searched = { key, removal }
    context.log.info({ headerHash: toHex(block.headerHash), ...what(removal) }, 'Found a fraud')
    return removal
  } catch (error) {
    if (job.signal.aborted) return undefined
    if (isLayer1Error(error) || (isWalletError(error) && error.code !== 'WALLET_INVALID_DRAFT')) throw error
    await fail(context, job, error instanceof Error ? error.message : String(error))
    return undefined
  }
}

const what = ({ policy, fraud, stage }: FraudRemoval) => ({ policy, fraud, stage })

/** Ends a search when the block is gone. */
function whileWatched<Value>({ signal }: Job, value: Value): Value {
  signal.throwIfAborted()
  return value
}

/** Attempts at a block; what is wrong may be what the provider showed. */
const attempts = 3
/** Polls between two of them. */
const pollsBetween = 3

/**
 * Notes an attempt that failed. After the last, it records that nothing removes the block, and lets the follower
 * judge those behind it.
 */
async function fail({ verdicts, log, pollMs }: WatcherContext, job: Job, why: string): Promise<void> {
  job.searched = undefined
  job.failures++
  if (job.failures < attempts) {
    await pause(pollsBetween * pollMs, undefined, { signal: job.signal }).catch(() => undefined)
    return
  }
  const { headerHash, height, error } = job.block
  const reason = `${error.message} (not provable: ${why})`
  await verdicts.unprovable(headerHash, reason)
  log.error(
    { code: 'WATCHER_UNPROVABLE', headerHash: toHex(headerHash), height: Number(height), reason },
    'An invalid block stays in the state queue: no fraud proof removes it',
  )
  job.giveUp()
}
