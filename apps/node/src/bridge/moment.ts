import { compareBytes } from '@ratatosk/cbor'
import { shareAnswers } from '@ratatosk/http'
import { slotToTime } from '@ratatosk/ledger'
import { type Bridge, type BridgeState, type Contracts, openEventSource } from '@ratatosk/protocol'
import type { Block, Store } from '@ratatosk/store'
import type { Settlement as Layer1Settlement } from '../layer1/settlement.js'

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
