import { createSubmissionQueue } from '@ratatosk/queue'
import {
  createFaucetPayer,
  createLayer1FaucetWallet,
  createLayer2FaucetWallet,
  type FaucetPayer,
  type FaucetWallet,
} from '@ratatosk/workers/faucet-payer'
import { present } from '../context.js'
import type { Node } from '../node.js'

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
