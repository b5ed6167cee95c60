import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Evidence } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import {
  createFaucetPayer,
  createLayer1FaucetWallet,
  createLayer2FaucetWallet,
  type FaucetPayer,
  type FaucetWallet,
} from '@ratatosk/faucet-payer'
import { createFollower, type Follower, layer1Chain, openEvidence } from '@ratatosk/follower'
import { keyAuthority, openWallet, scriptAuthority, type Wallet } from '@ratatosk/layer1'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { type LedgerIndex, openIndex } from '@ratatosk/ledger-index'
import type { Evaluations } from '@ratatosk/ports'
import { createSubmissionQueue } from '@ratatosk/queue'
import { type OpenProver, openProver, openRoots } from '@ratatosk/roots'
import {
  type AbsentAdministrator,
  type Administrator,
  createOperations,
  createSequencer,
  estimateDailyCost,
  type Operations,
  type Sequencer,
  serveOperations,
} from '@ratatosk/sequencer'
import type { WalletKeys } from '@ratatosk/transaction'
import { createValidationWorker, openEvaluations, type ValidationWorker } from '@ratatosk/workers'
import type { NodeContext } from './context.js'
import type { AdministratorKeys } from './layer1/administrator-keys.js'
import type { Settlement } from './layer1/settlement.js'
import { duties } from './roles.js'
import { cacheDirectory, indexSchema, type Storage } from './storage/open-storage.js'

/** What a process runs beside its server; undefined for what its role does not run. */
export interface Work {
  readonly validation: ValidationWorker | undefined
  /**
   * Finds what the store does not, for the APIs of layer 2: outputs by asset and at scripts, datums, scripts,
   * transactions by address.
   */
  readonly index: LedgerIndex | undefined
  /** Judges transactions without submitting them. */
  readonly evaluations: Evaluations | undefined
  readonly sequencer: Sequencer | undefined
  /** Proves against the blocks of this process's sequencer. */
  readonly prover: OpenProver | undefined
  readonly faucet: FaucetPayer | undefined
  readonly follower: Follower | undefined
  /** Invalid blocks that the follower has found. */
  readonly evidence: Evidence | undefined
  /** Runs operator operations on the active sequencer, in this process or another. */
  readonly operations: Operations
}

/** Starts the workers of the node's role. */
export async function startWork(
  context: NodeContext,
  storage: Storage,
  settlement: Settlement | undefined,
): Promise<Work> {
  const { settings, keys, closing } = context
  const { serves, validates, bodies } = duties[settings.NODE_ROLE]
  const validation = validates ? await startValidation(context, storage) : undefined
  const evaluations = serves === 'whole' && settings.EVALUATE ? startEvaluations(context, storage) : undefined
  const index =
    serves === 'whole' && settings.LAYER2_APIS ? await startIndex(context, storage, validation) : undefined
  let sequencer: Sequencer | undefined
  let prover: OpenProver | undefined
  let faucet: FaucetPayer | undefined
  let following: Following | undefined
  if (settlement !== undefined) {
    if (keys.operator !== undefined && keys.administrator !== undefined)
      ({ sequencer, prover } = await startSequencer(
        context,
        storage,
        settlement,
        keys.operator,
        keys.administrator,
      ))
    if (bodies === 'archive') following = await startFollower(context, storage, settlement)
    if (keys.faucet !== undefined) faucet = openFaucet(context, storage, settlement, keys.faucet)
  }
  const operations = createOperations({
    queue: storage.queue,
    timeoutMs: settings.OPERATION_TIMEOUT_MS,
    intervalMs: settings.OPERATION_INTERVAL_MS,
    ...(sequencer && { sequencer }),
  })
  closing.defer(() => operations.close())
  const { follower, evidence } = following ?? {}
  return { validation, index, evaluations, sequencer, prover, faucet, follower, evidence, operations }
}

/** Starts to validate queued transactions; resolves once the worker accepts jobs. */
async function startValidation(context: NodeContext, { queue, store }: Storage): Promise<ValidationWorker> {
  const { settings, network, parameters, clock, log, closing } = context
  const evaluator = createEvaluator()
  closing.defer(() => evaluator.close())
  const worker = createValidationWorker({
    queue,
    store,
    parameters,
    networkId: network.id,
    slots: network.slots,
    evaluator,
    log,
    now: clock,
    batchSize: settings.VALIDATION_BATCH_SIZE,
    // One batch is written while the signatures of the next are verified and a third is collected.
    concurrency: 3 * settings.VALIDATION_BATCH_SIZE,
    maxAttempts: settings.SUBMIT_MAX_ATTEMPTS,
  })
  closing.defer(() => worker.close())
  await worker.ready()
  keepRetention(context, store)
  return worker
}

