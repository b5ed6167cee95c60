import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { openWallet, type WalletKeys } from '@ratatosk/layer1'
import { equalBytes } from '@ratatosk/ledger'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import type { LedgerEntry } from '@ratatosk/store'
import { createSequencer, openRoots, type Sequencer, serveOperations } from '@ratatosk/workers'
import type { Logger } from 'pino'
import { blockValidityMs } from '../layer1/contracts.js'
import { keysOf } from '../layer1/keys.js'
import { settlesOnDevnet } from '../layer1/layer1-network.js'
import type { Settlement } from '../layer1/open-settlement.js'
import type { ClosingStack } from '../parts/closing-stack.js'
import { directoryOf, type Parts } from '../parts/open-parts.js'
import type { Settings } from '../settings/schema.js'

export interface SequencingOptions {
  readonly settings: Settings
  readonly parts: Parts
  readonly settlement: Settlement
  /** The first outputs of the ledger. */
  readonly genesis: readonly LedgerEntry[]
  readonly log: Logger
}

/** Starts to commit and merge blocks, or to stand by for the process that does; does not wait for layer 1. */
export async function startSequencing(
  { settings, parts, settlement: { layer1, contracts }, genesis, log }: SequencingOptions,
  closing: ClosingStack,
): Promise<Sequencer> {
  const evaluator = createEvaluator()
  closing.defer(() => evaluator.close())
  const directory = await directoryOf(settings, parts, log, closing)
  const roots = await openRoots(directory === undefined ? {} : { path: join(directory, 'roots') })
  closing.defer(() => roots.close())

  const operatorKeys = keysOf('OPERATOR_SEED_PHRASE', settings)
  const administratorKeys = keysOf('ADMIN_SEED_PHRASE', settings)
  const operator = openWallet({ layer1, keys: operatorKeys, evaluator })
  const sequencer = createSequencer({
    store: parts.store,
    layer1,
    contracts,
    operator,
    administrator: sameAddress(operatorKeys, administratorKeys)
      ? operator
      : openWallet({ layer1, keys: administratorKeys, evaluator }),
    roots,
    genesis,
    holder: `${hostname()}/${process.pid}/${randomBytes(3).toString('hex')}`,
    log,
    autoInit: settings.AUTO_INIT ?? settlesOnDevnet(settings),
    autoCommit: settings.AUTO_COMMIT,
    autoMerge: settings.AUTO_MERGE,
    commitEveryMs: settings.COMMIT_INTERVAL_MS,
    mergeEveryMs: settings.MERGE_INTERVAL_MS,
    // A devnet costs nothing to look at, and makes a block a second.
    pollMs: settlesOnDevnet(settings) ? 250 : 1000,
    maxBlockTransactions: settings.BLOCK_MAX_TRANSACTIONS,
    blockValidityMs: blockValidityMs(settings),
    leaseMs: settings.SEQUENCER_LEASE_MS,
    operationTimeoutMs: settings.OPERATION_TIMEOUT_MS,
  })
  closing.defer(() => sequencer.close())
  const server = serveOperations({ queue: parts.queue, sequencer })
  closing.defer(() => server.close())
  await sequencer.start()
  return sequencer
}

/** One address has one wallet in a process, or its outputs would be spent twice. */
function sameAddress(one: WalletKeys, other: WalletKeys): boolean {
  return equalBytes(one.address.bytes, other.address.bytes)
}
