/** How often a script must have ended within its budget before it may run where no budget stops it. */
export const runsToTrust = 10

/** How many scripts are remembered: 20,000 hashes are some megabytes. */
const remembered = 20_000

export interface Reputation {
  /** Whether all these scripts have been seen to end often enough. */
  trusts(scriptHashes: readonly string[]): boolean
  /** All these scripts ended within what was declared. */
  ended(scriptHashes: readonly string[]): void
  /** This script was trusted, and did not. */
  failedTrust(scriptHash: string): void
}

/**
 * Remembers which scripts have behaved. A thread that must be ended costs a hundred times what a bounded run does, so only
 * scripts that have earned it go without: whoever wants to misuse that pays for {@link runsToTrust} good runs each time.
 */
export function createReputation(): Reputation {
  const runs = new Map<string, number>()
  return {
    trusts: (scriptHashes) => scriptHashes.every((hash) => (runs.get(hash) ?? 0) >= runsToTrust),
    ended(scriptHashes) {
      for (const hash of scriptHashes) {
        const count = (runs.get(hash) ?? 0) + 1
        // The last to behave are kept longest.
        runs.delete(hash)
        runs.set(hash, Math.min(count, runsToTrust))
      }
      for (const hash of runs.keys()) {
        if (runs.size <= remembered) break
        runs.delete(hash)
      }
    },
    failedTrust(scriptHash) {
      runs.delete(scriptHash)
    },
  }
}
