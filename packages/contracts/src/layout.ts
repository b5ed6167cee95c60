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
