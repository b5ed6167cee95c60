import { open } from 'lmdb'
import { StoreConflict, StoreCorrupt } from '../errors.js'
import { NULL_HASH } from '../hash.js'
import { decodeIds, decodeVersion, encodeIds, encodeVersion, type StoredVersion } from './lmdb-rows.js'
import type { Outcome, TrieStore, WriteNode } from './store.js'

export interface LmdbStoreOptions {
  /** A folder for this trie alone; made where it is missing. */
  path: string
}

/** The layout of the rows and of the nodes in them. */
const FORMAT = 1

/**
 * Keeps a trie in an LMDB folder. Each update is one transaction, on disk when the call returns: a process that is
 * killed leaves the trie as it was before an update or after it, never between.
 *
 * Nodes are numbered in the order in which they are written, not kept under their hashes or their places in the trie.
 * So an update goes to the end of the file in one piece, a node never belongs to two histories, and undoing an update
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

  function load(): void {
    const format = meta.get('format')
    if (format === undefined) {
      meta.putSync('format', FORMAT)
      meta.putSync('revision', 0)
      putVersion({ sequence: 0, root: NULL_HASH, node: 0, size: 0, firstNode: 1, nextNode: 1 })
    } else if (format !== FORMAT) {
      throw new StoreCorrupt(`its format is ${format}, not ${FORMAT}`)
    }
    revision = meta.get('revision') ?? 0
    versions = [...rows.getRange()].map(({ key, value }) => decodeVersion(key, value))
    if (versions.length === 0) throw new StoreCorrupt('it has no version')
  }

  function head(): StoredVersion {
    const newest = versions.at(-1)
    if (newest === undefined) throw new StoreCorrupt('it is closed')
    return newest
  }

  /** Runs `change`, which answers the versions that are left, in one transaction. */
  function transact(change: (revision: number) => readonly StoredVersion[]): void {
    const next = revision + 1
    versions = root.transactionSync(() => {
      // Our numbers, and what we believe about the newest version, hold only as long as we are the one who writes.
      if (meta.get('revision') !== revision) throw new StoreConflict()
      meta.putSync('revision', next)
      return change(next)
    })
    revision = next
  }

  function putVersion(version: StoredVersion): void {
    rows.putSync(version.sequence, encodeVersion(version))
  }

  function append(sequence: number, firstNode: number, write: (write: WriteNode) => Outcome): StoredVersion {
    let nextNode = firstNode
    const outcome = write((bytes) => {
      const id = nextNode
      nodes.putSync(id, Buffer.from(bytes), { append: true })
      nextNode += 1
      return id
    })
    const version = { ...outcome, sequence, firstNode, nextNode }
    putVersion(version)
    return version
  }

  function forgetOldest(kept: readonly StoredVersion[], keep: number): readonly StoredVersion[] {
    const cut = Math.max(0, kept.length - keep)
    for (const [index, { sequence }] of kept.slice(0, cut).entries()) {
      const successor = kept[index + 1]?.sequence ?? sequence
      for (const id of decodeIds(obsolete.getBinary(successor))) nodes.removeSync(id)
      obsolete.removeSync(successor)
      rows.removeSync(sequence)
    }
    return kept.slice(cut)
  }

  root.transactionSync(load)

  return {
    get head() {
      return head()
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
        const version = append(sequence, head().nextNode, write)
        obsolete.putSync(sequence, encodeIds(superseded))
        return forgetOldest([...versions, version], keep)
      })
    },

    replace(write) {
      transact((sequence) => {
        for (const database of [nodes, rows, obsolete]) database.clearSync()
        return [append(sequence, 1, write)]
      })
    },

    undo(sequence) {
      transact(() => {
        const undone = versions.filter((version) => version.sequence > sequence)
        for (const version of undone) {
          for (let id = version.firstNode; id < version.nextNode; id += 1) nodes.removeSync(id)
          obsolete.removeSync(version.sequence)
          rows.removeSync(version.sequence)
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
