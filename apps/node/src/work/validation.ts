import { hostname } from 'node:os'
import { isBridgeAddress } from '@ratatosk/block'
import type { ProtocolParameters } from '@ratatosk/ledger'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { type Contracts, withdrawalFault } from '@ratatosk/protocol'
import type { Leaving } from '@ratatosk/workers'
import { createValidationWorker, reopenDeadLetters, type ValidationWorker } from '@ratatosk/workers'
import type { NodeContext } from '../context.js'
import { bridgedBy, contractsOf } from '../layer1/settlement.js'
import { openSubmissions, type Storage } from '../storage/open-storage.js'

/** The outputs that leave layer 2; undefined in a deployment without a bridge. */
export function leavingBy(contracts: Contracts, parameters: ProtocolParameters): Leaving | undefined {
  const bridge = contracts.bridge?.place.script.hash
  if (bridge === undefined) return undefined
  return {
    bridged: bridgedBy(contracts),
    leaves: ({ address }) => isBridgeAddress(address.bytes, bridge),
    fault: (output) => withdrawalFault(contracts, output, parameters.coinsPerUtxoByte),
  }
}

/** Starts to validate queued transactions; resolves once the worker accepts jobs. */
export async function startValidation(
  context: NodeContext,
  { queue, store }: Storage,
): Promise<ValidationWorker> {
  const { settings, network, parameters, clock, log, onClose } = context
  log.info('Start: starting the validation')
  const evaluator = createEvaluator()
  onClose(() => evaluator.close())
  const worker = createValidationWorker({
    queue,
    store,
    parameters,
    networkId: network.id,
    slots: network.slots,
    evaluator,
    // A process without layer 1 has no bridge, unless its settings are those of a devnet.
    leaving: context.keys.administrator && leavingBy(contractsOf(context), parameters),
    log,
    now: clock,
    batchSize: settings.VALIDATION_BATCH_SIZE,
    // One batch is written while the signatures of the next are verified and a third is collected.
    concurrency: 3 * settings.VALIDATION_BATCH_SIZE,
    maxAttempts: settings.SUBMIT_MAX_ATTEMPTS,
  })
  onClose(() => worker.close())
  await worker.ready()
  keepDeadLetters(context, { queue, store })
  return worker
}

/** Interval in milliseconds. With nothing to prune and to reopen, it reads three rows. */
const keepEveryMs = 1000

/** Keeps dead letters within the limits, and resubmits those whose inputs' spenders have left the ledger. */
function keepDeadLetters(
  { settings, log, onClose }: NodeContext,
  { queue, store }: Pick<Storage, 'queue' | 'store'>,
): void {
  const retention = {
    maxAgeMs: settings.DEAD_LETTER_MAX_AGE_MS,
    // Additions keep within the whole. The rest is room, so that few of them have to prune.
    maxBytes: Math.floor((settings.DEAD_LETTER_MAX_BYTES * 7) / 8),
  }
  const reopening = {
    store,
    submissions: openSubmissions(settings, { queue, store }),
    holder: `${hostname()}/${process.pid}`,
  }
  const keep = async (): Promise<void> => {
    await store.rejections.prune(retention)
    const transactions = await reopenDeadLetters(reopening)
    if (transactions > 0)
      log.info({ transactions }, 'Dead letters are in the queue again: what they lost against was undone')
  }
  let keeping: Promise<void> = Promise.resolve()
  let busy = false
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    keeping = keep()
      .catch((err: unknown) => log.warn({ err }, 'Dead letters could not be kept up to date; trying again'))
      .finally(() => {
        busy = false
      })
  }, keepEveryMs)
  onClose(async () => {
    clearInterval(timer)
    await keeping
  })
}
