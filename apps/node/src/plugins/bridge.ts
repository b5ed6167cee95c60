import { fromHex } from '@ratatosk/cbor'
import { createOwedReader, isSettlerError, type Settler } from '@ratatosk/sequencer/settler'
import type { BridgeOptions, PayoutOutcome, PayoutRequest } from '@ratatosk/state-queue/bridge'
import { openDeposits } from '../bridge/deposits.js'
import { openDrafter, openSubmitter } from '../bridge/drafter.js'
import { openMoments, shareOwed, withBridge } from '../bridge/moment.js'
import { openOverview, openWithdrawals } from '../bridge/withdrawals.js'
import { present } from '../context.js'
import type { Node } from '../node.js'
import { operatorAccess } from './operator.js'

/** How long layer 1 has to include a deposit, in milliseconds. */
const depositValidityMs = 10_000

/** Reads the bridge from layer 1 and from the blocks of the store. */
export function bridgeOptions(node: Node): BridgeOptions {
  const { store, scripts, settings, settler } = node
  const settlement = present(node.settlement, 'layer 1')
  const { reads, layer1 } = settlement
  const contracts = withBridge(settlement.contracts)
  const access = operatorAccess(settings)
  if (contracts === undefined) return { ...access, ports: undefined }
  const { blocks } = store
  const moment = openMoments({ reads, layer1, contracts, blocks })
  const payouts = settler ?? createOwedReader({ layer1, contracts, blocks })
  const source = { contracts, store, moment, owed: shareOwed(payouts) }
  return {
    ...access,
    ports: {
      bridge: openOverview(source, payouts),
      deposits: openDeposits(moment, store, contracts.networkId),
      withdrawals: openWithdrawals(source),
      drafter: openDrafter({
        settlement,
        contracts,
        scripts,
        payouts,
        store,
        validityMs: depositValidityMs,
      }),
      submitter: openSubmitter(settlement, contracts, moment),
      payer: settler && { pay: (request) => pay(settler, request) },
    },
  }
}

async function pay(settler: Settler, request: PayoutRequest): Promise<PayoutOutcome> {
  try {
    const { txHashes, paid, remaining } = await settler.pay(request)
    if (paid === 0 && remaining === 0) return { kind: 'refused', reason: 'Nothing is owed' }
    return { kind: 'paid', transactionIds: txHashes.map(fromHex), paid, remaining }
  } catch (error) {
    if (!isSettlerError(error)) throw error
    return { kind: 'refused', reason: 'This process does not pay withdrawals now: ask the one that commits' }
  }
}
