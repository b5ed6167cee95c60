import { equalBytes } from '@ratatosk/cbor'
import { blake2b256 } from '#hash'
import { draftOutdated, keyExists, keyMissing, rootUnknown, TrieError } from './errors.js'
import { allocate, hashLength } from './hash/memory.js'
import { hasher } from './node/hasher.js'
import {
  type Branch,
  countKeys,
  createBranch,
  decodeNode,
  encodeBranch,
  encodeLeaf,
  findValueHash,
  radix,
  setChild,
  type TrieNode,
} from './node/node.js'
import { findNode, type MapNode, mapNodeOf } from './proof/map-node.js'
import { type Proof, type Walk, walk } from './proof/proof.js'
import type { NewVersion, TrieStore, Version, WriteNode } from './store/store.js'
import { editTrie, type LoadNode, reduceOperations, type TrieOperation } from './update/edit.js'
import { createRecords, type Records, type TrieEntry } from './update/entries.js'

/** One version of an authenticated map. */
export interface TrieView {
  /** The root hash, 32 bytes; `emptyRoot()` for the empty map. */
  readonly root: Uint8Array
  /** The number of keys. */
  readonly size: number
  /** Whether the map has the key. */
  has(key: Uint8Array): boolean
  /**
   * The Blake2b-256 of the key's value; undefined if the key is absent. The map does not hold the values
   * themselves.
   */
  valueHash(key: Uint8Array): Uint8Array | undefined
  /**
   * Proves that a key is in the map.
   *
   * @throws TrieError `TRIE_KEY_MISSING`
   */
  prove(key: Uint8Array): Proof
  /**
   * Proves that a key is not in the map. The same proof determines the root after its insertion.
   *
   * @throws TrieError `TRIE_KEY_EXISTS`
   */
  proveAbsence(key: Uint8Array): Proof
  /**
   * The hash of the value at a path, the Blake2b-256 of a key, with its proof; or the proof that no key has
   * this path.
   */
  openPath(path: Uint8Array): { readonly hash?: Uint8Array; readonly proof: Proof }
  /**
   * The node that holds all keys whose paths begin with the first `depth` nibbles of `path`; undefined if
   * there are none.
   */
  nodeAt(path: Uint8Array, depth: number): MapNode | undefined
  /** The number of keys whose paths begin with the first `depth` nibbles of `path`; counts up to `most`. */
  sizeAt(path: Uint8Array, depth: number, most: number): number
}

