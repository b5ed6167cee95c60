import { createHmac, pbkdf2Sync } from 'node:crypto'
import { mnemonicToEntropy } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { WalletError } from '../errors.js'
import { publicKeyOfScalar } from './extended-signature.js'
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

/** From this index on, a derivation needs the private key. */
const hardenedOffset = 0x8000_0000

/** A private key of BIP32-Ed25519: scalar and nonce key (little-endian) and chain code, 32 bytes each. */
interface ExtendedPrivateKey {
  readonly scalar: Uint8Array
  readonly nonceKey: Uint8Array
  readonly chainCode: Uint8Array
}

/** The root key of an entropy, by Icarus (CIP-3): PBKDF2-HMAC-SHA512, 4096 rounds, the entropy as salt. */
function icarusRootKey(entropy: Uint8Array): ExtendedPrivateKey {
  const key = pbkdf2Sync(new Uint8Array(0), entropy, 4096, 96, 'sha512')
  key[0] = (key[0] as number) & 0b1111_1000
  key[31] = ((key[31] as number) & 0b0001_1111) | 0b0100_0000
  return split(key)
}

/** A derivation step (BIP32-Ed25519 version 2, as on Cardano); from {@link hardenedOffset} on, hardened. */
function deriveChild(parent: ExtendedPrivateKey, index: number): ExtendedPrivateKey {
  const hardened = index >= hardenedOffset
  const material = hardened ? [parent.scalar, parent.nonceKey] : [publicKeyOfScalar(parent.scalar)]
  const suffix = Buffer.alloc(4)
  suffix.writeUInt32LE(index)
  const hash = (tag: number): Buffer => {
    const mac = createHmac('sha512', parent.chainCode).update(Uint8Array.of(tag))
    for (const part of material) mac.update(part)
    return mac.update(suffix).digest()
  }
  const z = hash(hardened ? 0 : 2)
  const chainCode = hash(hardened ? 1 : 3).subarray(32)
  return {
    scalar: addLittleEndian(parent.scalar, z.subarray(0, 28), 8),
    nonceKey: addLittleEndian(parent.nonceKey, z.subarray(32), 1),
    chainCode: Uint8Array.from(chainCode),
  }
}

/** `a + factor × b` modulo 2^256, little-endian, 32 bytes. */
function addLittleEndian(a: Uint8Array, b: Uint8Array, factor: number): Uint8Array {
  const sum = new Uint8Array(32)
  let carry = 0
  for (let i = 0; i < 32; i++) {
    const total = (a[i] ?? 0) + factor * (b[i] ?? 0) + carry
    sum[i] = total & 0xff
    carry = total >> 8
  }
  return sum
}

function split(key: Uint8Array): ExtendedPrivateKey {
  return {
    scalar: Uint8Array.from(key.subarray(0, 32)),
    nonceKey: Uint8Array.from(key.subarray(32, 64)),
    chainCode: Uint8Array.from(key.subarray(64)),
  }
}