/** Opens evaluations with a thread of their own, so that they take none from validation. */
function startEvaluations(
  { network, parameters, clock, closing }: NodeContext,
  { store }: Storage,
): Evaluations {
  const evaluator = createEvaluator({ threads: 1 })
  closing.defer(() => evaluator.close())
  return openEvaluations({
    store,
    parameters,
    networkId: network.id,
    slots: network.slots,
    evaluator,
    now: clock,
  })
}

/** Starts to follow acceptance. The index is behind validation and never in its way. */
async function startIndex(
  { settings, genesis, log, closing }: NodeContext,
  { store }: Storage,
  validation: ValidationWorker | undefined,
): Promise<LedgerIndex> {
  const index = await openIndex({
    database: store.database,
    schema: indexSchema(settings),
    source: store.changes,
    genesis: genesis?.outputs ?? [],
    busy: () => validation?.busy() ?? false,
    onError: (err) => log.warn({ err }, 'The index could not follow acceptance; trying again'),
  })
  closing.defer(() => index.close())
  return index
}

/** Milliseconds between two looks at the size of the dead letters; a look at a small table reads two rows. */
const retentionEveryMs = 1000

/** Keeps the dead letters within the limits of the settings until the node closes. */
function keepRetention({ settings, log, closing }: NodeContext, { rejections }: Storage['store']): void {
  const retention = {
    maxAgeMs: settings.DEAD_LETTER_MAX_AGE_MS,
    // Additions keep within the whole. The rest is room, so that few of them have to make it.
    maxBytes: Math.floor((settings.DEAD_LETTER_MAX_BYTES * 7) / 8),
  }
  let pruning: Promise<unknown> = Promise.resolve()
  let busy = false
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    pruning = rejections
      .prune(retention)
      .catch((err: unknown) => log.warn({ err }, 'Dead letters could not be pruned; trying again'))
      .finally(() => {
        busy = false
      })
  }, retentionEveryMs)
  closing.defer(async () => {
    clearInterval(timer)
    await pruning
  })
}

/**
 * Starts to commit and merge blocks, or to stand by while another process does. Does not wait for layer 1.
 */
async function startSequencer(
  context: NodeContext,
  storage: Storage,
  { layer1, contracts }: Settlement,
  operatorKeys: WalletKeys,
  administratorKeys: AdministratorKeys,
): Promise<{ readonly sequencer: Sequencer; readonly prover: OpenProver | undefined }> {
  const { settings, network, genesis, log, closing } = context
  const evaluator = createEvaluator()
  closing.defer(() => evaluator.close())
  const directory = await cacheDirectory(context, storage)
  const roots = await openRoots({
    history: settings.PROOF_BLOCKS,
    ...(directory !== undefined && { path: join(directory, 'roots') }),
  })
  closing.defer(() => roots.close())

  const hourlyBudget = BigInt(settings.COMMIT_BUDGET_PER_HOUR)
  if (!network.layer1.isDevnet) {
    const cost = estimateDailyCost({
      commitEveryMs: settings.COMMIT_INTERVAL_MS,
      maturityWindowMs: settings.MATURITY_WINDOW_MS,
      ...(hourlyBudget > 0n && { hourlyBudget }),
    })
    const ada = (lovelace: bigint): number => Math.round(Number(lovelace) / 1_000_000)
    log.info(
      { blocks: cost.blocks, feesAda: ada(cost.fees), lockedAda: ada(cost.locked) },
      `At these settings, blocks cost up to ${ada(cost.fees)} ada a day and lock up to ${ada(cost.locked)} ada`,
    )
  }

  const operator = openWallet({ layer1, keys: operatorKeys, evaluator })
  const administrator = openAdministrator(administratorKeys, layer1, (keys) =>
    // One wallet for each address: two would spend the same outputs.
    sameAddress(keys, operatorKeys) ? operator : openWallet({ layer1, keys, evaluator }),
  )
  if (administrator === undefined)
    log.warn(
      'The administrator is renounced: nobody can reset or repair the state queue, and a block of another operator stops this node',
    )
  else if ('absent' in administrator)
    log.info(`Init, repair, reset and removals are refused here: ${administrator.absent}`)
  const sequencer = createSequencer({
    store: storage.store,
    submissions: createSubmissionQueue(storage.queue),
    layer1,
    contracts,
    operator,
    ...(administrator && { administrator }),
    roots,
    genesis: genesis?.outputs ?? [],
    holder: `${hostname()}/${process.pid}/${randomBytes(3).toString('hex')}`,
    log,
    autoInit: settings.AUTO_INIT,
    autoCommit: settings.AUTO_COMMIT,
    autoMerge: settings.AUTO_MERGE,
    commitEveryMs: settings.COMMIT_INTERVAL_MS,
    mergeEveryMs: settings.MERGE_INTERVAL_MS,
    ...(hourlyBudget > 0n && { hourlyBudget }),
    // Requests to a devnet cost nothing, and it makes a block every second.
    pollMs: network.layer1.isDevnet ? 100 : 1000,
    maxBlockTransactions: settings.BLOCK_MAX_TRANSACTIONS,
    blockValidityMs: settings.BLOCK_VALIDITY_MS,
    leaseMs: settings.SEQUENCER_LEASE_MS,
    operationTimeoutMs: settings.OPERATION_TIMEOUT_MS,
  })
  closing.defer(() => sequencer.close())
  const server = serveOperations({
    queue: storage.queue,
    sequencer,
    intervalMs: settings.OPERATION_INTERVAL_MS,
  })
  closing.defer(() => server.close())
  await sequencer.start()
  if (!settings.PROOFS || duties[settings.NODE_ROLE].serves !== 'whole')
    return { sequencer, prover: undefined }
  const prover = openProver({ store: storage.store, roots, genesis: genesis?.outputs ?? [] })
  closing.defer(() => prover.close())
  return { sequencer, prover }
}

