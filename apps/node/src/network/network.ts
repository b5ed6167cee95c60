import type { SlotConfig } from '@ratatosk/ledger'
import type { NetworkName, Settings } from '../settings/schema.js'

/** The constants of a network, on both layers. */
export interface Network {
  readonly name: NetworkName
  /** Network id in layer-2 addresses (CIP-19): 1 on mainnet, 0 on every test network. */
  readonly id: 0 | 1
  readonly kind: 'testnet' | 'mainnet'
  /** Network magic of layer 2. */
  readonly magic: number
  /** Slots of layer 2. */
  readonly slots: SlotConfig
  readonly layer1: Layer1Network
}

/** The layer 1 that blocks are committed to. */
export interface Layer1Network {
  /** Whether it is a devnet, in this process or behind a provider. */
  readonly isDevnet: boolean
  /** Network id in layer-1 addresses. */
  readonly id: 0 | 1
  /** Network magic that a provider must report. */
  readonly magic: number
}

/** Network magic of `@ratatosk/devnet`. */
const devnetMagic = 42

/** From the genesis files of the public networks. */
const magics: Readonly<Record<NetworkName, number>> = {
  devnet: devnetMagic,
  preview: 2,
  preprod: 1,
  mainnet: 764_824_073,
}

/**
 * The public networks count from the start of their Shelley era (`shelley-genesis.json`,
 * `byron-genesis.json`). The devnet counts seconds from 2025: a constant, so that a validity interval means
 * the same after every restart.
 */
const slots: Readonly<Record<NetworkName, SlotConfig>> = {
  devnet: { zeroTime: BigInt(Date.UTC(2025, 0, 1)), zeroSlot: 0n, slotLength: 1000 },
  preview: { zeroTime: BigInt(Date.UTC(2022, 9, 25)), zeroSlot: 0n, slotLength: 1000 },
  preprod: { zeroTime: BigInt(Date.UTC(2022, 5, 21)), zeroSlot: 86_400n, slotLength: 1000 },
  mainnet: { zeroTime: 1_596_059_091_000n, zeroSlot: 4_492_800n, slotLength: 1000 },
}

/** The network that the settings name. A ledger may use mainnet addresses and still settle on a devnet. */
export function networkOf({
  NETWORK,
  LAYER1_PROVIDER,
}: Pick<Settings, 'NETWORK' | 'LAYER1_PROVIDER'>): Network {
  const isMainnet = NETWORK === 'mainnet'
  const embedsDevnet = LAYER1_PROVIDER === 'devnet'
  return {
    name: NETWORK,
    id: isMainnet ? 1 : 0,
    kind: isMainnet ? 'mainnet' : 'testnet',
    magic: magics[NETWORK],
    slots: slots[NETWORK],
    layer1: {
      isDevnet: embedsDevnet || NETWORK === 'devnet',
      id: isMainnet && !embedsDevnet ? 1 : 0,
      magic: embedsDevnet ? devnetMagic : magics[NETWORK],
    },
  }
}
