import { decodeHeader, genesisHeaderHash, protocolVersion } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import type { ConfirmedState } from '@ratatosk/contracts'
import { outputReferenceKey, slotToTime } from '@ratatosk/ledger'
import type { OperationResult } from '@ratatosk/operations'
import {
  initQueue,
  initRegistry,
  publishScripts,
  type RegistryElement,
  registerOperator,
  scriptsToPublish,
} from '@ratatosk/protocol'
import { alignRoots, returnBlocks } from '../blocks/ledger-state.js'
import { findRegistry, min } from '../blocks/operator-turn.js'
import type { SequencerContext } from '../context.js'
import { SequencerError } from '../errors.js'
import { administratorOf } from './administrator.js'
import { burnQueue } from './burn-queue.js'
import { readReferenceScripts } from './reference-scripts.js'
import { operationValidUntil, submitAndConfirm } from './submit-and-confirm.js'

/** The result of init when layer 1 has a root unit already; undefined when it has none. */
export async function findRoot({
  layer1,
  contracts,
}: Pick<SequencerContext, 'layer1' | 'contracts'>): Promise<OperationResult | undefined> {
  const { unit, addressText } = contracts.scripts.queue
  const roots = await layer1.utxosByUnit(unit)
  if (roots.length === 0) return undefined
  return {
    kind: 'root-exists',
    rootUnit: unit,
    stateQueueAddress: addressText,
    count: roots.length,
    outRefs: roots.map(({ reference }) => outputReferenceKey(reference)),
  }
}

/**
 * Initialises a state queue whose confirmed state is the newest merged block, or genesis, and everything that it needs and layer 1 lacks.
 * Each step reads layer 1 first, so that an interrupted operation continues where it ended.
 */
export async function initialise(context: SequencerContext): Promise<OperationResult> {
  const { store, contracts, genesis, memory, log } = context
  const existing = await findRoot(context)
  if (existing !== undefined) return existing
  const administrator = administratorOf(context)

  if (genesis.length > 0 && (await store.applyGenesis(genesis))) {
    log.info({ outputs: genesis.length }, `Applied genesis: ${genesis.length} outputs`)
    context.step('genesis-applied')
    memory.genesisRoot = undefined
  }
  const confirmed = await store.blocks.confirmed()
  await returnBlocks(context, (confirmed?.height ?? 0n) + 1n, 'layer 1 has no state queue')
  await alignRoots(context, confirmed)

  // First, because paying for anything else could spend the deployment output.
  await createRegistry(context)
  await publish(context)
  await register(context)
  if (await burnQueue(context)) log.info({}, 'Burned elements of an earlier state queue')

  const state = await initialState(context)
  const registry = await existingRegistry(context)
  const draft = initQueue(contracts, registry, state, await readReferenceScripts(context))
  const hasRoot = async () => (await findRoot(context)) !== undefined
  // A second attempt after a crash spends the same registry, so that layer 1 includes only one of both transactions.
  const id = await submitAndConfirm(context, administrator.wallet, draft, hasRoot)
  const { unit } = contracts.scripts.queue
  const [root] = await context.layer1.utxosByUnit(unit, { signal: context.signal })
  const transactionId = id ?? (root && outputReferenceKey(root.reference).slice(0, 64)) ?? ''
  context.step('root-minted')
  log.info({ transactionId, rootUnit: unit }, `Initialised the state queue in transaction ${transactionId}`)
  return { kind: 'initiated', transactionId, rootUnit: unit }
}

/** Publishes the protocol's scripts as reference scripts, the verdict policies included, in as many transactions as they need. */
async function publish(context: SequencerContext): Promise<void> {
  const { contracts, memory, log } = context
  const missing = async () => {
    memory.referenceScripts = undefined
    return scriptsToPublish(contracts, await readReferenceScripts(context))
  }
  const { wallet } = administratorOf(context)
  for (const scripts of await missing()) {
    const isPublished = async () => !(await missing()).flat().some((script) => scripts.includes(script))
    const id = await submitAndConfirm(context, wallet, publishScripts(contracts, scripts), isPublished)
    context.step('scripts-published')
    log.info({ transactionId: id, scripts: scripts.length }, 'Published reference scripts')
  }
  memory.referenceScripts = undefined
}

async function createRegistry(context: SequencerContext): Promise<void> {
  const { contracts, layer1, signal, log } = context
  const exists = async () => (await findRegistry(context)) !== undefined
  if (await exists()) return
  const { deploymentOutput } = contracts.parameters
  const [output] = await layer1.utxosByReferences([deploymentOutput], { signal })
  if (output === undefined) {
    // Spent between both reads, perhaps for the registry.
    if (await exists()) return
    throw new SequencerError(
      'SEQUENCER_DEPLOYMENT_OUTPUT_SPENT',
      `The deployment output ${outputReferenceKey(deploymentOutput)} is spent or never existed: name an unspent output of the administrator`,
    )
  }
  const { wallet } = administratorOf(context)
  const id = await submitAndConfirm(context, wallet, initRegistry(contracts, output), exists)
  context.step('registry-created')
  log.info({ transactionId: id }, 'Created the operator registry')
}

async function register(context: SequencerContext): Promise<void> {
  const { contracts, operator, layer1, slots, signal, log } = context
  const key = operator.keys.payment.hash
  const ownEntry = async () =>
    (await existingRegistry(context)).datum.operators.find(({ vkey }) => equalBytes(vkey, key))
  const entry = await ownEntry()
  if (entry?.activeUntil !== undefined)
    throw new SequencerError(
      'SEQUENCER_NOT_REGISTERED',
      'The operator is retired: withdraw the bond once it is released, then initialise again',
    )
  if (entry !== undefined) return
  const isRegistered = async () => (await ownEntry()) !== undefined
  const [tip, current] = [await layer1.tip({ signal }), await layer1.currentSlot({ signal })]
  const validity = {
    // The tip's slot, in case this clock is ahead of the network's.
    validFrom: min(tip.slot, current),
    validUntil: operationValidUntil(context, current),
    slots,
  }
  const referenceScripts = await readReferenceScripts(context)
  const registry = await existingRegistry(context)
  const draft = registerOperator(contracts, registry, key, validity, referenceScripts)
  const payer = administratorOf(context).authority.over(operator)
  const id = await submitAndConfirm(context, payer, draft, isRegistered)
  context.step('operator-registered')
  log.info(
    { transactionId: id },
    `Registered the operator with a bond of ${contracts.parameters.bond} lovelace`,
  )
}

async function existingRegistry(context: SequencerContext): Promise<RegistryElement> {
  const registry = await findRegistry(context)
  if (registry !== undefined) return registry
  throw new SequencerError('SEQUENCER_NOT_REGISTERED', 'Layer 1 has no operator registry: initialise again')
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
      protocolVersion,
    }
  }
  const { utxosRoot, ...header } = decodeHeader(confirmed.header)
  return {
    headerHash: confirmed.headerHash,
    prevHeaderHash: header.prevHeaderHash,
    utxoRoot: utxosRoot,
    startTime: header.startTime,
    endTime: header.endTime,
    protocolVersion: header.protocolVersion,
  }
}
