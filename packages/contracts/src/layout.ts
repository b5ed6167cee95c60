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
