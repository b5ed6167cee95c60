import { NULL_HASH } from '../hash.js'
import { createSlab } from './slab.js'
import type { TrieStore, Version } from './store.js'

/** A store in memory, and what it takes of it. */
export interface MemoryStore extends TrieStore {
  /** Bytes that the nodes of all kept versions take, with the room that waits for new ones. */
  readonly bytes: number
}

interface Entry {
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
  let entries: Entry[] = [{ version: head, created: NONE, superseded: NONE }]

  function free(ids: Iterable<number>): void {
    for (const id of ids) slab.remove(id)
  }

  function prune(keep: number): void {
    while (entries.length > keep) {
      entries.shift()
      const oldest = entries[0]
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
      return entries.map((entry) => entry.version)
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
      entries.push({
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
      entries = [{ version: head, created: NONE, superseded: NONE }]
    },

    undo(sequence) {
      for (
        let newest = entries.at(-1);
        newest && newest.version.sequence > sequence;
        newest = entries.at(-1)
      ) {
        free(newest.created)
        entries.pop()
        head = entries.at(-1)?.version ?? head
      }
    },

    prune,

    async close() {
      entries = []
      slab = createSlab()
    },
  }
}
