import type { SlotConfig } from '@ratatosk/ledger'
import type { NetworkName } from '../settings/schema.js'

/** What is fixed about a network, whatever the settings say. */
export interface Network {
  readonly name: NetworkName
  /** In addresses (CIP-19): 0 is every test network, 1 is mainnet. */
  readonly id: 0 | 1
  readonly kind: 'testnet' | 'mainnet'
  readonly slots: SlotConfig
}

/**
 * The public networks count from the beginning of their Shelley era (their `shelley-genesis.json` and
 * `byron-genesis.json`). The devnet counts seconds from 2025 on: a constant, so that a validity interval means the
 * same after every restart.
 */
const slots: Readonly<Record<NetworkName, SlotConfig>> = {
  devnet: { zeroTime: BigInt(Date.UTC(2025, 0, 1)), zeroSlot: 0n, slotLength: 1000 },
  preview: { zeroTime: BigInt(Date.UTC(2022, 9, 25)), zeroSlot: 0n, slotLength: 1000 },
  preprod: { zeroTime: BigInt(Date.UTC(2022, 5, 21)), zeroSlot: 86_400n, slotLength: 1000 },
  mainnet: { zeroTime: 1_596_059_091_000n, zeroSlot: 4_492_800n, slotLength: 1000 },
}

export function networkOf(name: NetworkName): Network {
  return name === 'mainnet'
    ? { name, id: 1, kind: 'mainnet', slots: slots[name] }
    : { name, id: 0, kind: 'testnet', slots: slots[name] }
}
