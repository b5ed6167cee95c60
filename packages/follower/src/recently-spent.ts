import { CborReader, equalBytes } from '@ratatosk/cbor'

/** Bytes of references that are kept at most. */
const maxBytes = 64 * 1024 * 1024

/**
 * References that blocks of the kept states spent, to delete the outputs later. Those before a restart, or
 * beyond the kept bytes, are never deleted.
 */
export interface RecentlySpent {
  /** @param root of the state after the block */
  add(root: Uint8Array, spent: readonly Uint8Array[]): void
  /** Forgets the oldest block if there are more than kept states. Returns what it spent. */
  forget(): readonly Uint8Array[]
  /** Forgets the blocks behind a state. */
  revert(root: Uint8Array): void
  clear(): void
}

interface SpentByBlock {
  readonly root: Uint8Array
  /** One reference behind the other: each in an array of its own takes four times as much. */
  readonly outrefs: Uint8Array
}

export function createRecentlySpent(keptStates: number): RecentlySpent {
  /** The oldest block first. */
  let blocks: SpentByBlock[] = []
  const bytes = (): number => blocks.reduce((sum, { outrefs }) => sum + outrefs.length, 0)
  return {
    add(root, spent) {
      blocks.push({ root, outrefs: joined(spent) })
      while (blocks.length > 1 && bytes() > maxBytes) blocks.shift()
    },

    forget() {
      if (blocks.length <= keptStates) return []
      const { outrefs } = blocks.shift() as SpentByBlock
      return separated(outrefs)
    },

    revert(root) {
      while (blocks.length > 0 && !equalBytes(blocks.at(-1)?.root ?? root, root)) blocks.pop()
    },

    clear() {
      blocks = []
    },
  }
}

function joined(list: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(list.reduce((sum, { length }) => sum + length, 0))
  let end = 0
  for (const each of list) {
    bytes.set(each, end)
    end += each.length
  }
  return bytes
}

function separated(outrefs: Uint8Array): readonly Uint8Array[] {
  const reader = new CborReader(outrefs)
  const list: Uint8Array[] = []
  while (reader.position < outrefs.length) {
    const start = reader.position
    reader.skip()
    list.push(reader.since(start))
  }
  return list
}
