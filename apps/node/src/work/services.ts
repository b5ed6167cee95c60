import { createEvaluator } from '@ratatosk/ledger/plutus'
import type { Evaluations } from '@ratatosk/ports'
import { createSubmissionQueue } from '@ratatosk/queue'
import { openRemoteRoots } from '@ratatosk/sequencer'
import { type OpenProver, openProver as open, type Roots } from '@ratatosk/sequencer/roots'
import { openEvaluations as evaluationsFrom, openTurns } from '@ratatosk/workers'
import {
  createFaucetPayer,
  createLayer1FaucetWallet,
  createLayer2FaucetWallet,
  type FaucetPayer,
  type FaucetWallet,
} from '@ratatosk/workers/faucet-payer'
import { type NodeContext, present } from '../context.js'
import type { ClientScripts, Node } from '../node.js'
import { leavingBy } from './validation.js'

type ProvingRoots = Pick<Roots, 'root' | 'prove'>

/** Opens the prover of blocks, over the roots that a sequencer keeps: this process's, or the active one. */
export function openProver({
  reads: store,
  queue,
  roots: own,
  sequencer,
  settings,
  genesis,
  settlement,
  onClose,
}: Node): OpenProver {
  // An embedded store has one process.
  const isAlone = sequencer !== undefined && settings.DATABASE_URL === undefined
  const prover = open({
    store,
    roots: own && isAlone ? own : newestRoots(activeRoots({ queue, onClose }), own, sequencer),
    genesis: genesis?.outputs ?? [],
    bridge: settlement?.contracts.bridge?.place.script.hash,
  })
  onClose(() => prover.close())
  return prover
}

/** Those of the active sequencer: a standby's end where it last was active. */
export function newestRoots(
  remote: ProvingRoots,
  own: ProvingRoots | undefined,
  sequencer: { readonly active: boolean } | undefined,
): ProvingRoots {
  const newest = () => (own !== undefined && sequencer?.active ? own : remote)
  return {
    root: () => newest().root(),
    prove: (root, outref) => newest().prove(root, outref),
  }
}

function activeRoots({ queue, onClose }: Pick<Node, 'queue' | 'onClose'>): ProvingRoots {
  const remote = openRemoteRoots({ queue })
  onClose(() => remote.close())
  return remote
}

/** Opens the faucet and looks up the unsettled payments of an earlier process. */
export function openFaucet(node: Node): FaucetPayer {
  const { settings, network, parameters, clock, log, onClose, store, queue } = node
  const keys = present(node.keys.faucet, 'wallet of a faucet')
  const { layer1 } = present(node.settlement, 'layer 1')
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
  onClose(() => payer.close())
  payer.settle().catch((err: unknown) => {
    log.warn({ err }, 'Failed to look up unsettled faucet payments; the next claim tries again')
  })
  return payer
}

/** Opens it with a thread of its own, so that it takes none from validation. */
export function openClientScripts({ onClose }: NodeContext): ClientScripts {
  const evaluator = createEvaluator({ threads: 1 })
  onClose(() => evaluator.close())
  return { evaluator, turns: openTurns() }
}

export function openEvaluations(node: Node): Evaluations {
  const { network, parameters, clock, reads: store, scripts, settlement, settings } = node
  const leaving = settlement && leavingBy(settlement.contracts, parameters)
  const { id: networkId, slots } = network
  const maxAttempts = settings.SUBMIT_MAX_ATTEMPTS
  return evaluationsFrom({
    store,
    parameters,
    networkId,
    slots,
    leaving,
    maxAttempts,
    ...scripts,
    now: clock,
  })
}
