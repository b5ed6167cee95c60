/*
 * The constructors and fields of the summons: its script reads and codecs write them.
 */

export const QuestionKind = { chunk: 0, subtree: 1, leaf: 2, entry: 3 } as const

export const Question = { headerHash: 0, root: 1, key: 2, hash: 3, deadline: 4, refund: 5 } as const

/** Constructors of the redeemers: `ask` mints; the others spend the question. */
export const SummonsAction = { ask: 0, answer: 1, expire: 2, reclaim: 3 } as const

/** Constructors of the answer to a question about a chunk. */
export const ChunkOpening = { shown: 0, absent: 1 } as const

/** Constructors of a node of a map. Only a child of a branch, or an entry, can be missing. */
export const NodeOpening = { branch: 0, leaf: 1, none: 2 } as const

/** Length in bytes of the number of a chunk, the key of its entry in the transactions map. */
export const chunkKeyLength = 4

/** Where the hash of a chunk is in its record in the transactions map. */
export const chunkEntry = { hash: 17 } as const
