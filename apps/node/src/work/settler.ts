import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { openWallet, type Wallet } from '@ratatosk/layer1'
import { decodeTransactionOutput } from '@ratatosk/ledger'
import type { Evaluator } from '@ratatosk/ledger/plutus'
import type { Sequencer } from '@ratatosk/sequencer'
import { backGenesis, createSettler, type Settler, settlerKeys } from '@ratatosk/sequencer/settler'
import type { NodeContext } from '../context.js'
import { backing, backingCosts, backingKeys } from '../layer1/keys.js'
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
  context: NodeContext,
  { store }: Storage,
  { layer1, contracts }: Settlement,
  { sequencer, operator, evaluator }: SequencingParts,
  autoPay: boolean,
): Promise<Settler | undefined> {
  const { keys, network, settings, log, onClose } = context
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
  if (settings.LAYER1_PROVIDER === 'devnet')
    backWhenBegun(context, { layer1, contracts }, { sequencer, evaluator })
  return settler
}

/** Milliseconds between two reads of the state queue. */
const backEveryMs = 500

/** Backs the genesis of a devnet's layer 2, once the state queue has begun. */
function backWhenBegun(
  { genesis, log, onClose }: NodeContext,
  { layer1, contracts }: Pick<Settlement, 'layer1' | 'contracts'>,
  { sequencer, evaluator }: Pick<SequencingParts, 'sequencer' | 'evaluator'>,
): void {
  const { bridge, scripts } = contracts
  if (bridge === undefined) return
  const ending = new AbortController()
  const wallets = [openWallet({ layer1, keys: backingKeys(), evaluator })]
  const outputs = genesis?.outputs ?? []
  const lovelace = outputs.reduce(
    (sum, { output }) => sum + decodeTransactionOutput(output).value.lovelace,
    0n,
  )
  // So that a restart sends nothing again to a treasury that has paid withdrawals.
  const unneeded = backing - lovelace
  let spared = backingCosts
  if (unneeded > spared) spared = unneeded
  const back = async (): Promise<void> => {
    const { signal } = ending
    while (!signal.aborted) {
      if (sequencer.active && (await layer1.utxosByUnit(scripts.queue.unit, { signal })).length > 0) {
        await backGenesis({
          layer1,
          contracts: { ...contracts, bridge },
          genesis: outputs,
          wallets,
          spared,
          log,
          signal,
        })
        return
      }
      await sleep(backEveryMs, undefined, { signal })
    }
  }
  const done = back().catch((err: unknown) => {
    if (!ending.signal.aborted) log.warn({ err }, "Layer 1 does not back layer 2's genesis")
  })
  onClose(async () => {
    ending.abort()
    await done
  })
}
