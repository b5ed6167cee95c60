import type { Metric } from '@ratatosk/health/metrics'
import type { Node } from '../node.js'
import { watches } from '../roles.js'
import { counter, gauge, gauges, shared } from './metric-kinds.js'
import { commitmentWallet } from './state-queue.js'

const hourMs = 3_600_000
/** How often scrapes read the wallet on layer 1, in milliseconds. */
const walletEveryMs = 60_000
const states = ['unavailable', 'valid', 'invalid', 'unprovable', 'removing', 'removed'] as const
const outcomes = ['asked', 'answered', 'unanswered'] as const

export function watcherMetrics({ settings, following, settlement, store, keys }: Node): Metric[] {
  if (!watches(settings) || following === undefined || settlement === undefined) return []
  const { verdicts } = store
  const wallet = commitmentWallet(settlement, keys.watcher?.addressText ?? '')
  const lovelace = shared(walletEveryMs, async () => Number(await wallet.lovelace()))
  const counts = shared(0, () => verdicts.counts())
  return [
    gauge('ratatosk_watcher_active', 'Whether this process watches; of a sequencer, one process does', () =>
      Number(following.now() !== undefined),
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
      () => {
        const { height = 0n, target = 0n } = following.now()?.follower.status() ?? {}
        return Math.max(0, Number(target - height))
      },
    ),
  ]
}
