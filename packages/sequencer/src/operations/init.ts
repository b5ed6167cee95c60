import { blockVersion, decodeHeader, genesisHeaderHash } from '@ratatosk/block'
import { equalBytes, toHex } from '@ratatosk/cbor'
import { type ConfirmedState, layer1LedgerVersion } from '@ratatosk/contracts'
import type { Wallet } from '@ratatosk/layer1'
import { outputReferenceKey, slotToTime, type Utxo } from '@ratatosk/ledger'
import type { TransactionDraft } from '@ratatosk/ledger/builder'
import type { OperationResult } from '@ratatosk/ports'
import { initQueue, initRegistry, initRollup, publishScripts, scriptsToPublish } from '@ratatosk/protocol'
import { administratorOf, hasAdministrator, type SequencerContext } from '../context.js'
import { SequencerError } from '../errors.js'
import { sendChain, submitAndConfirm } from '../send-transactions.js'
import { alignRoots, applyGenesis, returnBlocks } from '../state/ledger-state.js'
import { findRegistry, readReferenceScripts } from '../state/queue-elements.js'
import { entryOf, existingRegistry, hasRoot, joinQueue, ownEntry, register } from './bond.js'
import { burnQueue } from './repair.js'

/** The result of init if there is a root and nothing to register; undefined when init has something to do. */
export async function findInitialised(context: SequencerContext): Promise<OperationResult | undefined> {
  const { layer1, contracts, signal } = context
  const { unit, addressText } = contracts.scripts.queue
  const roots = await layer1.utxosByUnit(unit, { signal })
  if (roots.length === 0 || (await mustRegister(context, roots.length))) return undefined
  return {
    kind: 'root-exists',
    rootUnit: unit,
    stateQueueAddress: addressText,
    count: roots.length,
    outRefs: roots.map(({ reference }) => outputReferenceKey(reference)),
  }
}

/** Whether the operator is not registered, and this process can register it with the queue that there is. */
async function mustRegister(context: SequencerContext, roots: number): Promise<boolean> {
  if (hasAdministrator(context)) {
    if ('absent' in context.administrator || roots > 1) return false
    const registry = await findRegistry(context)
    return registry !== undefined && entryOf(context, registry) === undefined
  }
  const entry = await ownEntry(context)
  return entry === undefined || entry.activeUntil !== undefined
}

/**
 * Initialises the queue at the newest merged block or genesis, with everything that layer 1 lacks, or
 * registers the operator with an existing queue. Each step reads layer 1 first, so that an interrupted one
 * continues.
 */
export async function initialise(context: SequencerContext): Promise<OperationResult> {
  const existing = await findInitialised(context)
  if (existing !== undefined) return existing
  await requireLedgerVersion(context)
  const rootUnit = context.contracts.scripts.queue.unit
  if (await hasRoot(context)) {
    const transactionId = (await joinQueue(context)) ?? ''
    return { kind: 'initiated', transactionId, rootUnit, isRegistration: true }
  }
  const transactionId = hasAdministrator(context)
    ? await initialiseWithAdministrator(context)
    : await initialiseWithoutAdministrator(context)
  return { kind: 'initiated', transactionId, rootUnit }
}

/** Refuses before anything is paid for: an older layer 1 runs none of the scripts. */
async function requireLedgerVersion({ layer1, signal }: SequencerContext): Promise<void> {
  const { major } = (await layer1.parameters({ signal })).ledgerVersion
  if (major >= layer1LedgerVersion) return
  throw new SequencerError(
    'SEQUENCER_LAYER1_TOO_OLD',
    `Layer 1 has ledger version ${major}, and the contracts need ${layer1LedgerVersion}: use a network, or ` +
      'a devnet, of that version',
  )
}

/** @returns the id of the transaction that minted the root */
async function initialiseWithAdministrator(context: SequencerContext): Promise<string> {
  const { contracts, log } = context
  const { wallet } = administratorOf(context)
  // Refuses before anything changes or is paid for.
  await deploymentToStart(context)
  await prepareLedger(context)
  // First, because paying for anything else could spend the deployment output.
  await createRegistry(context)
  await publishMissingScripts(context, wallet)
  await register(context)
  if (await burnQueue(context)) log.info({}, 'Burned elements of an earlier state queue')

  const state = await initialState(context)
  const registry = await existingRegistry(context)
  const draft = initQueue(contracts, registry, state, await readReferenceScripts(context))
  // A second attempt after a crash spends the same registry, so that layer 1 includes only one of both
  // transactions.
  return mintRoot(context, wallet, draft)
}

/** Starts registry and queue, then registers the operator. Returns the id of the root's mint. */
async function initialiseWithoutAdministrator(context: SequencerContext): Promise<string> {
  const { contracts, operator } = context
  const output = await findDeploymentOutput(context)
  if (output === undefined) throw deploymentOutputSpent(context)
  if (!equalBytes(output.output.address.bytes, operator.keys.address.bytes))
    throw new SequencerError(
      'SEQUENCER_DEPLOYMENT_OUTPUT_SPENT',
      `The deployment output ${outputReferenceKey(output.reference)} is not at the operator's address ` +
        `${operator.address}: without an administrator, the operator spends it`,
    )
  await prepareLedger(context)
  await publishMissingScripts(context, operator, [output])
  const state = await initialState(context)
  // A second attempt after a crash spends the same output.
  const draft = initRollup(contracts, output, state, await readReferenceScripts(context))
  const id = await mintRoot(context, operator, draft)
  await register(context)
  return id
}

