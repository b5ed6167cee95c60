import { NULL_HASH } from '../hash.js'
import { createSlab } from './slab.js'
import type { TrieStore, Version } from './store.js'

/** A store in memory, and what it takes of it. */
export interface MemoryStore extends TrieStore {
  /** Bytes that the nodes of all kept versions take, with the room that waits for new ones. */
  readonly bytes: number
}

interface KeptVersion {
  version: Version
  /** Nodes that came with this version, freed when it is undone. */
  created: Float64Array
  /** Nodes that only older versions use, freed when the one before is forgotten. */
  superseded: Float64Array
}

const NONE = new Float64Array()

/**
 * Keeps a trie in memory, packed into a few large buffers: there is no object for a node, so that a million keys cost
 * the garbage collector nothing.
 *
 * @example
 * const trie = createTrie({ store: createMemoryStore() })
 */
export function createMemoryStore(): MemoryStore {
  let slab = createSlab()
  let sequence = 0
  let head: Version = { sequence, root: NULL_HASH, node: 0, size: 0 }
  let kept: KeptVersion[] = [{ version: head, created: NONE, superseded: NONE }]

  function free(ids: Iterable<number>): void {
    for (const id of ids) slab.remove(id)
  }

  function prune(keep: number): void {
    while (kept.length > keep) {
      kept.shift()
      const oldest = kept[0]
      if (oldest === undefined) return
      free(oldest.superseded)
      oldest.superseded = NONE
      oldest.created = NONE
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
      const replacement = createSlab()
      const outcome = write(replacement.add)
      slab = replacement
      sequence += 1
      head = { ...outcome, sequence }
      kept = [{ version: head, created: NONE, superseded: NONE }]
    },

    undo(sequence) {
      const left = kept.filter(({ version }) => version.sequence <= sequence)
      for (const undone of kept.slice(left.length)) free(undone.created)
      kept = left
      head = left.at(-1)?.version ?? head
    },

    prune,

    async close() {
      kept = []
      slab = createSlab()
    },
  }
}
