import { isRenounced, verdictPolicies } from '@ratatosk/contracts'
import type {
  ExplorerIndex,
  ExplorerLayer1,
  ExplorerLedger,
  ExplorerOptions,
  TrustAnswer,
} from '@ratatosk/explorer'
import { BusyError } from '@ratatosk/http'
import { isIndexError, type LedgerIndex } from '@ratatosk/layer2/ledger-index'
import { slotToTime } from '@ratatosk/ledger'
import { takeOverAfterOf } from '@ratatosk/protocol'
import type { Store } from '@ratatosk/store'
import { statusOfSubmission } from '@ratatosk/submit/status'
import { costOf } from '@ratatosk/workers'
import { nodeVersion } from '../command-line.js'
import type { Settlement } from '../layer1/settlement.js'
import type { Node } from '../node.js'
import { commitmentWallet, maturityOf, statusSources } from './state-queue.js'

export function explorerOptions(node: Node): ExplorerOptions {
  const { store, reads, submissions, index, settlement, settings, network, keys, clock, duties } = node
  return {
    ...maturityOf(settlement),
    reads: reads.explorer,
    ledger: ledgerOf(reads),
    queue: submissions,
    ...(index && { index: followed(index) }),
    ...(settlement && { layer1: layer1Of(settlement, keys.operatorAddress) }),
    // `POST /evaluate` does the same for every client.
    ...(duties.serves.includes('ledger') && settings.SERVE_EVALUATE && { runScripts: scriptsOf(node) }),
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

/** The trust assumptions of this deployment. Without layer 1, contracts are unknown: no answer. */
function trustAnswers({ settlement, settings, duties }: Node): readonly TrustAnswer[] {
  if (settlement === undefined) return []
  const { parameters, bridge } = settlement.contracts
  const fact = (name: string, value: unknown) => ({ name, value: String(value) })
  const renounced = isRenounced(parameters.administrator)
  const maturity = fact('maturity window (ms)', parameters.maturityWindow)
  const administrator = fact('administrator', renounced ? 'renounced' : 'holds a key or script')
  const provable = `${parameters.verdictPolicies?.length ?? 0} of ${Object.keys(verdictPolicies).length}`
  return [
    {
      risk: 'state-validation',
      answer:
        'A block stands unless a fraud is proven within the maturity window. Only frauds that a ' +
        'verdict policy knows can be proven; against others there is only the administrator, if there ' +
        'is one.',
      facts: [fact('verdict policies', provable), maturity, administrator],
    },
    {
      risk: 'data-availability',
      answer:
        'Layer 1 holds headers only. Nodes and archivists serve the bodies; nothing on layer 1 ' +
        'forces them to, unless the deployment has a summons: an operator who does not answer a question ' +
        'about its block loses it.',
      facts: [
        fact('serves bodies', duties.bodies),
        fact('time for an answer (ms)', parameters.summons?.period ?? 'no summons'),
      ],
    },
    {
      risk: 'exit',
      answer:
        bridge === undefined
          ? 'There is no bridge: headers commit to no withdrawals.'
          : 'A payment to the bridge leaves layer 2; anyone can pay it out on layer 1 once its block is ' +
            'merged. An operator that omits it, or lies about deposits and fees, is not proven wrong on ' +
            'layer 1 yet, and no one leaves without an operator: for development only.',
      facts: [fact('withdrawals', bridge === undefined ? 'none' : 'after the maturity window')],
    },
    {
      risk: 'sequencer-failure',
      answer:
        'Without a sequencer no block is committed. Another operator of the registry may commit in its ' +
        'turn, and takes over earlier if nothing is committed for a while; users cannot force a ' +
        'transaction into a block.',
      facts: [
        fact('operator turn (ms)', parameters.turnLength),
        fact('take-over after (ms)', takeOverAfterOf(parameters)),
        fact('lease (ms)', settings.SEQUENCER_LEASE_MS),
        fact('most operators', parameters.maxOperators),
      ],
    },
    {
      risk: 'proposer-failure',
      answer:
        'An operator that commits a provable fraud loses its block, and its bond to the prover but for the ' +
        'penalty, which stays in the registry. One that proves its own fraud first loses the penalty only.',
      facts: [
        fact('bond (lovelace)', parameters.bond),
        fact('penalty (lovelace)', parameters.slashPenalty ?? 0n),
        fact('permissioned', parameters.permissioned),
        administrator,
      ],
    },
  ]
}
