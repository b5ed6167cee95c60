import type { Settings } from './life/work.js'
import type { SequencerOptions } from './types.js'

/** The options with their defaults. */
export function settingsOf({ log: _log, observer: _observer, ...options }: SequencerOptions): Settings {
  return {
    autoCommit: true,
    autoMerge: true,
    autoInit: false,
    commitEveryMs: 1000,
    mergeEveryMs: 10_000,
    pollMs: 1000,
    maxBlockTransactions: 10_000,
    blockValidityMs: 120_000,
    maxUnconfirmed: 8,
    leaseMs: 10_000,
    operationTimeoutMs: 180_000,
    ...options,
  }
}
