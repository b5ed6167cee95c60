import { createRequire } from 'node:module'
import { archiveOfBlocks, archivist } from '@ratatosk/archivist'
import { type ControlOptions, DevnetError, devnetControls } from '@ratatosk/devnet'
import { explorer } from '@ratatosk/explorer'
import { console } from '@ratatosk/explorer/console'
import { faucet } from '@ratatosk/faucet'
import { health } from '@ratatosk/health'
import { metrics } from '@ratatosk/health/metrics'
import { operatorRoute } from '@ratatosk/http'
import { type DocsOptions, docs } from '@ratatosk/http/openapi'
import { operator } from '@ratatosk/operator'
import { deadLetters } from '@ratatosk/operator/dead-letters'
import { stateQueue } from '@ratatosk/state-queue'
import { bridge } from '@ratatosk/state-queue/bridge'
import { operators } from '@ratatosk/state-queue/operators'
import type { Store } from '@ratatosk/store'
import { submit } from '@ratatosk/submit'
import { evaluate } from '@ratatosk/submit/evaluate'
import { txStatus } from '@ratatosk/submit/status'
import { type LedgerQueries, txQuery } from '@ratatosk/tx-query'
import { events } from '@ratatosk/tx-query/events'
import { network } from '@ratatosk/tx-query/network'
import { proofs } from '@ratatosk/tx-query/proofs'
import { present } from '../context.js'
import { type Node, type PluginRow, pluginRow } from '../node.js'
import { type Duties, hasFaucet, type RouteGroup, servesConsole, servesLayer2, watches } from '../roles.js'
import { openEvaluations, openFaucet, openProver } from '../work/services.js'
import { bridgeOptions } from './bridge.js'
import { explorerOptions } from './explorer.js'
import { healthOptions } from './health.js'
import { devWallet, layer2Apis, networkInfo, openLayer2 } from './layer2.js'
import { metricsOptions } from './metrics.js'
import { deadLettersOf, operatorAccess, operatorOptions } from './operator.js'
import { operatorsOptions } from './operators.js'
import { maturityOf, stateQueueOptions, statusSources } from './state-queue.js'

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

/** The description of the whole node in the OpenAPI document. */
const description: DocsOptions = {
  title: 'Ratatosk node',
  version,
  description: [
    'HTTP API of a node of an optimistic rollup on Cardano.',
    'It is RPC over HTTP: some GET requests change state, and these are served without HEAD.',
    'Every error body is JSON with the field `error`; a path that this node does not serve gets',
    '404 `{"error":"Not Found","code":"DISABLED"}`.',
    'Hex is accepted in either case and answered in lower case; amounts are decimal digits in strings.',
    'Cardano SDKs use layer 2 by the APIs of layer 1, which are not part of this document:',
    'Blockfrost at `/l2/blockfrost/api/v0`, Kupo at `/l2/kupo`, Ogmios at `/l2/ogmios`.',
    '`/l2/committed/…` and `/l2/merged/…` serve the same for committed and for merged blocks only.',
  ].join(' '),
  contact: { name: 'The Ratatosk authors', url: 'https://github.com/ratatosk-l2/ratatosk' },
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  tags: [
    { name: 'health', description: 'Whether the node is up and ready' },
    { name: 'transactions', description: 'Submit transactions and read their status' },
    { name: 'ledger', description: 'Transactions, addresses, unspent outputs and blocks of layer 2' },
    { name: 'explorer', description: 'What the node does and holds, for people who watch it' },
    { name: 'proofs', description: 'Merkle proofs against the roots that layer 1 holds' },
    { name: 'state queue', description: 'Committed blocks and wallets on layer 1' },
    { name: 'operators', description: 'Who may commit blocks, and what disputes their blocks' },
    { name: 'bridge', description: 'Deposits from layer 1, and withdrawals to it' },
    { name: 'faucet', description: 'Testnet ada' },
    { name: 'archivist', description: 'Block headers and bodies' },
    { name: 'operator', description: 'Operations that only the operator of the node may run' },
  ],
  tokens: {
    operatorToken: { description: 'The `OPERATOR_TOKEN` of the node' },
    faucetToken: { description: 'The `FAUCET_TOKEN` of the node, for server-to-server use' },
  },
}

const always = () => true
const inGroup =
  (group: RouteGroup) =>
  ({ serves }: Duties) =>
    serves.includes(group)
const servesAny = ({ serves }: Duties) => serves.length > 0
const servesPublic = inGroup('public')
const servesLedger = inGroup('ledger')
const operates = inGroup('operations')

