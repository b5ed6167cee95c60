/*
 * Where each field stands in the datums that validators read; the codecs write them in this order.
 */

export const Header = {
  prevUtxosRoot: 0,
  utxosRoot: 1,
  transactionsRoot: 2,
  depositsRoot: 3,
  withdrawalsRoot: 4,
  startTime: 5,
  endTime: 6,
  prevHeaderHash: 7,
  operatorVkey: 8,
  protocolVersion: 9,
  size: 10,
} as const

export const ConfirmedState = {
  headerHash: 0,
  prevHeaderHash: 1,
  utxoRoot: 2,
  startTime: 3,
  endTime: 4,
  protocolVersion: 5,
  size: 6,
} as const

/** An element of the state queue: the root's confirmed state or a block's header, and the next block's header hash. */
export const Element = { content: 0, link: 1 } as const

export const Registry = { active: 0, retired: 1 } as const
export const ActiveOperator = { vkey: 0, bond: 1 } as const
export const RetiredOperator = { vkey: 0, bond: 1, releaseTime: 2 } as const

/** The constructors of the state queue's redeemers for minting. */
export const QueueAction = { init: 0, deinit: 1, commit: 2, merge: 3, remove: 4 } as const
/** The constructors of the registry's redeemers, for minting and spending alike. */
export const RegistryAction = { init: 0, deinit: 1, register: 2, retire: 3, release: 4, slash: 5 } as const

/** How the name of a block's token begins; the header's hash follows. */
export const blockPrefix = new TextEncoder().encode('MBLC')

export const hashLength = 28
export const rootLength = 32
