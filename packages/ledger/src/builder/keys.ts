import { createHash, createHmac, createPrivateKey, createPublicKey, pbkdf2Sync, sign } from 'node:crypto'
import { CborReader, CborWriter, fromHex } from '@ratatosk/cbor'
import { mnemonicToEntropy } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { bech32 } from 'bech32'
import sodium from 'sodium-native'
import {
  blake2b224,
  encodeBech32Address,
  keyAddress,
  type ShelleyAddress,
  type Transaction,
} from '../index.js'
import { encodeTransaction, setTag } from './encode.js'
import { WalletError } from './errors.js'

/** A key that signs transactions. */
export interface SigningKey {
  /** 32 bytes. */
  readonly publicKey: Uint8Array
  /** Blake2b-224 of the public key. */
  readonly hash: Uint8Array
  /**
   * @param message for a transaction its 32-byte id
   * @returns the Ed25519 signature, 64 bytes
   */
  sign(message: Uint8Array): Uint8Array
}

/** A payment key and its address. */
export interface WalletKeys {
  readonly payment: SigningKey
  readonly address: ShelleyAddress
  /** The address in bech32. */
  readonly addressText: string
}

/** 0 is every test network, 1 is mainnet. */
export type NetworkId = 0 | 1

export interface SeedPhraseOptions {
  readonly networkId: NetworkId
  /** CIP-1852 account; default 0. One phrase can hold a wallet for each role. */
  readonly account?: number
  /** Index of the account's external address; default 0. */
  readonly addressIndex?: number
  /** Whether the address contains the account's stake key, as wallets show it (default true). */
  readonly stake?: boolean
}

/** The PKCS #8 prefix of an Ed25519 seed (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * The keys of a wallet with one payment key, at its enterprise address.
 *
 * @param key bech32 `ed25519_sk` (32 bytes) or `ed25519e_sk` (64 bytes, extended), the same in hex, or the
 *   `cborHex` of a
 *   key file of cardano-cli
 * @throws {WalletError} `WALLET_INVALID_KEY`
 * @example const keys = keysFromSigningKey('ed25519_sk1…', { networkId: 0 })
 */
export function keysFromSigningKey(key: string, options: { readonly networkId: NetworkId }): WalletKeys {
  return walletKeys(signingKey(key), options.networkId)
}

/** Builds a wallet's address from a payment key and an optional stake key hash (CIP-19). */
function walletKeys(payment: SigningKey, networkId: NetworkId, stakeHash?: Uint8Array): WalletKeys {
  const stake = stakeHash && ({ kind: 'key', hash: stakeHash } as const)
  const address = keyAddress(payment.hash, networkId, stake)
  return { payment, address, addressText: encodeBech32Address(address) }
}

/**
 * Reads a signing key, as {@link keysFromSigningKey}.
 *
 * @throws {WalletError} `WALLET_INVALID_KEY`
 */
export function signingKey(text: string): SigningKey {
  const bytes = keyBytes(text.trim())
  if (bytes.length === 32) return keyOfSeed(bytes)
  const scalar = bytes.subarray(0, 32)
  // BIP32-Ed25519 keeps these bits through every derivation; other scalars could lie in a small subgroup.
  if (((scalar[0] ?? 0) & 0b111) !== 0 || ((scalar[31] ?? 0) & 0b1100_0000) !== 0b0100_0000) {
    throw invalidKey('it is not an extended Ed25519 key')
  }
  return keyOfScalar(scalar, bytes.subarray(32, 64))
}

/** The signing key of an extended private key's two halves. */
function keyOfScalar(scalar: Uint8Array, nonceKey: Uint8Array): SigningKey {
  const publicKey = publicKeyOfScalar(scalar)
  return {
    publicKey,
    hash: blake2b224(publicKey),
    sign: (message) => signExtended(scalar, nonceKey, publicKey, message),
  }
}

function keyOfSeed(seed: Uint8Array): SigningKey {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  const publicKey = Uint8Array.from(spki.subarray(-32))
  return {
    publicKey,
    hash: blake2b224(publicKey),
    sign: (message) => Uint8Array.from(sign(null, message, key)),
  }
}

function keyBytes(text: string): Uint8Array {
  if (/^ed25519e?_sk1/.test(text)) return keyOfBech32(text)
  // A key file's CBOR: a byte string of 32 bytes, or of 64, 96 or 128 (extended, with chain code, with public
  // key).
  const hex = /^(?:5820|5840)?([0-9a-f]{64}|[0-9a-f]{128})$|^5880([0-9a-f]{128})[0-9a-f]{128}$/i.exec(text)
  const digits = hex?.[1] ?? hex?.[2]
  if (digits === undefined) throw invalidKey('it is neither bech32 nor hex of 32 or 64 bytes')
  return fromHex(digits)
}

