import type { BridgedValue, BridgeReading } from '@ratatosk/audit'
import { toHex } from '@ratatosk/cbor'
import type { Layer1 } from '@ratatosk/layer1'
import type { Utxo } from '@ratatosk/ledger'
import { addValue, type Quantities } from '@ratatosk/ledger/builder'
import { type BridgeEvents, type Contracts, openEventSource } from '@ratatosk/protocol'

/** Reads the bridge of contracts that have one; undefined for others. Each request is sent by a read. */
export function openBridgeReader(
  contracts: Contracts,
  layer1: Pick<Layer1, 'utxosAsOf' | 'slots'>,
): ((signal?: AbortSignal) => Promise<BridgeReading>) | undefined {
  const { bridge } = contracts
  if (bridge === undefined) return undefined
  let source: BridgeEvents | undefined
  return async (signal) => {
    source ??= openEventSource(contracts, layer1, await layer1.slots(signal && { signal }))
    const { slot, deposits, reserves, settlements } = await source.state(signal)
    const sum = (utxos: readonly Utxo[]) => bridgedValue(utxos, bridge.events.policy)
    return {
      slot,
      bridged: bridge.terms.bridged.map(toHex),
      reserves: sum(reserves),
      deposits: deposits.map(({ id, utxo, output }) => ({ id, value: sum([utxo]), output })),
      settlements: settlements.map(({ headerHash, root }) => ({ headerHash, root })),
    }
  }
}

/** The value of outputs without the tokens of events. */
function bridgedValue(utxos: readonly Utxo[], events: string): BridgedValue {
  const assets = heldBy(utxos, events)
  const lovelace = assets.get('lovelace') ?? 0n
  assets.delete('lovelace')
  return { lovelace, assets }
}

/** The sum of outputs, by unit, without the tokens of events. */
export function heldBy(utxos: readonly Utxo[], events: string): Quantities {
  const sum: Quantities = new Map()
  for (const { output } of utxos) {
    const assets = new Map(output.value.assets)
    assets.delete(events)
    addValue(sum, { lovelace: output.value.lovelace, assets })
  }
  return sum
}
