import { testWallets } from '@ratatosk/devnet'
import { isWalletError, keysFromSeedPhrase, type WalletKeys } from '@ratatosk/layer1'
import { decodeBech32Address, fromHex } from '@ratatosk/ledger'
import { SettingsError } from '../errors.js'
import { duties, hasFaucet } from '../roles.js'
import type { Settings } from '../settings/schema.js'
import { layer1NetworkId } from './layer1-network.js'

/** The devnet's accounts that stand in for one's own keys there. */
const devnetAccounts = { ADMIN_SEED_PHRASE: 0, OPERATOR_SEED_PHRASE: 1, FAUCET_SEED_PHRASE: 2 } as const

export type SeedPhraseSetting = keyof typeof devnetAccounts

/**
 * The keys that a role's seed phrase holds; on the devnet those of a test wallet.
 *
 * @throws SettingsError where the words are no phrase
 */
export function keysOf(
  setting: SeedPhraseSetting,
  settings: Settings,
  networkId = layer1NetworkId(settings),
): WalletKeys {
  const phrase = settings[setting]
  try {
    if (phrase !== undefined) return keysFromSeedPhrase(phrase, { networkId })
    return keysFromSeedPhrase(testWallets.mnemonic, { networkId, account: devnetAccounts[setting] })
  } catch (error) {
    if (isWalletError(error)) throw new SettingsError([`${setting}: ${error.message}.`])
    throw error
  }
}

/** The address whose balance is the commitment wallet's. */
export function operatorAddress(settings: Settings): string {
  const { OPERATOR_ADDRESS, OPERATOR_SEED_PHRASE } = settings
  if (OPERATOR_ADDRESS === undefined || OPERATOR_SEED_PHRASE !== undefined) {
    return keysOf('OPERATOR_SEED_PHRASE', settings).addressText
  }
  try {
    const { networkId } = decodeBech32Address(OPERATOR_ADDRESS)
    if (networkId === layer1NetworkId(settings)) return OPERATOR_ADDRESS
  } catch {
    // Said below.
  }
  throw new SettingsError([
    `OPERATOR_ADDRESS is "${OPERATOR_ADDRESS}": it must be a bech32 address of layer 1's network.`,
  ])
}

/** The key that may begin and end state queues. */
export function administratorKeyHash(settings: Settings): Uint8Array {
  const { ADMIN_KEY_HASH, ADMIN_SEED_PHRASE } = settings
  if (ADMIN_KEY_HASH !== undefined && ADMIN_SEED_PHRASE === undefined) return fromHex(ADMIN_KEY_HASH)
  return keysOf('ADMIN_SEED_PHRASE', settings).payment.hash
}

/**
 * Reads every key that the role needs, so that a wrong one stops the start before anything is opened.
 *
 * @throws SettingsError
 */
export function checkKeys(settings: Settings): void {
  const { serves, sequences, reachesLayer1 } = duties[settings.NODE_ROLE]
  if (reachesLayer1) administratorKeyHash(settings)
  if (sequences) {
    keysOf('ADMIN_SEED_PHRASE', settings)
    keysOf('OPERATOR_SEED_PHRASE', settings)
  }
  if (serves !== 'nothing') operatorAddress(settings)
  if (hasFaucet(settings)) keysOf('FAUCET_SEED_PHRASE', settings)
}
