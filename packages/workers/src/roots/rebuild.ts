import type { OutputTrie } from './output-trie.js'
import type { UnspentOutput } from './types.js'

/** A rebuild of the trie whose pieces come one by one. */
export interface Rebuild {
  /** Resolves when the piece was taken. */
  add(piece: readonly UnspentOutput[]): Promise<undefined>
  /** Builds the trie and answers its root. */
  end(): Promise<Uint8Array>
  /** Leaves the trie as it was. */
  abandon(): Promise<undefined>
}

export function createRebuild(trie: OutputTrie): Rebuild {
  const { readable, writable } = new TransformStream<readonly UnspentOutput[], readonly UnspentOutput[]>()
  const feed = writable.getWriter()
  const built = trie.rebuild(readable)
  // It may fail before anybody waits for it.
  built.catch(() => undefined)
  feed.closed.catch(() => undefined)

  return {
    async add(piece) {
      // A rebuild that failed says why; the feed would only say that nobody reads.
      await Promise.race([built, feed.write(piece)])
      return undefined
    },

    async end() {
      await Promise.race([built, feed.close()])
      return built
    },

    async abandon() {
      await feed.abort()
      await built.catch(() => undefined)
      return undefined
    },
  }
}
