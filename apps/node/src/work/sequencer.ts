import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { equalBytes } from '@ratatosk/cbor'
import { createPeers } from '@ratatosk/follower'
import { keyAuthority, openWallet, scriptAuthority, type Wallet } from '@ratatosk/layer1'
import type { WalletKeys } from '@ratatosk/ledger/builder'
import { createEvaluator, type Evaluator } from '@ratatosk/ledger/plutus'
import { createSubmissionQueue } from '@ratatosk/queue'
import {
  type AbsentAdministrator,
  type Administrator,
  answerKeys,
  createSequencer,
  estimateDailyCost,
  type Sequencer,
  serveOperations,
  serveRoots,
} from '@ratatosk/sequencer'
import { openAnswers, openRoots, type Roots } from '@ratatosk/sequencer/roots'
import type { ValidationStats, ValidationWorker } from '@ratatosk/workers'
import { type NodeContext, present } from '../context.js'
import type { AdministratorKeys } from '../layer1/keys.js'
import { blockRules, type Settlement, unregisteredLine } from '../layer1/settlement.js'
import { watches } from '../roles.js'
import { openRebuildable, type Storage } from '../storage/open-storage.js'

/** Calls of roots of one kind, since the start. */
export interface RootsCalls {
  readonly method: string
  readonly count: number
  /** All together, waiting for the call before included. */
  readonly milliseconds: number
}

const methods = ['apply', 'applyWithin', 'prepare', 'free', 'revert', 'rebuild', 'prove', 'answer'] as const

/** The same roots, with the number of their calls and the time that these took. */
function timeRoots(roots: Roots): { roots: Roots; calls: () => readonly RootsCalls[] } {
  const counts = new Map(methods.map((method) => [method, { method, count: 0, milliseconds: 0 }]))
  const timed = [...counts].map(([method, times]) => {
    const call = roots[method].bind(roots) as (...given: unknown[]) => Promise<unknown>
    const timing = async (...given: unknown[]) => {
      const began = performance.now()
      try {
        return await call(...given)
      } finally {
        times.count++
        times.milliseconds += performance.now() - began
      }
    }
    return [method, timing]
  })
  return {
    roots: { ...roots, ...Object.fromEntries(timed) },
    calls: () => [...counts.values()].map((times) => ({ ...times })),
  }
}

