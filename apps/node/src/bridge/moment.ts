import { type BytesMap, compareBytes, isDecodeError, toHex } from '@ratatosk/cbor'
import { shareAnswers } from '@ratatosk/http'
import {
  type Address,
  decodeAddress,
  decodeBech32Address,
  isAddressError,
  slotToTime,
} from '@ratatosk/ledger'
import { type Bridge, type BridgeState, type Contracts, openEventSource } from '@ratatosk/protocol'
import type { OwedReader } from '@ratatosk/sequencer/settler'
import type { Block, Store } from '@ratatosk/store'
import type { Settlement as Layer1Settlement } from '../layer1/settlement.js'

/** Reads which withdrawals of a merged block layer 1 has not paid, and what has paid the others. */
export type Remaining = Pick<OwedReader, 'remaining' | 'payouts'>

/** Shares answers among all clients, so that none can end the read of another. */
export function shareOwed(owed: Remaining): Remaining {
  const share = shareAnswers<ReadonlySet<string> | undefined>(freshMs)
  const sharePayouts = shareAnswers<Pick<BytesMap<Uint8Array>, 'get'>>(freshMs)
  return {
    remaining: (headerHash) => share(toHex(headerHash), () => owed.remaining(headerHash)),
    payouts: (headerHash) => sharePayouts(toHex(headerHash), () => owed.payouts(headerHash)),
  }
}

/** Contracts with a bridge. */
export type BridgeContracts = Contracts & { readonly bridge: Bridge }

/** The contracts, if they have a bridge. */
export function withBridge(contracts: Contracts): BridgeContracts | undefined {
  const { bridge } = contracts
  return bridge && { ...contracts, bridge }
}

/** The outputs at the bridge on layer 1, and the blocks of this node, at about the same time. */
export interface BridgeMoment extends BridgeState {
  /** Everything that layer 1 had at this time, POSIX milliseconds, is in it. */
  readonly readUntil: bigint
  /** Oldest first. */
  readonly unmerged: readonly Block[]
  /** The newest merged block. */
  readonly confirmed: Block | undefined
}

/** Milliseconds for which readers share a moment. */
const freshMs = 500

/** The sources of a moment. */
export type MomentSource = Pick<Layer1Settlement, 'reads' | 'layer1'> & {
  readonly contracts: BridgeContracts
  readonly blocks: Pick<Store['blocks'], 'unmerged' | 'confirmed'>
}

/** Reads the bridge for all clients together: however many ask, layer 1 is read once at a time. */
export function openMoments({ reads, layer1, contracts, blocks }: MomentSource): () => Promise<BridgeMoment> {
  const share = shareAnswers<BridgeMoment>(freshMs)

  async function read(): Promise<BridgeMoment> {
    // Before layer 1: what a block of these has made there is in the moment, then.
    const [unmerged, confirmed, slots] = await Promise.all([
      blocks.unmerged(),
      blocks.confirmed(),
      layer1.slots(),
    ])
    const source = openEventSource(contracts, reads, slots)
    const { slot, deposits, ...state } = await source.state()
    const sorted = [...deposits].sort((a, b) => byNumber(a.time, b.time) || compareBytes(a.id, b.id))
    return { ...state, deposits: sorted, readUntil: slotToTime(slots, slot), unmerged, confirmed }
  }

  return () => share('', read)
}

export const byNumber = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

/** An address of one network; undefined if a text is not one. */
export function addressOn(networkId: 0 | 1, text: string): Address | undefined {
  const address = readAddress(text)
  return address?.networkId === networkId ? address : undefined
}

/** An address in bech32, or as the bytes of CIP-19 in hex; undefined if a text is neither. */
export function readAddress(text: string): Address | undefined {
  try {
    const isHex = /^([0-9a-f]{2})+$/i.test(text)
    return isHex ? decodeAddress(Uint8Array.from(Buffer.from(text, 'hex'))) : decodeBech32Address(text)
  } catch (error) {
    if (isAddressError(error) || isDecodeError(error)) return undefined
    throw error
  }
}
