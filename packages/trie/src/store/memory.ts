import { emptyRoot } from '../hash/memory.js'
import { createSlab } from './slab.js'
import type { Replacement, TrieStore, Version } from './store.js'

/** A store in memory. */
export interface MemoryStore extends TrieStore {
  /** Bytes allocated for the nodes of all kept versions, including free space. */
  readonly bytes: number
}

interface KeptVersion {
  version: Version
  created: Float64Array
  /** Nodes that only older versions use, freed when the previous one is forgotten. */
  superseded: Float64Array
}

const noIds = new Float64Array()

/**
 * Creates a store that keeps a trie in memory. Nodes are packed into a few large buffers, without an object
 * for each, so a million keys cost the garbage collector nothing.
 *
 * @example
 * const trie = createTrie({ store: createMemoryStore() })
 */
export function createMemoryStore(): MemoryStore {
  let slab = createSlab()
  let sequence = 0
  let head: Version = { sequence, root: emptyRoot(), node: 0, size: 0 }
  let kept: KeptVersion[] = [{ version: head, created: noIds, superseded: noIds }]

  function free(ids: Iterable<number>): void {
    for (const id of ids) slab.remove(id)
  }

  function prune(keep: number): void {
    while (kept.length > keep) {
      kept.shift()
      const oldest = kept[0]
      if (oldest === undefined) return
      free(oldest.superseded)
      oldest.superseded = noIds
      oldest.created = noIds
    }
  }

  function stage(): Replacement {
    const replacement = createSlab()
    return {
      write: replacement.add,
      finish(version) {
        slab = replacement
        sequence += 1
        head = { ...version, sequence }
        kept = [{ version: head, created: noIds, superseded: noIds }]
      },
    }
  }

  return {
    get head() {
      return head
    },

    get versions() {
      return kept.map(({ version }) => version)
    },

    get bytes() {
      return slab.capacity
    },

    read(id) {
      return slab.get(id)
    },

    commit(superseded, keep, write) {
      const created: number[] = []
      try {
        const outcome = write((bytes) => {
          const id = slab.add(bytes)
          created.push(id)
          return id
        })
        sequence += 1
        head = { ...outcome, sequence }
      } catch (error) {
        free(created)
        throw error
      }
      kept.push({
        version: head,
        created: Float64Array.from(created),
        superseded: Float64Array.from(superseded),
      })
      prune(keep)
    },

    replace(write) {
      const replacement = stage()
      replacement.finish(write(replacement.write))
    },

    stage,

    undo(sequence) {
      const left = kept.filter(({ version }) => version.sequence <= sequence)
      for (const undone of kept.slice(left.length)) free(undone.created)
      kept = left
      head = left.at(-1)?.version ?? head
    },

    prune,

    // They are freed when their version is forgotten, which takes next to no time.
    free: () => 0,

    async close() {
      kept = []
      slab = createSlab()
    },
  }
}
