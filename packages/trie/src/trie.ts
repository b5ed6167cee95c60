import { NothingToUndo, RootUnknown } from './errors.js'
import { asBuffer, NULL_HASH } from './hash.js'
import { decodeNode } from './node/codec.js'
import { createNodeHasher } from './node/hasher.js'
import type { Node } from './node/node.js'
import type { Outcome, TrieStore, Version, WriteNode } from './store/store.js'
import { createTrieBuilder, type Entry } from './update/build.js'
import { editTrie } from './update/edit.js'
import { type Operation, reduceOperations } from './update/operations.js'
import { createNodeSealer } from './update/seal.js'
import { createView, type TrieView } from './view.js'

/** An authenticated map that keeps its last states. Each state but the first is the work of one update. */
export interface Trie extends TrieView {
  /** @throws {KeyExists} */
  insert(key: Uint8Array, value: Uint8Array): void
  /** @throws {KeyMissing} */
  delete(key: Uint8Array): void
  /**
   * Applies a batch as one update, hashing each node that it touches once. Where an operation fails, none is applied.
   * The operations on one key take effect in their order; between keys the order makes no difference.
   *
   * @returns the new root
   * @throws {KeyExists} when a key to insert is there
   * @throws {KeyMissing} when a key to delete is not there
   */
  update(operations: Iterable<Operation>): Uint8Array
  /**
   * Takes the last update back.
   *
   * @returns the root before it
   * @throws {NothingToUndo} when no earlier state is kept
   */
  undo(): Uint8Array
  /**
   * Takes back every update after the newest state with this root.
   *
   * @throws {RootUnknown} when no such state is kept
   */
  revert(root: Uint8Array): void
  /**
   * The newest kept state with this root. It can be read until it is undone or pruned; from then on its methods
   * throw `RootUnknown`.
   *
   * @throws {RootUnknown} when no such state is kept
   */
  at(root: Uint8Array): TrieView
  /** The roots of the states that are kept, oldest first; the last is `root`. */
  readonly roots: Uint8Array[]
  /**
   * Forgets the oldest states and frees what only they used.
   *
   * @param history how many states before the present one to keep
   */
  prune(history: number): void
  /**
   * Replaces the whole map, its history included, by these entries, in any order. Much faster than inserting them;
   * takes 64 bytes an entry while it runs. Until the last entry has come the map is as before.
   *
   * @returns the new root
   * @throws {DuplicateKey}
   */
  rebuild(entries: Iterable<Entry> | AsyncIterable<Entry>): Promise<Uint8Array>
  /** Closes the store. Nothing may be called afterwards. */
  close(): Promise<void>
}

export interface TrieOptions {
  /** Keeps the nodes. The trie owns it from now on. */
  store: TrieStore
  /** How many states before the present one are kept, to be read and gone back to. 64 by default. */
  history?: number
}

/**
 * Makes a Merkle Patricia Forestry, the authenticated map that Aiken's validators check, in the state that the store
 * holds.
 *
 * @example
 * const trie = createTrie({ store: createMemoryStore() })
 * trie.update([{ type: 'insert', key, value }])
 * verifyInclusion(trie.root, key, value, trie.prove(key)) // true
 */
export function createTrie({ store, history = 64 }: TrieOptions): Trie {
  checkHistory(history)
  const hasher = createNodeHasher()
  const sealer = createNodeSealer(hasher)

  const load = (id: number, path: Uint8Array, depth: number): Node =>
    decodeNode(store.read(id), id, path, depth)

  function sealRoot(node: Node | undefined, size: number, write: WriteNode): Outcome {
    const root = Buffer.from(NULL_HASH)
    const id = node === undefined ? 0 : sealer.seal(node, 0, root, write)
    return { root, node: id, size }
  }

  function versionAt(root: Uint8Array): Version {
    const version = store.versions.findLast((kept) => asBuffer(kept.root).equals(root))
    if (version === undefined) throw new RootUnknown(root)
    return version
  }

  function apply(operations: Iterable<Operation>): Uint8Array {
    const changes = reduceOperations(operations)
    const { root, superseded } = editTrie(store.head.node, changes, load)
    const size = changes.reduce(
      (sum, { present, valueHash }) => sum + Number(valueHash !== undefined) - Number(present),
      store.head.size,
    )
    store.commit(superseded, history + 1, (write) => sealRoot(root, size, write))
    return present.root
  }

  const present = createView(() => store.head, load, hasher)

  return {
    get root() {
      return present.root
    },

    get size() {
      return present.size
    },

    has: present.has,
    valueHash: present.valueHash,
    prove: present.prove,
    proveAbsence: present.proveAbsence,

    insert(key, value) {
      apply([{ type: 'insert', key, value }])
    },

    delete(key) {
      apply([{ type: 'delete', key }])
    },

    update: apply,

    undo() {
      const before = store.versions.at(-2)
      if (before === undefined) throw new NothingToUndo()
      store.undo(before.sequence)
      return present.root
    },

    revert(root) {
      store.undo(versionAt(root).sequence)
    },

    at(root) {
      const version = versionAt(root)
      return createView(
        () => {
          if (store.versions.some((kept) => kept.sequence === version.sequence)) return version
          throw new RootUnknown(version.root)
        },
        load,
        hasher,
      )
    },

    get roots() {
      return store.versions.map((version) => Uint8Array.from(version.root))
    },

    prune(history) {
      checkHistory(history)
      store.prune(history + 1)
    },

    async rebuild(entries) {
      const builder = createTrieBuilder(sealer)
      for await (const entry of entries) builder.add(entry)
      store.replace((write) => sealRoot(builder.build(write), builder.size, write))
      return present.root
    },

    close: () => store.close(),
  }
}

function checkHistory(history: number): void {
  if (!Number.isInteger(history) || history < 0)
    throw new RangeError('history is a number of states, 0 or more')
}
