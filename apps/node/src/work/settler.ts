import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { openWallet, type Wallet } from '@ratatosk/layer1'
import type { Evaluator } from '@ratatosk/ledger/plutus'
import type { Sequencer } from '@ratatosk/sequencer'
import { createSettler, type Settler, settlerKeys } from '@ratatosk/sequencer/settler'
import type { NodeContext } from '../context.js'
import type { Settlement } from '../layer1/settlement.js'
import type { Storage } from '../storage/open-storage.js'

/** The parts of a process that sequences which its settler uses. */
export interface SequencingParts {
  readonly sequencer: Sequencer
  /** Fills the settler's wallet. */
  readonly operator: Wallet
  readonly evaluator: Evaluator
}

/**
 * Pays what merged blocks owe, where the sequencer of this process is active; undefined without a bridge.
 *
 * @param autoPay pay without being asked
 */
export async function startSettler(
  { keys, network, log, onClose }: NodeContext,
  { store }: Storage,
  { layer1, contracts }: Settlement,
  { sequencer, operator, evaluator }: SequencingParts,
  autoPay: boolean,
): Promise<Settler | undefined> {
  const { bridge } = contracts
  if (bridge === undefined || keys.operator === undefined) return undefined
  const { blocks, leases } = store
  const settler = createSettler({
    layer1,
    contracts: { ...contracts, bridge },
    blocks,
    leases,
    wallet: openWallet({ layer1, keys: settlerKeys(keys.operator), evaluator }),
    fundedBy: operator,
    // Another process that spends from the operator's wallet would take the inputs of commits.
    isNeeded: () => sequencer.active,
    autoPay,
    holder: `${hostname()}/${process.pid}/${randomBytes(3).toString('hex')}`,
    log,
    pollMs: network.isDevnet ? 250 : 1000,
  })
  onClose(() => settler.close())
  await settler.start()
  return settler
}
