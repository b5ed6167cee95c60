import { fromHex, toHex } from '@ratatosk/cbor'
import type { ChainTip } from '@ratatosk/chain-apis'
import { blake2b224, type SlotConfig, timeToSlot } from '@ratatosk/ledger'
import type { Block, BlockPosition, DepositsBeside, Store } from '@ratatosk/store'

/**
 * The part of the ledger that a view shows.
 *
 * - `accepted`: everything that validation has accepted.
 * - `committed`: the blocks in the state queue on layer 1. A roll-back of layer 1 can take a block back.
 * - `merged`: the blocks in the confirmed state.
 */
export type Finality = 'accepted' | 'committed' | 'merged'

/** Every {@link Finality}. */
export const finalities = ['accepted', 'committed', 'merged'] as const satisfies readonly Finality[]

const states = {
  accepted: undefined,
  committed: ['committed', 'mature', 'merged'],
  merged: ['merged'],
} as const

export interface Head {
  /** Genesis if there is no block. */
  readonly tip: ChainTip
  /** Accept sequence of its last transaction; 0 for genesis. */
  readonly lastSequence: bigint
  /** The deposits that the view has although they are later, or lacks although they are earlier. */
  readonly deposits: DepositsBeside
  /** The block; undefined for genesis. */
  readonly block: Block | undefined
}

/** Stands for the block before the first one, as in its header. */
export const genesisHash = blockHash(new Uint8Array(28))
export const genesisTip: ChainTip = { height: 0, slot: 0n, hash: genesisHash }

const none: DepositsBeside = { credited: [], waiting: [] }

export async function readHead(
  blocks: Pick<Store['blocks'], 'newest'>,
  chain: Pick<Store['chain'], 'depositsBeside'>,
  finality: Finality,
  slots: SlotConfig,
): Promise<Head> {
  const block = await blocks.newest(states[finality])
  if (block === undefined) return { tip: genesisTip, lastSequence: 0n, deposits: none, block }
  const deposits = finality === 'accepted' ? none : await chain.depositsBeside(block)
  return { tip: tipOf(block, slots), lastSequence: block.lastSequence, deposits, block }
}

/** The slot of a block is the slot in which it ends. */
export function tipOf({ height, headerHash, endTime }: BlockPosition, slots: SlotConfig): ChainTip {
  return { height: Number(height), slot: timeToSlot(slots, endTime), hash: blockHash(headerHash) }
}

/** A block's hash in Cardano's 32 bytes: the header hash and four zero bytes. */
export function blockHash(headerHash: Uint8Array): string {
  return `${toHex(headerHash)}00000000`
}

/** The header hash in a block hash; undefined if the text is not a block hash. */
export function readBlockHash(hash: string): Uint8Array | undefined {
  return /^[0-9a-f]{56}0{8}$/.test(hash) ? fromHex(hash.slice(0, 56)) : undefined
}

/** Names the open block that follows a block. @param previous hash of that block */
export function openHash(previous: string): string {
  return blockHash(blake2b224(Buffer.from(`ratatosk open block ${previous}`)))
}
