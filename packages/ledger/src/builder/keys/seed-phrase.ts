import { mnemonicToEntropy } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { WalletError } from '../errors.js'
import { deriveChild, type ExtendedPrivateKey, hardenedOffset, icarusRootKey } from './bip32-ed25519.js'
import { keyOfScalar, walletKeys } from './signing-key.js'
import type { SeedPhraseOptions, WalletKeys } from './types.js'

const purpose = 1852
const coinType = 1815
const externalRole = 0
const stakeRole = 2

/**
 * The keys that wallets find under a seed phrase: BIP-39, Icarus root key (CIP-3), path
 * `m/1852'/1815'/account'/0/addressIndex` (CIP-1852), stake key at `…/2/0`.
 *
 * @param phrase 12, 15, 18, 21 or 24 English words, any white space between them
 * @throws {WalletError} `WALLET_INVALID_KEY`; the message never contains a word of the phrase
 * @example
 * const operator = keysFromSeedPhrase(process.env.OPERATOR_SEED_PHRASE, { networkId: 0 })
 * operator.addressText // 'addr_test1q…'
 */
export function keysFromSeedPhrase(phrase: string, options: SeedPhraseOptions): WalletKeys {
  const { networkId, account = 0, addressIndex = 0, stake = true } = options
  assertIndex('account', account)
  assertIndex('addressIndex', addressIndex)
  const root = icarusRootKey(entropyOf(phrase))
  const accountKey = derivePath(root, [
    purpose + hardenedOffset,
    coinType + hardenedOffset,
    account + hardenedOffset,
  ])
  const payment = derivePath(accountKey, [externalRole, addressIndex])
  const paymentKey = keyOfScalar(payment.scalar, payment.nonceKey)
  if (!stake) return walletKeys(paymentKey, networkId)
  const stakeKey = derivePath(accountKey, [stakeRole, 0])
  return walletKeys(paymentKey, networkId, keyOfScalar(stakeKey.scalar, stakeKey.nonceKey).hash)
}

function entropyOf(phrase: string): Uint8Array {
  const words = phrase.trim().toLowerCase().split(/\s+/)
  try {
    return mnemonicToEntropy(words.join(' '), wordlist)
  } catch {
    // The library's reason could quote a word.
    const reason = 'a word is not in the English list, or the checksum is wrong'
    const message = `The seed phrase cannot be read: ${words.length} words are not a BIP-39 phrase: ${reason}`
    throw new WalletError('WALLET_INVALID_KEY', message)
  }
}

function derivePath(key: ExtendedPrivateKey, path: readonly number[]): ExtendedPrivateKey {
  return path.reduce(deriveChild, key)
}

function assertIndex(name: string, value: number): void {
  if (Number.isInteger(value) && value >= 0 && value < hardenedOffset) return
  throw new WalletError('WALLET_INVALID_KEY', `${name} must be a whole number below ${hardenedOffset}`)
}