/** An authenticated map that keeps its last versions. Every update creates a version. */
export interface Trie extends TrieView {
  /** @throws TrieError `TRIE_KEY_EXISTS` */
  insert(key: Uint8Array, value: Uint8Array): void
  /** @throws TrieError `TRIE_KEY_MISSING` */
  delete(key: Uint8Array): void
  /**
   * Applies a batch as one update and hashes each node that it touches once. If an operation fails, none is
   * applied. Operations on the same key take effect in their order; the order between keys makes no
   * difference.
   *
   * @param deleted receives, once the batch is applied, each key that the map had before and that an
   *   operation deletes, as it was given, with the Blake2b-256 of the value that it had
   * @returns the new root, 32 bytes
   * @throws TrieError `TRIE_KEY_EXISTS` if a key to insert exists, `TRIE_KEY_MISSING` if a key to delete does
   *   not
   */
  update(
    operations: Iterable<TrieOperation>,
    deleted?: (key: Uint8Array, valueHash: Uint8Array) => void,
  ): Uint8Array
  /** Begins an update whose operations come in several batches. */
  draft(): TrieDraft
  /**
   * Reverts the last update.
   *
   * @returns the root before it, 32 bytes
   * @throws TrieError `TRIE_NOTHING_TO_UNDO` if no earlier version is kept
   */
  undo(): Uint8Array
  /**
   * Reverts every update after the newest version with this root.
   *
   * @throws TrieError `TRIE_ROOT_UNKNOWN` if no kept version has this root
   */
  revert(root: Uint8Array): void
  /**
   * The newest kept version with this root. It can be read until it is undone or pruned; then its methods
   * throw `TRIE_ROOT_UNKNOWN`.
   *
   * @throws TrieError `TRIE_ROOT_UNKNOWN` if no kept version has this root
   */
  at(root: Uint8Array): TrieView
  /** The roots of the kept versions, oldest first; the last is `root`. */
  readonly roots: Uint8Array[]
  /**
   * Forgets the oldest versions and frees the nodes that only they used.
   *
   * @param history number of versions to keep besides the current one
   */
  prune(history: number): void
  /**
   * Frees nodes of forgotten versions, in a store that leaves that to its user, such as one of
   * `openLmdbStore` with `freesLater`.
   *
   * @param limit the number of nodes after which it stops; some 300,000 a second
   * @returns how many are left that are worth it
   */
  free(limit: number): number
  /**
   * Replaces the whole map and its history by these entries, in any order. Much faster than inserting them;
   * uses 64 bytes per entry while it runs. The map is unchanged until the last entry has been read.
   *
   * @param pause awaited at intervals of some 10 ms behind the last entry, in a store that can be replaced in
   *   several turns of the event loop, such as one in memory
   * @returns the new root, 32 bytes
   * @throws TrieError (rejects) `TRIE_KEY_DUPLICATE`
   */
  rebuild(
    entries: Iterable<TrieEntry> | AsyncIterable<TrieEntry>,
    pause?: () => Promise<void>,
  ): Promise<Uint8Array>
  /** Closes the store. The trie must not be used afterwards. */
  close(): Promise<void>
}

/**
 * An update that collects its operations, in memory only: the map is unchanged until it is committed. Most of
 * the work of a large update is done while its operations arrive.
 */
export interface TrieDraft {
  /**
   * Adds a batch; see {@link Trie.update}. After an error the draft is of no use.
   *
   * @throws TrieError `TRIE_KEY_EXISTS`, `TRIE_KEY_MISSING`
   */
  add(operations: Iterable<TrieOperation>, deleted?: (key: Uint8Array, valueHash: Uint8Array) => void): void
  /** Whether it can be committed: no batch has failed, and the map is the one that the draft was begun on. */
  readonly isCurrent: boolean
  /**
   * Applies all batches as one update. May be called once.
   *
   * @returns the new root, 32 bytes
   * @throws TrieError `TRIE_DRAFT_OUTDATED` if the draft is not current
   */
  commit(): Uint8Array
}

/** Options of {@link createTrie}. */
export interface TrieOptions {
  /** Keeps the nodes. The trie owns it and closes it. */
  store: TrieStore
  /** Number of earlier versions to keep, which can be read and reverted to. Default 64. */
  history?: number
}

/**
 * Opens the Merkle Patricia Forestry in a store: an authenticated map with the roots and proofs of Aiken's
 * merkle-patricia-forestry.
 *
 * @throws RangeError if `history` is not a natural number
 *
 * @example
 * const trie = createTrie({ store: createMemoryStore() })
 * trie.update([{ type: 'insert', key, value }])
 * verifyInclusion(trie.root, key, value, trie.prove(key)) // true
 */
