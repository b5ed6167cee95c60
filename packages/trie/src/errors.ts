import { toHex } from './hex.js'

/** The codes that {@link TrieError} carries; stable, so that callers may branch on them. */
export type TrieErrorCode =
  | 'TRIE_KEY_EXISTS'
  | 'TRIE_KEY_MISSING'
  | 'TRIE_KEY_DUPLICATE'
  | 'TRIE_ROOT_UNKNOWN'
  | 'TRIE_NOTHING_TO_UNDO'
  | 'TRIE_PROOF_MALFORMED'
  | 'TRIE_STORE_CONFLICT'
  | 'TRIE_STORE_CORRUPT'

/** What every error of this package extends. Tell them apart by `code`, not by class. */
export class TrieError extends Error {
  readonly code: TrieErrorCode

  constructor(code: TrieErrorCode, message: string) {
    super(message)
    this.name = new.target.name
    this.code = code
  }
}

/** An insertion met a key that is already in the map, or a proof of absence was asked for one. */
export class KeyExists extends TrieError {
  readonly key: Uint8Array

  constructor(key: Uint8Array) {
    super('TRIE_KEY_EXISTS', `The key ${toHex(key)} is in the trie`)
    this.key = key
  }
}

/** A deletion met a key that is not in the map, or a proof of membership was asked for one. */
export class KeyMissing extends TrieError {
  readonly key: Uint8Array

  constructor(key: Uint8Array) {
    super('TRIE_KEY_MISSING', `The key ${toHex(key)} is not in the trie`)
    this.key = key
  }
}

/** Two of the entries to build a trie from have the same key. */
export class DuplicateKey extends TrieError {
  /** The places of the two, counted from 0. */
  readonly entries: readonly [number, number]

  constructor(first: number, second: number) {
    super('TRIE_KEY_DUPLICATE', `Entries ${first} and ${second} have the same key`)
    this.entries = [first, second]
  }
}

/** The history holds no such root: never reached, undone, or pruned. */
export class RootUnknown extends TrieError {
  readonly root: Uint8Array

  constructor(root: Uint8Array) {
    super('TRIE_ROOT_UNKNOWN', `The trie keeps no version with the root ${toHex(root)}`)
    this.root = root
  }
}

/** `undo` found no earlier version: nothing was updated yet, or what came before is pruned. */
export class NothingToUndo extends TrieError {
  constructor() {
    super('TRIE_NOTHING_TO_UNDO', 'The trie keeps no earlier version')
  }
}

/** These bytes, or this JSON, are no proof; or no trie can have a node where the proof claims one. */
export class ProofMalformed extends TrieError {
  constructor(reason: string) {
    super('TRIE_PROOF_MALFORMED', `Malformed proof: ${reason}`)
  }
}

/** Another process has written to the LMDB folder since this one opened it. Open it again. */
export class StoreConflict extends TrieError {
  constructor() {
    super('TRIE_STORE_CONFLICT', 'Another writer has changed the trie since it was opened')
  }
}

/** The store holds something that this package did not write. Rebuild the trie. */
export class StoreCorrupt extends TrieError {
  constructor(reason: string) {
    super('TRIE_STORE_CORRUPT', `The store of the trie is unreadable: ${reason}`)
  }
}
