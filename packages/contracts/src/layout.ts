/*
 * The positions of fields in datums: validators read and codecs write them in this order.
 */

export const ConfirmedState = {
  headerHash: 0,
  prevHeaderHash: 1,
  utxoRoot: 2,
  startTime: 3,
  endTime: 4,
  blockVersion: 5,
  size: 6,
} as const

/** An element of the state queue: a confirmed state (root) or a header (block), and the next block's link. */
export const Element = { content: 0, link: 1 } as const

export const Registry = { operators: 0, queue: 1, running: 2, size: 3 } as const
export const Operator = { vkey: 0, bond: 1, activeFrom: 2, activeUntil: 3 } as const

/** Constructors of the datum of an output at the bridge. */
export const BridgeDatum = { deposit: 0, settlement: 1 } as const
export const Deposit = { id: 0, time: 1, address: 2, datum: 3, outputHash: 4, size: 5 } as const
export const Settlement = { root: 0, time: 1, size: 2 } as const
/** Constructors of the datum of an output: the ledger's `OutputDatum`. */
export const OutputDatum = { none: 0, hash: 1, inline: 2 } as const

/** Constructors of the redeemer for spending from the bridge. */
export const BridgeSpend = { follow: 0, pay: 1, tidy: 2 } as const
/** The parts of an entry of a settlement that `pay` pays. */
export const OwedEntry = { key: 0, output: 1, proof: 2 } as const

/** The most policies and assets together in a deposit, and the most bytes of its inline datum. */
export const depositLimits = { assets: 100, datumBytes: 2_000 } as const

/** The fewest outputs of the treasury that a transaction merges if it takes reserves and pays nothing. */
export const leastMerged = 10

/** Lovelace that the settlement of a block may take of the block's. */
export const settlementAda = 1_500_000

export const QueueAction = { init: 0, deinit: 1, commit: 2, merge: 3, remove: 4, prune: 5 } as const
/** Constructors of the `approach` of `remove` and `slash`: who decides, and the operator's registry state. */
export const Approach = { active: 0, retired: 1, 'already-slashed': 2, 'by-administrator': 3 } as const
/** Constructors of the registry's redeemer, for minting and spending. */
export const RegistryAction = {
  init: 0,
  deinit: 1,
  register: 2,
  retire: 3,
  release: 4,
  slash: 5,
  'set-queue': 6,
} as const

/** The first bytes of the name of a block's token; the header hash follows. */
export const blockPrefix = new TextEncoder().encode('MBLC')

/*
 * The constructors of fraud proofs: validators read and codecs write them.
 */

/** Constructors of the redeemer of the ledger policy: what is wrong with the outputs of a block. */
export const LedgerFraud = {
  inputSpentElsewhere: 0,
  spentWithoutInput: 1,
  outputNotNoted: 2,
  inventedOutput: 3,
  strayFromBefore: 4,
  spentBeforeMade: 5,
  wrongOutputsAfter: 6,
  wrongResolved: 7,
  referenceInputMissing: 8,
  gapInTransactions: 9,
  strangeEntry: 10,
  wrongFees: 11,
  wrongResolvedHash: 12,
  wrongLength: 13,
  tooLong: 14,
  wrongChunk: 15,
} as const

/**
 * The constructor of the redeemer of the ledger policy that shows a part of a proof: what some references of
 * a transaction stand for.
 */
export const LedgerPart = { resolution: 16 } as const

/** Constructors of what is wrong with the chunks of a block. */
export const ChunkFlaw = {
  countsDiffer: 0,
  misplaced: 1,
  missing: 2,
  nextElsewhere: 3,
  transactionsLeft: 4,
  inventedTransaction: 5,
  otherTransaction: 6,
  strangeRest: 7,
  malformed: 8,
  tooShort: 9,
} as const

/** Constructors of the redeemer of the transaction policy: which rule a transaction of a block breaks. */
export const TransactionFraud = {
  valueNotPreserved: 0,
  feeTooSmall: 1,
  outputTooSmall: 2,
  outputOnOtherNetwork: 3,
  outsideInterval: 4,
  forbiddenField: 5,
  wrongNetwork: 6,
  forbiddenWithdrawal: 7,
  noInputs: 8,
  inputIsReferenceInput: 9,
  unreadablePart: 10,
  unreadableReference: 11,
  malformedPart: 12,
  strangeField: 13,
  strangeOutput: 14,
  strangeWitness: 15,
  repeatedReference: 16,
  tooMany: 17,
  strangeItem: 18,
} as const

/**
 * The fields of a transaction body that layer 2 allows, by their key in the CDDL: 1 for allowed. The others
 * do not exist, or need stake or governance state.
 */
export const allowedFields: Uint8Array = Uint8Array.from({ length: 24 }, (_, key) =>
  Number([0, 1, 2, 3, 5, 7, 8, 9, 11, 13, 14, 15, 16, 17, 18].includes(key)),
)

/** Constructors of the redeemer of the witness policy: what is wrong with the witnesses of a transaction. */
export const WitnessFraud = {
  invalidSignature: 0,
  missingSignature: 1,
  nativeScriptFails: 2,
  scriptMissing: 3,
  redeemerMissing: 4,
  datumMissing: 5,
  wrongScriptDataHash: 6,
  unreadableScript: 7,
} as const

/** Constructors of what a transaction needs a signature or a script for. */
export const WitnessNeed = { spent: 0, minted: 1, withdrawn: 2, required: 3 } as const

/**
 * The block version of the blocks that fraud proofs speak of: their headers commit to the transactions
 * map.
 */
export const provableVersion = 4n

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