export function createTrie({ store, history = 64 }: TrieOptions): Trie {
  checkHistory(history)
  // A store of a user may need its methods bound.
  const read = (id: number): Uint8Array => store.read(id)
  const load = (id: number, path: Uint8Array, depth: number): TrieNode =>
    decodeNode(read(id), id, path, depth)

  function versionAt(root: Uint8Array): Version {
    const version = store.versions.findLast((kept) => equalBytes(kept.root, root))
    if (version === undefined) throw rootUnknown(root)
    return version
  }

  const draft = (): TrieDraft => beginDraft(store, history + 1, load)

  function apply(
    operations: Iterable<TrieOperation>,
    deleted?: (key: Uint8Array, valueHash: Uint8Array) => void,
  ): Uint8Array {
    const update = draft()
    const reported: [Uint8Array, Uint8Array][] = []
    update.add(operations, deleted && ((key, valueHash) => reported.push([key, valueHash])))
    const root = update.commit()
    for (const [key, valueHash] of reported) deleted?.(key, valueHash)
    return root
  }

  const view = (version: () => Version): TrieView => createView(version, read, load)
  const present = view(() => store.head)

  return {
    ...present,

    get root() {
      return present.root
    },

    get size() {
      return present.size
    },

    insert: (key, value) => void apply([{ type: 'insert', key, value }]),
    delete: (key) => void apply([{ type: 'delete', key }]),
    update: apply,
    draft,

    undo() {
      const before = store.versions.at(-2)
      if (before === undefined)
        throw new TrieError('TRIE_NOTHING_TO_UNDO', 'The trie keeps no earlier version')
      store.undo(before.sequence)
      return present.root
    },

    revert(root) {
      store.undo(versionAt(root).sequence)
    },

    at(root) {
      const version = versionAt(root)
      return view(() => {
        if (store.versions.some((kept) => kept.sequence === version.sequence)) return version
        throw rootUnknown(version.root)
      })
    },

    get roots() {
      return store.versions.map((version) => Uint8Array.from(version.root))
    },

    prune(history) {
      checkHistory(history)
      store.prune(history + 1)
    },

    free: (limit) => store.free(limit),

    async rebuild(entries, pause) {
      const records = createRecords()
      for await (const entry of entries) records.add(entry)
      const staged = pause && store.stage?.()
      if (pause === undefined || staged === undefined) {
        store.replace((write) => sealRoot(build(records, records.sorted(), 0, write), records.size, write))
      } else {
        const order = await records.sortedInTurns(pause)
        const root = await buildInTurns(records, order, 0, staged.write, pause)
        staged.finish(sealRoot(root, records.size, staged.write))
      }
      return present.root
    },

    close: () => store.close(),
  }
}

function checkHistory(history: number): void {
  if (!Number.isInteger(history) || history < 0)
    throw new RangeError(`history must be a natural number, not ${history}`)
}

/** @param keep the number of versions that the store keeps behind its commit */
function beginDraft(store: TrieStore, keep: number, load: LoadNode): TrieDraft {
  const { sequence, node, size: before } = store.head
  const edit = editTrie(node, load)
  let size = before
  let isUsable = true
  const isCurrent = (): boolean => isUsable && store.head.sequence === sequence

  /** Until it is set again, the draft is of no use. */
  function use(): void {
    if (!isCurrent()) throw draftOutdated()
    isUsable = false
  }

  return {
    add(operations, deleted) {
      use()
      const changes = reduceOperations(operations)
      edit.change(changes)
      isUsable = true
      for (const { present, valueHash } of changes) size += Number(valueHash !== undefined) - Number(present)
      if (deleted !== undefined) for (const { key, before } of changes) if (before) deleted(key, before)
    },

    get isCurrent() {
      return isCurrent()
    },

    commit() {
      use()
      store.commit(edit.superseded, keep, (write) => sealRoot(edit.root, size, write))
      return Uint8Array.from(store.head.root)
    },
  }
}

/** Entries whose nodes are written in one turn, which takes longer. */
const writtenInTurn = 2048

/** Creates the node above the entries in `order`, which is sorted, and seals its descendants. */
function build(records: Records, order: Uint32Array, depth: number, write: WriteNode): TrieNode | undefined {
  const [first] = order
  if (first === undefined) return undefined
  if (order.length === 1)
    return { kind: 'leaf', id: 0, path: records.half(first, 0), valueHash: records.half(first, 1) }
  const branch = branchOver(records, order, depth)
  for (const [nibble, child] of childrenOf(records, order, branch.fork)) {
    setChild(branch, nibble, build(records, child, branch.fork + 1, write))
    sealChildren(branch, write)
  }
  return branch
}

