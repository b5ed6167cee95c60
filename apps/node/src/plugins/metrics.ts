import type { FollowerStatus } from '@ratatosk/follower'
import { type Metric, type MetricsOptions, prometheus } from '@ratatosk/health/metrics'
import { slotToTime } from '@ratatosk/ledger'
import { nodeVersion } from '../command-line.js'
import type { Settlement } from '../layer1/settlement.js'
import type { Node } from '../node.js'
import { watches } from '../roles.js'
import type { RootsCalls } from '../work/sequencer.js'
import { invalidBlocksOf } from './health.js'
import { counter, gauge, gauges, queueEveryMs, shared } from './metric-kinds.js'
import { operatorAccess } from './operator.js'
import { commitmentWallet } from './state-queue.js'

/** Counting more takes longer than a scrape should. */
const mempoolLimit = 10_000
/** How often scrapes read layer 1, in milliseconds: a provider's quota is limited. */
const tipEveryMs = 15_000
const walletEveryMs = 60_000

export function metricsOptions(node: Node): MetricsOptions {
  const { settings, validation, sequencer, rootsCalls, settlement, keys, forwarder, following } = node
  const { replica, peers } = node
  const metrics = [
    infoMetric(settings.NODE_ROLE),
    ...queueMetrics(node),
    ...blockMetrics(node),
    ...(validation ? validationMetrics(validation) : []),
    ...(settlement ? layer1Metrics(settlement, keys.operatorAddress) : []),
    ...(replica
      ? [
          gauge(
            'ratatosk_replica_lag_seconds',
            'How far the replica of the database is behind, at most',
            () => replica.lagMs() / 1000,
          ),
        ]
      : []),
    ...(sequencer
      ? [
          gauge('ratatosk_sequencer_active', 'Whether this process holds the lease of the sequencer', () =>
            Number(sequencer.active),
          ),
          gauge(
            'ratatosk_sequencer_lease_expires_timestamp_seconds',
            'End of the lease of the sequencer; 0: this process does not hold it',
            () => Date.parse(sequencer.snapshot().leaseExpiresAt ?? '') / 1000 || 0,
          ),
          gauge('ratatosk_sequencer_fault', 'Whether the sequencer has stopped because of a fault', () =>
            Number(sequencer.snapshot().fault !== null),
          ),
          ...questionMetrics(sequencer),
        ]
      : []),
    ...(rootsCalls ? rootsMetrics(rootsCalls) : []),
    ...(forwarder
      ? [
          counter(
            'ratatosk_forwarded_total',
            'Transactions that were offered to the nodes of other operators',
            ['outcome'],
            () =>
              Object.entries(forwarder.counts()).map(([outcome, value]) => ({ labels: { outcome }, value })),
          ),
        ]
      : []),
    ...(following
      ? [
          gauge('ratatosk_archive_height', 'Height of the archive', () =>
            Number(following.now()?.follower.status().height ?? 0n),
          ),
          counter('ratatosk_invalid_blocks_total', 'Invalid blocks that layer 1 showed', [], () => [
            { value: invalidBlocksOf(following) },
          ]),
        ]
      : []),
    ...(peers
      ? [
          gauge(
            'ratatosk_silent_peers',
            'Nodes of ARCHIVIST_PEERS that do not serve the blocks of this ledger',
            async () => (await peers.read()).filter(({ status }) => status !== 'ok').length,
          ),
        ]
      : []),
    ...watcherMetrics(node),
  ]
  const { METRICS_TOKEN: operatorToken } = settings
  return {
    ...operatorAccess(settings),
    ...(operatorToken !== undefined && { operatorToken }),
    registry: prometheus({ metrics }),
  }
}

function infoMetric(role: string): Metric {
  const labels = { role, version: nodeVersion() }
  const help = 'The role and the version of this process'
  return gauges('ratatosk_node_info', help, ['role', 'version'], () => [{ labels, value: 1 }])
}

