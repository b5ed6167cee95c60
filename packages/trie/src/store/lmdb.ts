import { open } from 'lmdb'
import { StoreConflict, StoreCorrupt } from '../errors.js'
import { asBuffer, NULL_HASH } from '../hash.js'
import { decodeIds, decodeVersion, encodeIds, encodeVersion, type StoredVersion } from './lmdb-rows.js'
import type { Outcome, TrieStore, WriteNode } from './store.js'

export interface LmdbStoreOptions {
  /** A folder for this trie alone; made where it is missing. */
  path: string
}

/** The layout of the rows, and of the nodes among them. */
const FORMAT = 1

const GENESIS: StoredVersion = { sequence: 0, root: NULL_HASH, node: 0, size: 0, firstNode: 1, nextNode: 1 }

/**
 * Keeps a trie in an LMDB folder. Each update is one transaction, on disk when the call returns: a process that is
 * killed leaves the trie as it was before an update or after it, never between.
 *
 * Nodes are numbered in the order in which they are written, not kept under their hashes or their places in the trie.
 * So an update goes to the end of the table in one piece, a node never belongs to two histories, and undoing an update
 * is to delete a range.
 *
 * @throws {StoreCorrupt} when the folder holds something else
 * @example
 * const trie = createTrie({ store: openLmdbStore({ path: '.ratatosk/utxos' }) })
 */
export function openLmdbStore({ path }: LmdbStoreOptions): TrieStore {
  const root = open<unknown, string>({
    path,
    noSubdir: false,
    maxDbs: 4,
    // With it, a transaction would count as committed before it is on disk.
    overlappingSync: false,
  })
  const nodes = root.openDB<Buffer, number>({ name: 'nodes', encoding: 'binary' })
  const rows = root.openDB<Buffer, number>({ name: 'versions', encoding: 'binary' })
  const obsolete = root.openDB<Buffer, number>({ name: 'superseded', encoding: 'binary' })
  const meta = root.openDB<number, string>({ name: 'meta' })

  let revision = 0
  let versions: readonly StoredVersion[] = []
  let head = GENESIS

  function load(): void {
    const format = meta.get('format')
    if (format === undefined) {
      meta.putSync('format', FORMAT)
      meta.putSync('revision', 0)
      putVersion(GENESIS)
    } else if (format !== FORMAT) {
      throw new StoreCorrupt(`its format is ${format}, not ${FORMAT}`)
    }
    revision = meta.get('revision') ?? 0
    adopt(Array.from(rows.getRange(), ({ key, value }) => decodeVersion(key, value)))
  }

  function adopt(kept: readonly StoredVersion[]): void {
    const newest = kept.at(-1)
    if (newest === undefined) throw new StoreCorrupt('it has no version')
    versions = kept
    head = newest
  }

  /** Runs `change`, which answers the versions that are then kept, as one transaction. */
  function transact(change: (revision: number) => readonly StoredVersion[]): void {
    const next = revision + 1
    const kept = root.transactionSync(() => {
      // What we know of the newest version, and the next free id, hold only as long as nobody else writes.
      if (meta.get('revision') !== revision) throw new StoreConflict()
      meta.putSync('revision', next)
      return change(next)
    })
    revision = next
    adopt(kept)
  }

  function putVersion(version: StoredVersion): void {
    rows.putSync(version.sequence, encodeVersion(version))
  }

  function append(sequence: number, firstNode: number, write: (write: WriteNode) => Outcome): StoredVersion {
    let nextNode = firstNode
    const outcome = write((bytes) => {
      nodes.putSync(nextNode, asBuffer(bytes), { append: true })
      nextNode += 1
      return nextNode - 1
    })
    const version = { ...outcome, sequence, firstNode, nextNode }
    putVersion(version)
    return version
  }

  function forgetOldest(kept: readonly StoredVersion[], keep: number): readonly StoredVersion[] {
    const cut = Math.max(0, kept.length - keep)
    for (const { sequence } of kept.slice(0, cut)) rows.removeSync(sequence)
    // What a version superseded was used by those before it only.
    for (const { sequence } of kept.slice(1, cut + 1)) {
      for (const id of decodeIds(obsolete.getBinary(sequence))) nodes.removeSync(id)
      obsolete.removeSync(sequence)
    }
    return kept.slice(cut)
  }

  try {
    root.transactionSync(load)
  } catch (error) {
    void root.close()
    throw error
  }

  return {
    get head() {
      return head
    },

    get versions() {
      return versions
    },

    read(id) {
      const bytes = nodes.getBinaryFast(id)
      if (bytes === undefined) throw new StoreCorrupt(`node ${id} is missing`)
      return bytes
    },

    commit(superseded, keep, write) {
      transact((sequence) => {
        const version = append(sequence, head.nextNode, write)
        obsolete.putSync(sequence, encodeIds(superseded))
        return forgetOldest([...versions, version], keep)
      })
    },

    replace(write) {
      transact((sequence) => {
        for (const table of [nodes, rows, obsolete]) table.clearSync()
        return [append(sequence, 1, write)]
      })
    },

    undo(sequence) {
      transact(() => {
        for (const undone of versions.filter((version) => version.sequence > sequence)) {
          for (let id = undone.firstNode; id < undone.nextNode; id += 1) nodes.removeSync(id)
          obsolete.removeSync(undone.sequence)
          rows.removeSync(undone.sequence)
        }
        return versions.filter((version) => version.sequence <= sequence)
      })
    },

    prune(keep) {
      transact(() => forgetOldest(versions, keep))
    },

    close: () => root.close(),
  }
}
