import { type ConfirmedState, decodeHeader, genesisHeaderHash } from '@ratatosk/contracts'
import {
  initQueue,
  initRegistry,
  inOrder,
  publishScripts,
  readRegistry,
  registerOperator,
  type TransactionDraft,
} from '@ratatosk/layer1'
import { equalBytes, outputReferenceKey, slotToTime } from '@ratatosk/ledger'
import { alignRoots } from '../life/align-roots.js'
import { libraryOf } from '../life/library.js'
import { returnBlocks } from '../life/return-blocks.js'
import { PROTOCOL_VERSION, type Work } from '../life/work.js'
import { Refusal } from '../refusal.js'
import type { OperationResult } from '../types.js'
import { burnQueue } from './burn-queue.js'
import { carry } from './carry.js'

/** What init answers where there is a root already; undefined where there is none. */
export async function findRoot({
  layer1,
  contracts: { queue },
}: Pick<Work, 'layer1' | 'contracts'>): Promise<OperationResult | undefined> {
  const roots = await layer1.utxosByUnit(queue.unit)
  if (roots.length === 0) return undefined
  return {
    kind: 'root-exists',
    rootUnit: queue.unit,
    stateQueueAddress: queue.addressText,
    count: roots.length,
    outRefs: roots.map(({ reference }) => outputReferenceKey(reference)),
  }
}

/**
 * Begins a state queue with the newest merged block, or with genesis, and whatever it needs and is not there: each step looks at
 * layer 1 first, so that the program goes on where an earlier one ended.
 */
export async function initialise(work: Work): Promise<OperationResult> {
  const { store, contracts, genesis, administrator, memory, log } = work
  const existing = await findRoot(work)
  if (existing !== undefined) return existing

  if (genesis.length > 0 && (await store.applyGenesis(genesis))) {
    log.info({ outputs: genesis.length }, `genesis applied: ${genesis.length} outputs`)
    work.step('genesis-applied')
    memory.genesisRoot = undefined
  }
  const confirmed = await store.blocks.confirmed()
  await returnBlocks(work, (confirmed?.height ?? 0n) + 1n, 'there is no state queue any more')
  await alignRoots(work, confirmed)

  await publish(work)
  await beginRegistry(work)
  await register(work)
  if (await burnQueue(work)) log.info({}, 'elements of an earlier state queue burned')

  const state = await stateToBeginWith(work)
  const draft = initQueue(contracts, state, await libraryOf(work))
  const present = async () => (await findRoot(work)) !== undefined
  const id = await carry(work, administrator, await anchored(work, draft), present)
  const [root] = await work.layer1.utxosByUnit(contracts.queue.unit, { signal: work.signal })
  const transactionId = id ?? (root && outputReferenceKey(root.reference).slice(0, 64)) ?? ''
  work.step('root-minted')
  log.info({ transactionId, rootUnit: contracts.queue.unit }, `state queue begun by ${transactionId}`)
  return { kind: 'initiated', transactionId, rootUnit: contracts.queue.unit }
}

async function publish(work: Work): Promise<void> {
  const { contracts, administrator, memory, log } = work
  const published = async () => {
    memory.library = undefined
    const library = await libraryOf(work)
    return [contracts.queue, contracts.registry].every(({ script }) =>
      library.some(
        ({ output: { referenceScript } }) => referenceScript && equalBytes(referenceScript.hash, script.hash),
      ),
    )
  }
  if (await published()) return
  const id = await carry(work, administrator, publishScripts(contracts, administrator.address), published)
  memory.library = undefined
  work.step('scripts-published')
  log.info({ transactionId: id }, 'scripts published for reference')
}

async function beginRegistry(work: Work): Promise<void> {
  const { contracts, administrator, layer1, signal, log } = work
  const begun = async () => (await layer1.utxosByUnit(contracts.registry.unit, { signal })).length > 0
  if (await begun()) return
  const draft = await anchored(work, initRegistry(contracts, await libraryOf(work)))
  const id = await carry(work, administrator, draft, begun)
  work.step('registry-begun')
  log.info({ transactionId: id }, 'registry of operators begun')
}

async function register(work: Work): Promise<void> {
  const { contracts, operator, layer1, signal, log } = work
  const own = operator.keys.payment.hash
  const read = async () =>
    readRegistry(contracts, await layer1.utxosByUnit(contracts.registry.unit, { signal }))
  const registered = async () =>
    (await read())?.datum.active.some(({ vkey }) => equalBytes(vkey, own)) ?? false
  if (await registered()) return
  const registry = await read()
  if (registry === undefined) throw new Refusal('not-registered', 'The registry is gone: initialise again')
  const draft = registerOperator(contracts, registry, own, await libraryOf(work))
  const id = await carry(work, operator, draft, registered)
  work.step('operator-registered')
  log.info({ transactionId: id }, `operator registered with a bond of ${contracts.parameters.bond} lovelace`)
}

async function stateToBeginWith(work: Work): Promise<ConfirmedState> {
  const { store, roots, layer1, slots, signal } = work
  const confirmed = await store.blocks.confirmed()
  if (confirmed === undefined) {
    const now = slotToTime(slots, await layer1.currentSlot({ signal }))
    return {
      headerHash: genesisHeaderHash(),
      prevHeaderHash: genesisHeaderHash(),
      utxoRoot: await roots.root(),
      startTime: now,
      endTime: now,
      protocolVersion: PROTOCOL_VERSION,
    }
  }
  const { prevHeaderHash, utxosRoot, startTime, endTime, protocolVersion } = decodeHeader(confirmed.header)
  return {
    headerHash: confirmed.headerHash,
    prevHeaderHash,
    utxoRoot: utxosRoot,
    startTime,
    endTime,
    protocolVersion,
  }
}

/**
 * Spends the administrator's first output besides. Whoever begins the same thing again after a crash chooses the same output, so that
 * layer 1 includes one of the two transactions only.
 */
async function anchored(
  { layer1, administrator, signal }: Work,
  draft: TransactionDraft,
): Promise<TransactionDraft> {
  const utxos = await layer1.utxosAt(administrator.address, { signal })
  const [first] = inOrder(utxos.filter(({ output }) => output.referenceScript === undefined))
  return first === undefined ? draft : { ...draft, inputs: [{ utxo: first }, ...(draft.inputs ?? [])] }
}