function queueMetrics({ submissions, clock }: Node): Metric[] {
  const waiting = shared(queueEveryMs, () => submissions.waiting())
  return [
    gauge(
      'ratatosk_queue_transactions',
      'Transactions that wait for validation',
      async () => (await waiting()).transactions,
    ),
    gauge('ratatosk_queue_bytes', 'Bytes of the transactions that wait', async () => (await waiting()).bytes),
    gauge(
      'ratatosk_queue_oldest_seconds',
      'Age of the oldest submission without a first delivery',
      async () => {
        const { oldestAt } = await waiting()
        return oldestAt === undefined ? 0 : Math.max(0, clock() - oldestAt.getTime()) / 1000
      },
    ),
  ]
}

function validationMetrics({ stats }: NonNullable<Node['validation']>): Metric[] {
  const outcomes = ['accepted', 'known', 'rejected', 'postponed', 'deferred', 'released'] as const
  return [
    counter(
      'ratatosk_deliveries_total',
      'Deliveries from the queue, by what was decided',
      ['outcome'],
      () => {
        const now = stats()
        return outcomes.map((outcome) => ({ labels: { outcome }, value: now[outcome] }))
      },
    ),
    counter(
      'ratatosk_rejections_total',
      'Rejected transactions, by the first rule that they break',
      ['predicate'],
      () =>
        Object.entries(stats().rejectedBy).map(([predicate, value]) => ({ labels: { predicate }, value })),
    ),
    counter('ratatosk_batches_total', 'Batches of validation', [], () => [{ value: stats().batches }]),
    counter('ratatosk_batch_deliveries_total', 'Deliveries that batches decided', [], () => [
      { value: stats().batchDeliveries },
    ]),
    counter('ratatosk_validation_seconds_total', 'Time that validation took, by phase', ['phase'], () => {
      const { examineMs, batchMs } = stats()
      return [
        { labels: { phase: 'a' }, value: examineMs / 1000 },
        { labels: { phase: 'b' }, value: batchMs / 1000 },
      ]
    }),
    gauge('ratatosk_scripts_waiting', 'Transactions that wait for scripts', () => stats().waitingForScripts),
  ]
}

function blockMetrics({ store, duties }: Node): Metric[] {
  // An archivist's store has an archive in place of blocks.
  if (duties.bodies === 'archive') return []
  const newest = shared(0, async () => ({
    built: await store.blocks.newest(),
    committed: await store.blocks.newest(['committed', 'mature', 'merged']),
    merged: await store.blocks.confirmed(),
  }))
  const states = ['built', 'committed', 'merged'] as const
  return [
    gauge(
      'ratatosk_mempool_transactions',
      `Accepted transactions in no block, counted up to ${mempoolLimit}`,
      async () => store.blocks.waiting(mempoolLimit),
    ),
    gauges(
      'ratatosk_block_height',
      'Height of the newest block that is at least in this state',
      ['state'],
      async () => {
        const blocks = await newest()
        return states.map((state) => ({ labels: { state }, value: Number(blocks[state]?.height ?? 0) }))
      },
    ),
    gauges(
      'ratatosk_block_delay_seconds',
      'From the acceptance of the first transaction of the newest block in this state to the state',
      ['state'],
      async () => {
        const { committedMs = 0, mergedMs = 0 } = await store.blocks.delays()
        return [
          { labels: { state: 'committed' }, value: committedMs / 1000 },
          { labels: { state: 'merged' }, value: mergedMs / 1000 },
        ]
      },
    ),
    gauge(
      'ratatosk_last_commit_timestamp_seconds',
      'End of the newest committed block; 0: there is none',
      async () => {
        const { committed } = await newest()
        return Number(committed?.endTime ?? 0n) / 1000
      },
    ),
  ]
}

function questionMetrics({ questions }: NonNullable<Node['sequencer']>): Metric[] {
  return [
    gauge(
      'ratatosk_questions_open',
      'Questions of the summons about blocks of this process that wait for an answer',
      () => questions.open,
    ),
    gauge(
      'ratatosk_questions_first_deadline_timestamp_seconds',
      'The first deadline of these questions; 0: there is none',
      () => Number(questions.firstDeadline ?? 0n) / 1000,
    ),
    counter('ratatosk_answers_total', 'Answers to questions that this process has sent', [], () => [
      { value: questions.sent },
    ]),
  ]
}

