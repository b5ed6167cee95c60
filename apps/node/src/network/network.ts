import { parseJson } from '@ratatosk/client/json'
import type { SlotConfig } from '@ratatosk/ledger'
import { SettingsError } from '../errors.js'
import { readRegularFile } from '../settings/regular-file.js'
import type { NetworkName } from '../settings/schema.js'

/** The constants of a network, the same on both layers. */
export interface Network {
  readonly name: NetworkName
  /** Whether layer 1 is a devnet, in this process or behind a provider. */
  readonly isDevnet: boolean
  /** Network id in addresses (CIP-19): 1 on mainnet, 0 on every test network. */
  readonly id: 0 | 1
  readonly kind: 'testnet' | 'mainnet'
  /** Network magic; a provider of layer 1 must report it. */
  readonly magic: number
  readonly slots: SlotConfig
}

/** From the genesis files of the public networks. */
const magics: Readonly<Record<NetworkName, number>> = {
  // `@ratatosk/devnet`.
  devnet: 42,
  preview: 2,
  preprod: 1,
  mainnet: 764_824_073,
}

/**
 * Public networks count from the start of Shelley (`shelley-genesis.json`, `byron-genesis.json`); the devnet
 * counts seconds from 2025, so that validity intervals mean the same after a restart.
 */
const slots: Readonly<Record<NetworkName, SlotConfig>> = {
  devnet: { zeroTime: BigInt(Date.UTC(2025, 0, 1)), zeroSlot: 0n, slotLength: 1000 },
  preview: { zeroTime: BigInt(Date.UTC(2022, 9, 25)), zeroSlot: 0n, slotLength: 1000 },
  preprod: { zeroTime: BigInt(Date.UTC(2022, 5, 21)), zeroSlot: 86_400n, slotLength: 1000 },
  mainnet: { zeroTime: 1_596_059_091_000n, zeroSlot: 4_492_800n, slotLength: 1000 },
}

export function networkOf(name: NetworkName): Network {
  const isMainnet = name === 'mainnet'
  return {
    name,
    isDevnet: name === 'devnet',
    id: isMainnet ? 1 : 0,
    kind: isMainnet ? 'mainnet' : 'testnet',
    magic: magics[name],
    slots: slots[name],
  }
}

/** Reads the JSON file of a setting. @throws SettingsError if unreadable, too large or not JSON */
export async function readJsonFile(setting: string, path: string | URL, maxBytes: number): Promise<unknown> {
  const failed = (reason: string) => new SettingsError([`${setting} is "${path}": ${reason}.`])
  let text: string
  try {
    text = readRegularFile(path, maxBytes)
  } catch (error) {
    throw failed(reasonOf(error))
  }
  try {
    return parseJson(text)
  } catch (error) {
    throw failed(`the file is not JSON (${reasonOf(error)})`)
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
