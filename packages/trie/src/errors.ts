import { toHex } from '@ratatosk/cbor'

/** Why an operation on a trie, a proof or a store failed. */
export type TrieErrorCode =
  /** A key to insert, or one whose absence was to be proved, is in the trie: `key`. */
  | 'TRIE_KEY_EXISTS'
  /** A key to delete, or one whose presence was to be proved, is not in the trie: `key`. */
  | 'TRIE_KEY_MISSING'
  /** Two of the entries to build a trie from have the same key: `entries`. */
  | 'TRIE_KEY_DUPLICATE'
  /** No kept version has this root: it never had one, or the version was undone or pruned: `root`. */
  | 'TRIE_ROOT_UNKNOWN'
  /** No earlier version is kept. */
  | 'TRIE_NOTHING_TO_UNDO'
  /** The map has changed since the draft was begun, or one of its batches has failed. */
  | 'TRIE_DRAFT_OUTDATED'
  /** The bytes or the JSON are not a proof, or no trie can have a node where the proof claims one. */
  | 'TRIE_PROOF_MALFORMED'
  /** Another process has written to the LMDB folder since this one opened it. Open it again. */
  | 'TRIE_STORE_CONFLICT'
  /** The store holds something that this package did not write. Rebuild the trie. */
  | 'TRIE_STORE_CORRUPT'

/** The subject of an error, as its code says. */
export interface TrieErrorDetails {
  readonly key?: Uint8Array
  readonly root?: Uint8Array
  /** Indexes of the two entries. */
  readonly entries?: readonly [number, number]
}

/** Every error of this package, apart from `RangeError` for a wrong option. */
export class TrieError extends Error implements TrieErrorDetails {
  override readonly name = 'TrieError'
  declare readonly key?: Uint8Array
  declare readonly root?: Uint8Array
  declare readonly entries?: readonly [number, number]

  constructor(
    readonly code: TrieErrorCode,
    message: string,
    details: TrieErrorDetails = {},
  ) {
    super(message)
    Object.assign(this, details)
  }
}

/** Whether a caught value is a {@link TrieError}, from any copy of this package. */
export function isTrieError(value: unknown): value is TrieError {
  return value instanceof Error && value.name === 'TrieError'
}

export function keyExists(key: Uint8Array): TrieError {
  return new TrieError('TRIE_KEY_EXISTS', `The key ${toHex(key)} is already in the trie`, { key })
}

export function keyMissing(key: Uint8Array): TrieError {
  return new TrieError('TRIE_KEY_MISSING', `The key ${toHex(key)} is not in the trie`, { key })
}

export function rootUnknown(root: Uint8Array): TrieError {
  return new TrieError('TRIE_ROOT_UNKNOWN', `The trie keeps no version with the root ${toHex(root)}`, {
    root,
  })
}

export function draftOutdated(): TrieError {
  return new TrieError(
    'TRIE_DRAFT_OUTDATED',
    'The draft cannot be used: the trie has changed since it was begun, or a batch has failed',
  )
}

export function proofMalformed(reason: string): TrieError {
  return new TrieError('TRIE_PROOF_MALFORMED', `Malformed proof: ${reason}`)
}

export function storeCorrupt(reason: string): TrieError {
  return new TrieError('TRIE_STORE_CORRUPT', `The trie's store is unreadable: ${reason}`)
}
