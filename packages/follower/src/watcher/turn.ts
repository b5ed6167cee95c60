import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { HeldLease } from '@ratatosk/store'
import type { WatcherOptions } from './types.js'

/** The turn of one of the processes that share a store and a wallet. */
export interface Turn {
  /** Takes the turn, or keeps it. @returns why this process may not use the wallet; undefined if it may */
  obstacle(): Promise<string | undefined>
  release(): Promise<void>
}

/** Without a lease, this process is the only one. */
export function openTurn({ lease, log }: Pick<WatcherOptions, 'lease' | 'log'>): Turn {
  const holder = `${hostname()}/${process.pid}/${randomBytes(3).toString('hex')}`
  let held: HeldLease | undefined
  let reason: string | undefined
  return {
    async obstacle() {
      if (lease === undefined || held?.lost.aborted === false) return undefined
      const { leases, ttlMs } = lease
      held = await leases.hold('watcher', holder, ttlMs)
      const other = held === undefined ? await leases.current('watcher') : undefined
      const was = reason
      reason =
        held === undefined ? `Another process of this store watches: ${other?.holder ?? ''}` : undefined
      if (reason !== undefined && was === undefined) log.info({ holder: other?.holder }, reason)
      if (reason === undefined && was !== undefined) log.info({ holder }, 'This process watches now')
      return reason
    },
    release: async () => held?.release(),
  }
}
