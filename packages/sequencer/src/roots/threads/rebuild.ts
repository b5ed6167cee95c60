import { encodeOutputReference } from '@ratatosk/ledger'
import type { LedgerOutput } from '@ratatosk/store'
import type { TrieEntry } from '@ratatosk/trie'

/** A trie that can be replaced as a whole. */
interface Rebuilt {
  rebuild(entries: AsyncIterable<TrieEntry>): Promise<Uint8Array>
}

export interface Rebuild {
  /** Resolves when the trie has taken the piece. */
  add(piece: readonly LedgerOutput[]): Promise<void>
  /** Builds the trie. Resolves with its root. */
  end(): Promise<Uint8Array>
  /** Leaves the trie as it was. */
  abandon(): Promise<void>
}

export function beginRebuild(trie: Rebuilt): Rebuild {
  const { readable, writable } = new TransformStream<readonly LedgerOutput[], readonly LedgerOutput[]>()
  const feed = writable.getWriter()
  const built = trie.rebuild(entriesOf(readable))
  // Either may fail before something awaits it.
  built.catch(() => undefined)
  feed.closed.catch(() => undefined)

  return {
    async add(piece) {
      // A failed rebuild has the reason; the feed would only report that nothing reads it.
      await Promise.race([built, feed.write(piece)])
    },

    async end() {
      await Promise.race([built, feed.close()])
      return built
    },

    async abandon() {
      await feed.abort()
      await built.catch(() => undefined)
    },
  }
}

async function* entriesOf(pieces: AsyncIterable<readonly LedgerOutput[]>): AsyncGenerator<TrieEntry, void> {
  for await (const piece of pieces) {
    for (const { transactionId, index, output } of piece)
      yield [encodeOutputReference({ transactionId, index }), output]
  }
}