/** Applies the genesis, returns unmerged blocks to the mempool, and has the roots follow. */
async function prepareLedger(context: SequencerContext): Promise<void> {
  const { store } = context
  await applyGenesis(context)
  const confirmed = await store.blocks.confirmed()
  await returnBlocks(context, (confirmed?.height ?? 0n) + 1n, 'layer 1 has no state queue')
  await alignRoots(context, confirmed)
}

/** Mints the root; returns the id of this transaction, or of another of the same purpose. */
async function mintRoot(context: SequencerContext, wallet: Wallet, draft: TransactionDraft): Promise<string> {
  const { layer1, contracts, signal, log } = context
  const { unit } = contracts.scripts.queue
  const id = await submitAndConfirm(context, wallet, draft, () => hasRoot(context))
  const [root] = await layer1.utxosByUnit(unit, { signal })
  const transactionId = id ?? (root && toHex(root.reference.transactionId)) ?? ''
  context.step('root-minted')
  log.info({ transactionId, rootUnit: unit }, `Initialised the state queue in transaction ${transactionId}`)
  return transactionId
}

/** The confirmed state of a new queue. */
async function initialState(context: SequencerContext): Promise<ConfirmedState> {
  const { store, roots, layer1, slots, signal } = context
  const confirmed = await store.blocks.confirmed()
  if (confirmed === undefined) {
    const now = slotToTime(slots, await layer1.currentSlot({ signal }))
    return {
      headerHash: genesisHeaderHash(),
      prevHeaderHash: genesisHeaderHash(),
      utxoRoot: await roots.root(),
      startTime: now,
      endTime: now,
      blockVersion,
    }
  }
  const { utxosRoot, ...header } = decodeHeader(confirmed.header)
  return {
    headerHash: confirmed.headerHash,
    prevHeaderHash: header.prevHeaderHash,
    utxoRoot: utxosRoot,
    startTime: header.startTime,
    endTime: header.endTime,
    blockVersion: header.blockVersion,
  }
}

/** Publishes the missing scripts in a chain; `spared` outputs do not pay. Throws as `sendChain`. */
async function publishMissingScripts(
  context: SequencerContext,
  wallet: Wallet,
  spared: readonly Utxo[] = [],
): Promise<void> {
  const { contracts, cache, log } = context
  cache.referenceScripts = undefined
  const groups = scriptsToPublish(contracts, await readReferenceScripts(context))
  const published = await sendChain(context, wallet, ({ length }) => {
    const scripts = groups[length]
    return scripts && { spends: [], draft: publishScripts(contracts, scripts), spared }
  })
  for (const [place, { id }] of published.entries()) {
    context.step('scripts-published')
    log.info({ transactionId: toHex(id), scripts: groups[place]?.length }, 'Published reference scripts')
  }
  cache.referenceScripts = undefined
}

/**
 * The output that the registry starts with; undefined once there is one.
 * @throws {SequencerError} `SEQUENCER_DEPLOYMENT_OUTPUT_SPENT` if the parameters are those of another
 *   deployment
 */
export async function deploymentToStart(context: SequencerContext): Promise<Utxo | undefined> {
  const { contracts } = context
  const registry = await findRegistry(context)
  if (registry === undefined) {
    const output = await findDeploymentOutput(context)
    if (output !== undefined) return output
    // Spent between both reads, perhaps for the registry.
    if (await findRegistry(context)) return deploymentToStart(context)
    throw deploymentOutputSpent(context)
  }
  if (equalBytes(registry.datum.queue, contracts.scripts.queue.script.hash)) return undefined
  const output = outputReferenceKey(contracts.parameters.deploymentOutput)
  throw new SequencerError(
    'SEQUENCER_DEPLOYMENT_OUTPUT_SPENT',
    `The deployment output ${output} started the registry of another state queue, ` +
      `${toHex(registry.datum.queue)}: use the parameters of that queue, such as its verdict policies, ` +
      'or name an unspent output of the administrator; on a devnet, start with an empty database',
  )
}

async function createRegistry(context: SequencerContext): Promise<void> {
  const { contracts, log } = context
  const output = await deploymentToStart(context)
  if (output === undefined) return
  const exists = async () => (await findRegistry(context)) !== undefined
  const { wallet } = administratorOf(context)
  const id = await submitAndConfirm(context, wallet, initRegistry(contracts, output), exists)
  context.step('registry-created')
  log.info({ transactionId: id }, 'Created the operator registry')
}

async function findDeploymentOutput({
  layer1,
  contracts,
  signal,
}: SequencerContext): Promise<Utxo | undefined> {
  const [output] = await layer1.utxosByReferences([contracts.parameters.deploymentOutput], { signal })
  return output
}

function deploymentOutputSpent(context: SequencerContext): SequencerError {
  const owner = hasAdministrator(context) ? 'administrator' : 'operator'
  const output = outputReferenceKey(context.contracts.parameters.deploymentOutput)
  return new SequencerError(
    'SEQUENCER_DEPLOYMENT_OUTPUT_SPENT',
    `The deployment output ${output} is spent or never existed, and layer 1 has no registry of these ` +
      'contracts: use the settings of the deployment that it began, such as MATURITY_WINDOW_MS, or name an ' +
      `unspent output of the ${owner}`,
  )
}