function rootsMetrics(calls: () => readonly RootsCalls[]): Metric[] {
  return [
    counter('ratatosk_roots_calls_total', 'Calls to the roots of blocks, by method', ['method'], () =>
      calls().map(({ method, count }) => ({ labels: { method }, value: count })),
    ),
    counter('ratatosk_roots_seconds_total', 'Time that calls to the roots took', ['method'], () =>
      calls().map(({ method, milliseconds }) => ({ labels: { method }, value: milliseconds / 1000 })),
    ),
  ]
}

function layer1Metrics(settlement: Settlement, address: string | undefined): Metric[] {
  const { reads, layer1, calls } = settlement
  const tipTime = shared(tipEveryMs, async () => {
    const [{ slot }, slots] = await Promise.all([reads.tip(), layer1.slots()])
    return Number(slotToTime(slots, slot)) / 1000
  })
  const metrics = [
    counter(
      'ratatosk_layer1_calls_total',
      'Calls to layer 1, by method and outcome',
      ['method', 'outcome'],
      () => calls().map(({ method, outcome, count }) => ({ labels: { method, outcome }, value: count })),
    ),
    gauge('ratatosk_layer1_tip_timestamp_seconds', 'Time of the newest block of layer 1', tipTime),
  ]
  if (address === undefined) return metrics
  const wallet = commitmentWallet(settlement, address)
  const lovelace = shared(walletEveryMs, async () => Number(await wallet.lovelace()))
  return [...metrics, gauge('ratatosk_wallet_lovelace', "Balance of the operator's wallet", lovelace)]
}

const hourMs = 3_600_000
/** How often scrapes read the wallet on layer 1, in milliseconds. */
const states = ['unavailable', 'valid', 'invalid', 'unprovable', 'removing', 'removed'] as const
const outcomes = ['asked', 'answered', 'unanswered'] as const

function watcherMetrics({ settings, following, settlement, store, keys }: Node): Metric[] {
  if (!watches(settings) || following === undefined || settlement === undefined) return []
  const { verdicts } = store
  const wallet = commitmentWallet(settlement, keys.watcher?.addressText ?? '')
  const lovelace = shared(walletEveryMs, async () => Number(await wallet.lovelace()))
  const counts = shared(0, () => verdicts.counts())
  return [
    gauge('ratatosk_watcher_active', 'Whether this process watches; of a sequencer, one process does', () =>
      Number(isFollowed(following.now()?.follower.status())),
    ),
    gauges('ratatosk_watcher_verdicts', 'Blocks that were disputed, by state', ['state'], async () => {
      const known = await counts()
      return states.map((state) => ({ labels: { state }, value: known.get(state) ?? 0 }))
    }),
    counter(
      'ratatosk_watcher_questions_total',
      'Questions of the summons about disputed blocks, by what became of them; asked: by this process',
      ['outcome'],
      () => {
        const known = following.now()?.watcher?.questions()
        return outcomes.map((outcome) => ({ labels: { outcome }, value: known?.[outcome] ?? 0 }))
      },
    ),
    gauge(
      'ratatosk_watcher_spent_lovelace',
      'What proofs and questions have cost and locked in the last hour',
      async () => Number(await verdicts.spentSince(new Date(Date.now() - hourMs))),
    ),
    gauge(
      'ratatosk_watcher_budget_lovelace',
      'What they may cost and lock in an hour; 0: no limit',
      () => settings.WATCHER_MAX_LOVELACE_PER_HOUR,
    ),
    gauge('ratatosk_watcher_wallet_lovelace', "Balance of the watcher's wallet", lovelace),
    gauge(
      'ratatosk_watcher_lag_blocks',
      'Blocks of the state queue that the watcher has not archived: it waits for them, or disputes one',
      () => lagOf(following.now()?.follower.status()),
    ),
  ]
}

type Followed = Pick<FollowerStatus, 'height' | 'target' | 'queued'> | undefined

/** Whether the archive leads to what layer 1 shows: nothing else can be watched. */
export const isFollowed = (status: Followed): boolean => status?.target !== undefined

/** 0 for a process that does not watch. An archive that does not lead to the queue lacks all of it. */
export function lagOf(status: Followed): number {
  if (status === undefined) return 0
  const { height, target, queued = Number.NaN } = status
  return target === undefined ? queued : Math.max(0, Number(target - height))
}
