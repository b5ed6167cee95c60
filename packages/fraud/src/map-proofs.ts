import type { TrieView } from '@ratatosk/trie'

/** The source of proofs: a map, or its known part. */
export type MapProofs = Pick<TrieView, 'prove' | 'proveAbsence' | 'openPath'>