/** The administrator of the settings, as far as its keys are here; undefined if there is none. */
function openAdministrator(
  { signing }: AdministratorKeys,
  layer1: Settlement['layer1'],
  open: (keys: WalletKeys) => Wallet,
): Administrator | AbsentAdministrator | undefined {
  if (signing === undefined || 'absent' in signing) return signing
  const { wallet, script, keys } = signing
  const authority =
    script === undefined ? keyAuthority(wallet.payment) : scriptAuthority({ layer1, script, keys })
  return { wallet: authority.over(open(wallet)), authority }
}

function sameAddress(one: WalletKeys, other: WalletKeys): boolean {
  return equalBytes(one.address.bytes, other.address.bytes)
}

interface Following {
  readonly follower: Follower
  readonly evidence: Evidence | undefined
}

/** Starts to archive the blocks of layer 1, with bodies from the peers. */
async function startFollower(
  context: NodeContext,
  storage: Storage,
  { layer1, contracts }: Settlement,
): Promise<Following> {
  const { settings, network, parameters, genesis, log, closing } = context
  const evaluator = createEvaluator()
  closing.defer(() => evaluator.close())
  const directory = await cacheDirectory(context, storage)
  const maxBytes = settings.EVIDENCE_MAX_BYTES
  const evidence =
    directory === undefined || maxBytes === 0
      ? undefined
      : openEvidence({ dir: join(directory, 'invalid-blocks'), maxBytes })
  const follower = await createFollower({
    chain: layer1Chain(layer1, contracts),
    peers: settings.ARCHIVIST_PEERS ?? [],
    archive: storage.store.archive,
    genesis: genesis?.outputs ?? [],
    rules: { parameters, networkId: network.id, slots: network.slots, evaluator },
    log,
    ...(directory !== undefined && { trieDir: join(directory, 'archive-outputs') }),
    ...(evidence && { evidence }),
  })
  closing.defer(() => follower.close())
  return { follower, evidence }
}

/** Opens the faucet and looks up the unsettled payments of an earlier process. */
function openFaucet(
  { settings, network, parameters, clock, log, closing }: NodeContext,
  { store, queue }: Storage,
  { layer1 }: Settlement,
  keys: WalletKeys,
): FaucetPayer {
  const wallet: FaucetWallet =
    settings.FAUCET_LAYER === '1'
      ? createLayer1FaucetWallet({ layer1, keys })
      : createLayer2FaucetWallet({
          store,
          submissions: createSubmissionQueue(queue),
          keys,
          parameters,
          slots: network.slots,
          now: clock,
        })
  const payer = createFaucetPayer({
    claims: store.faucetClaims,
    wallet,
    amount: BigInt(settings.FAUCET_AMOUNT),
    cooldownMs: settings.FAUCET_COOLDOWN_SECONDS * 1000,
    dailyIpLimit: settings.FAUCET_DAILY_IP_LIMIT,
    minBalance: BigInt(settings.FAUCET_MIN_BALANCE),
    log,
    now: clock,
  })
  closing.defer(() => payer.close())
  payer.settle().catch((err: unknown) => {
    log.warn({ err }, 'Failed to look up unsettled faucet payments; the next claim looks again')
  })
  return payer
}