/** Every plugin of the node, in the order of registration. To add one, add its package and a row. */
export const plugins: readonly PluginRow[] = [
  // First, because it describes the routes that follow.
  pluginRow({
    plugin: docs,
    when: ({ serves, bodies }, { SERVE_DOCS }) => SERVE_DOCS && (serves.length > 0 || bodies !== 'none'),
    options: () => description,
  }),
  // It times the routes that follow.
  pluginRow({ plugin: metrics, when: (_, { SERVE_METRICS }) => SERVE_METRICS, options: metricsOptions }),
  pluginRow({ plugin: health, when: always, options: healthOptions }),
  pluginRow({
    plugin: submit,
    when: servesPublic,
    options: ({ submissions, settings }) => ({
      queue: submissions,
      maxTransactionSize: settings.MAX_TX_SIZE,
    }),
  }),
  pluginRow({
    plugin: txStatus,
    when: (duties, { SERVE_TX_STATUS }) => servesPublic(duties) && SERVE_TX_STATUS,
    options: statusSources,
  }),
  pluginRow({
    plugin: events,
    when: (duties, { SERVE_EVENTS }) => servesPublic(duties) && SERVE_EVENTS,
    options: ({ reads, settlement, network, settings }) => ({
      ...maturityOf(settlement),
      log: reads.events,
      network: network.kind,
      maxClients: settings.EVENTS_MAX_CLIENTS,
    }),
  }),
  pluginRow({
    plugin: explorer,
    when: (duties, { SERVE_EXPLORER }) => servesPublic(duties) && SERVE_EXPLORER,
    options: explorerOptions,
  }),
  pluginRow({
    plugin: console,
    when: (duties, settings) => servesConsole(duties, settings),
    options: () => ({}),
  }),
  pluginRow({
    plugin: txQuery,
    when: servesLedger,
    options: ({ reads, network }) => ({ ledger: ledgerOf(reads), network: network.kind }),
  }),
  pluginRow({
    plugin: evaluate,
    when: (duties, { SERVE_EVALUATE }) => servesLedger(duties) && SERVE_EVALUATE,
    options: (node) => ({
      evaluations: openEvaluations(node),
      maxTransactionSize: node.settings.MAX_TX_SIZE,
    }),
  }),
  pluginRow({ plugin: layer2Apis, when: servesLayer2, options: openLayer2 }),
  pluginRow({
    plugin: devWallet,
    when: (duties, settings) => servesLayer2(duties, settings) && settings.NETWORK === 'devnet',
    options: () => ({}),
  }),
  pluginRow({
    plugin: devnetControls,
    when: (duties, { LAYER1_PROVIDER }) => operates(duties) && LAYER1_PROVIDER === 'devnet',
    options: devnetControlOptions,
  }),
  pluginRow({ plugin: network, when: servesLayer2, options: (node) => ({ info: networkInfo(node) }) }),
  pluginRow({
    plugin: proofs,
    when: (duties, { SERVE_PROOFS }) => servesLedger(duties) && SERVE_PROOFS,
    options: (node) => ({ prover: openProver(node) }),
  }),
  pluginRow({
    plugin: deadLetters,
    when: operates,
    options: ({ store, submissions, settings }) => ({
      ...operatorAccess(settings),
      deadLetters: deadLettersOf(store, submissions),
    }),
  }),
  // An operator reads it, too.
  pluginRow({ plugin: stateQueue, when: servesAny, options: stateQueueOptions }),
  pluginRow({
    plugin: operators,
    when: (duties, settings) => servesAny(duties) || watches(settings),
    options: operatorsOptions,
  }),
  pluginRow({ plugin: bridge, when: servesAny, options: bridgeOptions }),
  pluginRow({ plugin: operator, when: inGroup('commit'), options: operatorOptions }),
  pluginRow({
    plugin: faucet,
    when: (_, settings) => hasFaucet(settings),
    options: (node) => ({
      token: present(node.settings.FAUCET_TOKEN, 'FAUCET_TOKEN'),
      network: node.network.kind,
      payer: openFaucet(node),
      layer: node.settings.FAUCET_LAYER === '1' ? (1 as const) : (2 as const),
    }),
  }),
  pluginRow({
    plugin: archivist,
    when: ({ bodies }) => bodies === 'own blocks',
    options: ({ reads, settlement }) => ({
      archive: archiveOfBlocks(reads.blocks, { bridge: settlement?.contracts.bridge?.place.script.hash }),
      prefix: '/archivist',
    }),
  }),
  pluginRow({
    plugin: archivist,
    when: ({ bodies }) => bodies === 'archive',
    options: ({ store, following }) => ({
      archive: store.archive,
      ...(following?.evidence && { evidence: following.evidence }),
    }),
  }),
]

/** The controls of the devnet, under the origin of the node and with the guards of an operator's routes. */
function devnetControlOptions({
  settings,
  settlement,
  sequencer,
}: Node): ControlOptions & { prefix: string } {
  return {
    prefix: '/devnet',
    route: operatorRoute(operatorAccess(settings)),
    ...(sequencer && { sequencer }),
    devnet() {
      const devnet = settlement?.devnet?.()
      if (devnet !== undefined) return devnet
      throw new DevnetError('DEVNET_ELSEWHERE', 'Another process hosts the devnet: use the controls there')
    },
  }
}

/** The reads of `/tx`, `/txs`, `/utxos` and `/block`, by pages: long answers need little memory. */
function ledgerOf(store: Store): LedgerQueries {
  return {
    transaction: (id) => store.transaction(id),
    history: (address, page) => store.historyPages(address, page),
    utxosAt: (address) => store.utxoPages(address),
    blockTransactions: (headerHash) => store.blockTransactionPages(headerHash),
  }
}
