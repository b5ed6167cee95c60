import { setTimeout as delay } from 'node:timers/promises'
import type { ChainView, MempoolEntry } from '../view/chain-view.js'

/** A mempool at one time. Two snapshots with the same transactions after the same block are one object. */
export interface MempoolSnapshot {
  /** Hash of the newest block. */
  readonly tip: string
  readonly entries: readonly MempoolEntry[]
  /** Total size of the transactions. */
  readonly bytes: number
}

/** The mempool of a chain, which all connections share. */
export interface MempoolFeed {
  /** A snapshot that is at least as new as the last change before the call. */
  read(): Promise<MempoolSnapshot>
  /** Calls the listener after each change until the returned function ends it; `read` needs a listener. */
  subscribe(listener: () => void): () => void
}

/** The most transactions of a snapshot; the oldest ones. */
const maxEntries = 10_000
/** Milliseconds between the beginnings of two reads. */
const readInterval = 250

export function createMempoolFeed(chain: ChainView): MempoolFeed {
  const listeners = new Set<() => void>()
  let unsubscribe: (() => void) | undefined
  let changes = 0
  let snapshot: MempoolSnapshot = { tip: '', entries: [], bytes: 0 }
  /** The value of `changes` when the snapshot was read. */
  let readAtChange = -1
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  function changed(): void {
    changes++
    for (const listener of [...listeners]) listener()
  }

  async function readNext(): Promise<void> {
    await delay(Math.max(0, readAt + readInterval - performance.now()), undefined, { ref: false })
    readAt = performance.now()
    const change = changes
    const { hash: tip } = await chain.tip()
    const entries = await chain.mempool({ offset: 0, limit: maxEntries })
    if (snapshot.tip !== tip || !same(snapshot.entries, entries))
      snapshot = { tip, entries, bytes: entries.reduce((sum, { bytes }) => sum + bytes, 0) }
    readAtChange = change
  }

  return {
    async read() {
      const wanted = changes
      while (readAtChange < wanted) {
        reading ??= readNext().finally(() => {
          reading = undefined
        })
        await reading
      }
      return snapshot
    },
    subscribe(listener) {
      if (listeners.size === 0) {
        changes++
        unsubscribe = chain.subscribe(changed)
      }
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        unsubscribe?.()
        unsubscribe = undefined
      }
    },
  }
}

function same(a: readonly MempoolEntry[], b: readonly MempoolEntry[]): boolean {
  return a.length === b.length && a.every(({ hash }, index) => hash === b[index]?.hash)
}