/** {@link build}, with pauses before the children of the topmost branches. */
async function buildInTurns(
  records: Records,
  order: Uint32Array,
  depth: number,
  write: WriteNode,
  pause: () => Promise<void>,
): Promise<TrieNode | undefined> {
  if (order.length < writtenInTurn) {
    await pause()
    return build(records, order, depth, write)
  }
  const branch = branchOver(records, order, depth)
  for (const [nibble, child] of childrenOf(records, order, branch.fork)) {
    setChild(branch, nibble, await buildInTurns(records, child, branch.fork + 1, write, pause))
    sealChildren(branch, write)
  }
  return branch
}

function branchOver(records: Records, order: Uint32Array, depth: number): Branch {
  const first = order[0] ?? 0
  return createBranch(records.half(first, 0), records.fork(first, order.at(-1) ?? 0, depth))
}

function* childrenOf(
  records: Records,
  order: Uint32Array,
  fork: number,
): Generator<[nibble: number, child: Uint32Array]> {
  const nibbleOf = (index: number): number => records.nibble(order[index] ?? 0, fork)
  for (let start = 0; start < order.length; ) {
    const nibble = nibbleOf(start)
    let end = start + 1
    while (end < order.length && nibbleOf(end) === nibble) end += 1
    yield [nibble, order.subarray(start, end)]
    start = end
  }
}

/** Hashes and writes all that is open, and returns the version of this root. */
function sealRoot(node: TrieNode | undefined, size: number, write: WriteNode): NewVersion {
  const root = allocate(hashLength)
  return { root, node: node === undefined ? 0 : seal(node, 0, root, write), size }
}

/**
 * Hashes and writes a node behind all open ones below it, and returns its id. `depth` is the first nibble of
 * its prefix or remaining path; `hashes` receives its hash (32 bytes) from `at` on, by default 0.
 */
function seal(node: TrieNode, depth: number, hashes: Uint8Array, write: WriteNode, at?: number): number {
  if (node.kind === 'leaf') {
    hasher.leaf(hashes, node.path, depth, node.valueHash, at)
    return node.id === 0 ? write(encodeLeaf(node)) : node.id
  }
  sealChildren(node, write)
  hasher.branchOver(hashes, node.path, depth, node.fork, node.hashes, node.mask, at)
  return write(encodeBranch(node, depth))
}

/** Seals everything that is open below a branch, but not the branch. */
function sealChildren(branch: Branch, write: WriteNode): void {
  for (let nibble = 0; nibble < radix; nibble += 1) {
    const child = branch.changed[nibble]
    if (child === undefined) continue
    branch.ids[nibble] = seal(child, branch.fork + 1, branch.hashes, write, nibble * hashLength)
    branch.changed[nibble] = undefined
  }
}

/** @param version returns the version to read; called by each method */
function createView(version: () => Version, read: TrieStore['read'], load: LoadNode): TrieView {
  const valueHash = (key: Uint8Array) => findValueHash(read, version().node, blake2b256(key))
  const walkTo = (key: Uint8Array): Walk => walk(version().node, blake2b256(key), load)

  return {
    get root() {
      return Uint8Array.from(version().root)
    },

    get size() {
      return version().size
    },

    has: (key) => valueHash(key) !== undefined,
    valueHash,

    prove(key) {
      const { leaf, steps } = walkTo(key)
      if (leaf === undefined) throw keyMissing(key)
      return steps
    },

    proveAbsence(key) {
      const { leaf, steps } = walkTo(key)
      if (leaf !== undefined) throw keyExists(key)
      return steps
    },

    openPath(path) {
      const { leaf, steps } = walk(version().node, path, load)
      return { ...(leaf && { hash: Uint8Array.from(leaf.valueHash) }), proof: steps }
    },

    nodeAt(path, depth) {
      const found = findNode(version().node, path, depth, load)
      return found && mapNodeOf(found.node)
    },

    sizeAt(path, depth, most) {
      const found = findNode(version().node, path, depth, load)
      return found === undefined ? 0 : countKeys(read, found.id, most)
    },
  }
}