function keyOfBech32(text: string): Uint8Array {
  let decoded: { readonly prefix: string; readonly bytes: Uint8Array }
  try {
    const { prefix, words } = bech32.decode(text, 200)
    decoded = { prefix, bytes: Uint8Array.from(bech32.fromWords(words)) }
  } catch {
    // The library's reason quotes the text, so it is not passed on.
    throw invalidKey('its bech32 is damaged')
  }
  const expected = decoded.prefix === 'ed25519_sk' ? 32 : 64
  if (decoded.bytes.length !== expected) {
    throw invalidKey(`${decoded.bytes.length} bytes where its prefix promises ${expected}`)
  }
  return decoded.bytes
}

function invalidKey(reason: string): WalletError {
  return new WalletError('WALLET_INVALID_KEY', `The signing key cannot be read: ${reason}`)
}

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
 * const operator = keysFromSeedPhrase(phrase, { networkId: 0 })
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

/** The order of Ed25519's base point. */
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n

/** The public key of a scalar that is used as it is, without the clamping of a seed's: 32 bytes. */
function publicKeyOfScalar(scalar: Uint8Array): Uint8Array {
  return multiplyBase(scalar)
}

/** An Ed25519 signature (RFC 8032, 64 bytes) by a key with given, not hashed, scalar and nonce key. */
function signExtended(
  scalar: Uint8Array,
  nonceKey: Uint8Array,
  publicKey: Uint8Array,
  message: Uint8Array,
): Uint8Array {
  const nonce = reduce(createHash('sha512').update(nonceKey).update(message).digest())
  const commitment = multiplyBase(nonce)
  const challenge = reduce(createHash('sha512').update(commitment).update(publicKey).update(message).digest())
  // sodium-native lacks libsodium's scalar product. At a few transactions a minute, timing leaks little.
  const response = (toInteger(nonce) + toInteger(challenge) * toInteger(scalar)) % ORDER
  const signature = new Uint8Array(64)
  signature.set(commitment)
  signature.set(fromInteger(response), 32)
  return signature
}

function multiplyBase(scalar: Uint8Array): Uint8Array {
  const point = Buffer.alloc(32)
  sodium.crypto_scalarmult_ed25519_base_noclamp(point, Buffer.from(scalar))
  return Uint8Array.from(point)
}

function reduce(digest: Buffer): Uint8Array {
  const scalar = Buffer.alloc(32)
  sodium.crypto_core_ed25519_scalar_reduce(scalar, digest)
  return Uint8Array.from(scalar)
}

function toInteger(littleEndian: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(littleEndian).reverse().toString('hex')}`)
}

function fromInteger(value: bigint): Uint8Array {
  return Uint8Array.from(Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse())
}

/** The field of a witness set that holds signatures. */
const signatures = 0

/** The CBOR of a transaction without its signatures. Its id stays the same. */
export function unsigned({ body, witnesses }: Pick<Transaction, 'body' | 'witnesses'>): Uint8Array {
  const others = otherFields(witnesses.bytes)
  const writer = new CborWriter(witnesses.bytes.length + 8).map(others.length)
  for (const field of others) writer.raw(field)
  return encodeTransaction(body.bytes, writer.toBytes())
}

/** The CBOR of a transaction with the signatures of these keys, and no others. */
export function signed(
  { id, body, witnesses }: Pick<Transaction, 'id' | 'body' | 'witnesses'>,
  keys: readonly SigningKey[],
): Uint8Array {
  const others = otherFields(witnesses.bytes)
  const writer = new CborWriter(witnesses.bytes.length + 110 * keys.length + 8).map(others.length + 1)
  writer.uint(signatures).tag(setTag).array(keys.length)
  for (const key of keys) writer.array(2).bytes(key.publicKey).bytes(key.sign(id))
  for (const field of others) writer.raw(field)
  return encodeTransaction(body.bytes, writer.toBytes())
}

/** The fields of a witness set but for the signatures, each with its key, as they are. */
function otherFields(witnesses: Uint8Array): readonly Uint8Array[] {
  const reader = new CborReader(witnesses)
  const count = reader.readMap()
  const fields: Uint8Array[] = []
  for (let index = 0; reader.hasNext(count, index); index++) {
    const start = reader.position
    const key = reader.readUint()
    reader.skip()
    if (key !== signatures) fields.push(reader.since(start))
  }
  return fields
}
