import type { TrieView } from '@ratatosk/trie'

/** What proofs are taken from: a map, or as much of one as is known. */
export type MapProofs = Pick<TrieView, 'prove' | 'proveAbsence' | 'openPath'>