/** Commits and merges blocks, or stands by. Does not wait for layer 1. No `directory`: roots in memory. */
export async function startSequencer(
  context: NodeContext,
  storage: Storage,
  { layer1, contracts }: Settlement,
  directory: string | undefined,
  validation: ValidationWorker | undefined,
): Promise<{
  readonly sequencer: Sequencer
  readonly roots: Roots
  readonly rootsCalls: () => readonly RootsCalls[]
  readonly operator: Wallet
  readonly evaluator: Evaluator
}> {
  const { settings, network, genesis, keys, bodyBudget, log, onClose } = context
  const operatorKeys = present(keys.operator, 'operator')
  const administratorKeys = present(keys.administrator, 'administrator')
  const evaluator = createEvaluator()
  onClose(() => evaluator.close())
  log.info('Start: opening the roots')
  const history = settings.PROOF_BLOCKS
  const bridge = contracts.bridge?.place.script.hash
  const opened =
    directory === undefined
      ? await openRoots({ history, bridge })
      : await openRebuildable(join(directory, 'roots'), (path) => openRoots({ history, path, bridge }), log)
  onClose(() => opened.close())
  const { roots, calls: rootsCalls } = timeRoots(opened)

  const outputs = genesis?.outputs ?? []
  const blockAnswers =
    contracts.summons && openAnswers({ store: storage.store, roots, genesis: outputs, bridge })
  if (blockAnswers !== undefined) onClose(() => blockAnswers.close())

  const mayCredit = bridge !== undefined
  // The watcher of this operator archives bodies that no peer serves and a summons has shown.
  const watched = watches(settings) ? storage.store.archive : undefined
  const peers =
    settings.ARCHIVIST_PEERS || watched
      ? createPeers(settings.ARCHIVIST_PEERS ?? [], { budget: bodyBudget, mayCredit }, log, watched)
      : undefined
  if (peers !== undefined) onClose(async () => peers.close())

  const hourlyBudget = BigInt(settings.COMMIT_BUDGET_PER_HOUR)
  if (!network.isDevnet) logCost(context, hourlyBudget)
  const operator = openWallet({ layer1, keys: operatorKeys, evaluator })
  const administrator = openAdministrator(administratorKeys, layer1, (keys) =>
    // One wallet for each address: two would spend the same outputs.
    sameAddress(keys, operatorKeys) ? operator : openWallet({ layer1, keys, evaluator }),
  )
  if (administrator === undefined)
    log.warn(
      'The administrator is renounced: the state queue cannot be reset or repaired' +
        (peers === undefined ? ', and a block of another operator stops this node' : ''),
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
    ...(blockAnswers && {
      answers: {
        blocks: blockAnswers,
        wallet: openWallet({ layer1, keys: answerKeys(operatorKeys), evaluator }),
      },
    }),
    ...(peers && {
      adoption: { peers, rules: { ...blockRules(context, contracts), evaluator } },
    }),
    // An embedded database is of one process.
    ...(validation &&
      settings.DATABASE_URL === undefined && { arrivals: () => acceptedBy(validation.stats()) }),
    genesis: outputs,
    holder: `${hostname()}/${process.pid}/${randomBytes(3).toString('hex')}`,
    log,
    autoInit: settings.AUTO_INIT,
    autoCommit: settings.AUTO_COMMIT,
    autoMerge: settings.AUTO_MERGE,
    commitEveryMs: settings.COMMIT_INTERVAL_MS,
    mergeEveryMs: settings.MERGE_INTERVAL_MS,
    ...(hourlyBudget > 0n && { hourlyBudget }),
    // Requests to a devnet cost nothing, and it makes a block every second.
    pollMs: network.isDevnet ? 100 : 1000,
    maxBlockTransactions: settings.BLOCK_MAX_TRANSACTIONS,
    blockValidityMs: settings.BLOCK_VALIDITY_MS,
    leaseMs: settings.SEQUENCER_LEASE_MS,
    operationTimeoutMs: settings.OPERATION_TIMEOUT_MS,
  })
  onClose(() => sequencer.close())
  serveOthers(context, storage, sequencer, roots)
  log.info('Start: taking part in the election of the sequencer')
  await sequencer.start()
  return { sequencer, roots, rootsCalls, operator, evaluator }
}

/**
 * Warns once if the operator of this process can commit nothing: an idle sequencer has no fault. With
 * AUTO_INIT the active one registers it.
 */
export function warnUnregistered(
  { settings, keys, log, onClose }: NodeContext,
  { layer1, contracts }: Settlement,
  sequencer: Sequencer,
): void {
  const { hash } = present(keys.operator, 'operator').payment
  async function look(): Promise<void> {
    if (sequencer.active && settings.AUTO_INIT) return
    const line = await unregisteredLine(contracts, layer1, hash).catch(() => undefined)
    const place = sequencer.active ? 'is the active sequencer, but' : 'stands by, and'
    if (line !== undefined) log.warn(`This node ${place} ${line}`)
  }
  // By then one of them holds the lease.
  const timer = setTimeout(() => void look(), settings.SEQUENCER_LEASE_MS)
  onClose(async () => clearTimeout(timer))
}

/** Runs operations and makes proofs for processes without the active sequencer. */
function serveOthers(
  { settings, onClose }: NodeContext,
  { queue }: Storage,
  sequencer: Sequencer,
  roots: Roots,
): void {
  const operations = serveOperations({ queue, sequencer, intervalMs: settings.OPERATION_INTERVAL_MS })
  onClose(() => operations.close())
  // An embedded database is of one process.
  if (settings.DATABASE_URL === undefined) return
  const proofs = serveRoots({ queue, sequencer, roots })
  onClose(() => proofs.close())
}

/** Counts those too of which it was found out only later that they were accepted. */
const acceptedBy = ({ accepted, known }: ValidationStats): number => accepted + known

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

/** Logs what the blocks of these settings cost on layer 1. */
function logCost({ settings, log }: NodeContext, hourlyBudget: bigint): void {
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
