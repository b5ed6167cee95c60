import type { Deposit, EventSource } from '@ratatosk/block'
import { compareBytes } from '@ratatosk/cbor'
import { type SlotConfig, slotToTime, type Utxo } from '@ratatosk/ledger'
import { type BridgeState, readBridge } from './bridge.js'
import type { Contracts } from './contracts.js'

/** The read of layer 1 that events come from: `Layer1` of `@ratatosk/layer1` has it. */
export interface EventReads {
  utxosAsOf(
    address: string,
    options?: { readonly policy?: string; readonly signal?: AbortSignal },
  ): Promise<{ readonly utxos: readonly Utxo[]; readonly slot: bigint }>
}

/** The outputs at the bridge, and a slot up to which none is missing. */
export interface BridgeReading extends BridgeState {
  readonly slot: bigint
}

/** The deposits of layer 1. */
export interface BridgeEvents extends EventSource {
  /** All outputs at the bridge. */
  state(signal?: AbortSignal): Promise<BridgeReading>
  /** Those with a token of an event: deposits and what reads wrong, however many others are there. */
  events(signal?: AbortSignal): Promise<BridgeReading>
}

/** Milliseconds that are left out at the end of what was read. */
const margin = 2000n
/** Milliseconds for which a read is used again. */
const freshForMs = 250

/**
 * Reads the deposits of a deployment from layer 1. Without a bridge, there are none, and nothing is read.
 *
 * @example
 * const events = openEventSource(contracts, layer1, await layer1.slots())
 * await verifyDeposits(deposits, header, events)
 */
export function openEventSource(contracts: Contracts, layer1: EventReads, slots: SlotConfig): BridgeEvents {
  const { bridge } = contracts
  const empty: BridgeReading = { deposits: [], reserves: [], settlements: [], strays: [], slot: 0n }

  function reader(policy?: string): (signal?: AbortSignal) => Promise<BridgeReading> {
    let last: { readonly at: number; readonly reading: BridgeReading } | undefined
    return async (signal) => {
      if (bridge === undefined) return empty
      const at = performance.now()
      if (last && at - last.at < freshForMs) return last.reading
      const { utxos, slot } = await layer1.utxosAsOf(bridge.place.addressText, {
        ...(policy !== undefined && { policy }),
        ...(signal && { signal }),
      })
      const reading = { ...readBridge(contracts, utxos), slot }
      last = { at, reading }
      return reading
    }
  }

  const state = reader()
  const events = reader(bridge?.events.policy)
  return {
    state,
    events,
    async between(start, end, signal) {
      if (bridge === undefined) return []
      const { deposits, slot } = await events(signal)
      if (end > slotToTime(slots, slot) + bridge.terms.eventWait - margin) return 'not read yet'
      return deposits
        .filter(({ time }) => start <= time && time < end)
        .map(({ id, output }): Deposit => ({ id, output }))
        .sort((a, b) => compareBytes(a.id, b.id))
    },
  }
}
