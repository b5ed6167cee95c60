import { encodeOutputReference } from '@ratatosk/ledger'
import type { LedgerOutput } from '@ratatosk/store'
import type { TrieEntry } from '@ratatosk/trie'

/** Many byte strings in one buffer that can be transferred to another thread. */
export interface PackedBytes {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The offset at which each item ends. */
  readonly ends: Uint32Array<ArrayBuffer>
}

/** Copies the items once. Views of a shared buffer cannot be transferred, and their clones copy all of it. */
export function pack(items: readonly Uint8Array[]): PackedBytes {
  const bytes = new Uint8Array(items.reduce((sum, { length }) => sum + length, 0))
  const ends = new Uint32Array(items.length)
  let end = 0
  for (const [index, item] of items.entries()) {
    bytes.set(item, end)
    end += item.length
    ends[index] = end
  }
  return { bytes, ends }
}

/** The items as views of the buffer. */
export function unpack({ bytes, ends }: PackedBytes): Uint8Array[] {
  let start = 0
  return Array.from(ends, (end) => {
    const item = bytes.subarray(start, end)
    start = end
    return item
  })
}

/** The buffers for the transfer list of `postMessage`. */
export function buffersOf(...packed: readonly PackedBytes[]): ArrayBuffer[] {
  return packed.flatMap(({ bytes, ends }) => [bytes.buffer, ends.buffer])
}

/** Unspent outputs on their way to the thread. */
export interface PackedOutputs {
  readonly transactionIds: PackedBytes
  readonly indexes: Uint16Array<ArrayBuffer>
  readonly outputs: PackedBytes
}

/** @returns the packed outputs and their transfer list */
export function packOutputs(outputs: readonly LedgerOutput[]): [PackedOutputs, ArrayBuffer[]] {
  const packed = {
    transactionIds: pack(outputs.map(({ transactionId }) => transactionId)),
    indexes: Uint16Array.from(outputs, ({ index }) => index),
    outputs: pack(outputs.map(({ output }) => output)),
  }
  return [packed, [...buffersOf(packed.transactionIds, packed.outputs), packed.indexes.buffer]]
}

export function unpackOutputs({ transactionIds, indexes, outputs }: PackedOutputs): LedgerOutput[] {
  const ids = unpack(transactionIds)
  return unpack(outputs).map((output, position) => ({
    transactionId: ids[position] ?? new Uint8Array(),
    index: indexes[position] ?? 0,
    output,
  }))
}

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
