import type { ExplorerIndex, ExplorerLayer1, ExplorerLedger, ExplorerOptions } from '@ratatosk/explorer'
import { BusyError } from '@ratatosk/http'
import { isIndexError, type LedgerIndex } from '@ratatosk/layer2/ledger-index'
import { slotToTime } from '@ratatosk/ledger'
import type { Store } from '@ratatosk/store'
import { statusOfSubmission } from '@ratatosk/submit/status'
import { costOf } from '@ratatosk/workers'
import { nodeVersion } from '../command-line.js'
import type { Settlement } from '../layer1/settlement.js'
import type { Node } from '../node.js'
import { statusSources } from './queued-submissions.js'
import { commitmentWallet, maturityOf } from './state-queue.js'
import { trustAnswers } from './trust.js'

export function explorerOptions(node: Node): ExplorerOptions {
  const { store, submissions, index, settlement, settings, network, keys, clock, duties } = node
  return {
    ...maturityOf(settlement),
    reads: store.explorer,
    ledger: ledgerOf(store),
    queue: submissions,
    ...(index && { index: followed(index) }),
    ...(settlement && { layer1: layer1Of(settlement, keys.operatorAddress) }),
    // `POST /evaluate` does the same for every client.
    ...(duties.serves === 'whole' && settings.SERVE_EVALUATE && { runScripts: scriptsOf(node) }),
    sequencer: async () => {
      const lease = await store.leases.current('sequencer')
      // Its name starts with that of the machine, which only the operator needs.
      return lease && { holder: lease.holder.split('/').at(-1) ?? '', expiresAt: lease.expiresAt }
    },
    ...(settings.SERVE_TX_STATUS && {
      // As `/submission` says: an id that was never issued looks like one that has left the queue.
      knowsSubmission: async (id: string) =>
        (await statusOfSubmission(statusSources(node), id)).status !== 'unknown',
    }),
    node: { version: nodeVersion(), role: settings.NODE_ROLE, network: network.name },
    trust: trustAnswers(node),
    clock,
  }
}

function ledgerOf(store: Store): ExplorerLedger {
  return {
    transaction: (id) => store.transaction(id),
    placeOf: (id) => store.placeOf(id),
    transactionsOf: (headerHash, part) => store.blocks.transactionsOf(headerHash, part),
    async mempool(limit) {
      const newest = await store.blocks.newest()
      return store.chain.countAfter(newest?.lastSequence ?? 0n, limit)
    },
    head: () => store.events.head(),
  }
}

/** The index once it has everything that was accepted: otherwise a spent output would look unspent. */
function followed(index: LedgerIndex): ExplorerIndex {
  return {
    ...index,
    async outputs(query, part) {
      try {
        await index.caughtUp()
      } catch (error) {
        if (!isIndexError(error) || error.code !== 'INDEX_BEHIND') throw error
        throw new BusyError('INDEX_BEHIND', 'The index has not followed the ledger yet: retry later', 1)
      }
      return index.outputs(query, part)
    },
  }
}

/** Takes turns with other evaluations. */
function scriptsOf({ scripts, parameters, network }: Node): NonNullable<ExplorerOptions['runScripts']> {
  return (transaction, outputs) =>
    scripts.turns.take(costOf({ transaction, verified: true }), undefined, () =>
      scripts.evaluator.evaluate(transaction, outputs, parameters, network.slots),
    )
}

function layer1Of(settlement: Settlement, address: string | undefined): ExplorerLayer1 {
  const { reads, layer1 } = settlement
  const wallet = address === undefined ? undefined : commitmentWallet(settlement, address)
  return {
    async tip() {
      const [{ height, slot }, slots] = await Promise.all([reads.tip(), layer1.slots()])
      return { height, slot, at: new Date(Number(slotToTime(slots, slot))) }
    },
    wallet: async () =>
      address === undefined || wallet === undefined
        ? undefined
        : { address, lovelace: await wallet.lovelace() },
  }
}
