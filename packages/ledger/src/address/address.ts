import { CborReader, CborWriter, concatBytes, isDecodeError, plainBytes } from '@ratatosk/cbor'
import { bech32 } from 'bech32'
import { blake2b224, sha3_256 } from '#crypto'
import { AddressError } from '../errors.js'
import type {
  Address,
  ByronAddress,
  Credential,
  RewardAddress,
  ShelleyAddress,
  StakePointer,
} from './types.js'

const hashSize = 28
/** The first byte of every Byron address: a CBOR array of two items. */
const byronType = 0x82

/**
 * Decodes the bytes of an address (CIP-19) of any kind, as the Conway ledger does: unused header bits must be
 * clear and no bytes may follow the address.
 *
 * @param bytes the address without CBOR wrapping; the result keeps views of them
 * @throws AddressError `ADDRESS_WRONG_LENGTH`, `ADDRESS_UNKNOWN_TYPE`, `ADDRESS_WRONG_NETWORK` (network id
 *   neither 0 nor 1), or `ADDRESS_MALFORMED` (Byron addresses and stake pointers)
 */
export function decodeAddress(bytes: Uint8Array): Address {
  return readAddress(plainBytes(bytes), 0)
}

/** Like {@link decodeAddress}; errors have the offset `base`, where the item with the address begins. */
export function readAddress(bytes: Uint8Array, base: number): Address {
  if (bytes.length === 0) throw new AddressError('ADDRESS_WRONG_LENGTH', base, 'an empty address')
  const header = bytes[0] as number
  if (header === byronType) return decodeByronAddress(bytes, base)
  const type = header >> 4
  if (type > 7 && type < 14)
    throw new AddressError('ADDRESS_UNKNOWN_TYPE', base, `an address of type ${type}`)
  const networkId = header & 0x0f
  if (networkId > 1)
    throw new AddressError('ADDRESS_WRONG_NETWORK', base, `an address of network ${networkId}`)

  const expected = type < 4 ? 1 + 2 * hashSize : 1 + hashSize
  const isPointer = type === 4 || type === 5
  if (isPointer ? bytes.length <= expected : bytes.length !== expected) {
    throw new AddressError(
      'ADDRESS_WRONG_LENGTH',
      base,
      `${bytes.length} bytes of an address of type ${type}`,
    )
  }
  const first = credential(header & 0x10, bytes, 1)
  if (type > 13) return { kind: 'reward', bytes, networkId, stake: first }
  if (type > 5) return { kind: 'enterprise', bytes, networkId, payment: first }
  if (isPointer) {
    return { kind: 'pointer', bytes, networkId, payment: first, pointer: readPointer(bytes, expected, base) }
  }
  return {
    kind: 'base',
    bytes,
    networkId,
    payment: first,
    stake: credential(header & 0x20, bytes, 1 + hashSize),
  }
}

function credential(script: number, bytes: Uint8Array, start: number): Credential {
  return { kind: script === 0 ? 'key' : 'script', hash: bytes.subarray(start, start + hashSize) }
}

/** Decodes slot, transaction index and certificate index, in groups of seven bits, most significant first. */
function readPointer(bytes: Uint8Array, start: number, base: number): StakePointer {
  let position = start
  const read = (maximum: number, groups: number): number => {
    let value = 0
    for (let group = 0; group < groups; group++) {
      if (position >= bytes.length)
        throw new AddressError('ADDRESS_WRONG_LENGTH', base, 'a truncated pointer')
      const byte = bytes[position++] as number
      value = value * 128 + (byte & 0x7f)
      if (value > maximum)
        throw new AddressError('ADDRESS_MALFORMED', base, `a pointer's number over ${maximum}`)
      if (byte < 0x80) return value
    }
    throw new AddressError('ADDRESS_MALFORMED', base, `a pointer's number of more than ${groups} groups`)
  }
  const pointer = {
    slot: read(0xffff_ffff, 5),
    transactionIndex: read(0xffff, 3),
    certificateIndex: read(0xffff, 3),
  }
  if (position < bytes.length) throw new AddressError('ADDRESS_WRONG_LENGTH', base, 'bytes after a pointer')
  return pointer
}

/**
 * Decodes a Byron address: `[24(payload), crc32]` with `payload = [root, attributes, type]`. As in the Byron
 * era, lengths must be definite and the keys of the attributes strictly ascending.
 */
function decodeByronAddress(bytes: Uint8Array, base: number): ByronAddress {
  try {
    return read(bytes)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new AddressError('ADDRESS_MALFORMED', base, `a Byron address: ${error.message}`)
  }
}

function read(bytes: Uint8Array): ByronAddress {
  const outer = new CborReader(bytes)
  if (outer.readArray() !== 2) throw outer.error('CBOR_UNEXPECTED_SIZE', 'not an array of two items', 0)
  if (outer.readTag() !== 24) throw outer.error('CBOR_UNEXPECTED_TAG', 'not tagged as encoded CBOR', 1)
  const payload = outer.readBytes()
  const checksumStart = outer.position
  const checksum = outer.readUint(0xffff_ffff)
  outer.assertEnd()
  if (crc32(payload) !== checksum)
    throw new AddressError('ADDRESS_MALFORMED', checksumStart, 'a wrong checksum')

  const inner = new CborReader(bytes, checksumStart - payload.length, checksumStart)
  if (inner.readArray() !== 3) throw inner.error('CBOR_UNEXPECTED_SIZE', 'not an array of three items')
  const root = inner.readBytesOf(28)
  const attributesStart = inner.position
  const { networkMagic } = readByronAttributes(inner)
  const attributes = inner.since(attributesStart)
  const type = inner.readUint()
  if (type !== 0 && type !== 2) throw inner.error('CBOR_UNKNOWN_VARIANT', `the type ${type}`)
  inner.assertEnd()
  const spending = type === 0 ? 'key' : 'redeem'
  return networkMagic === undefined
    ? { kind: 'byron', bytes, networkId: 1, root, attributes, spending }
    : { kind: 'byron', bytes, networkId: 0, root, attributes, spending, networkMagic }
}

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let remainder = index
  for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (remainder & 1 ? 0xedb8_8320 : 0)
  return remainder
})

/** CRC-32 as in ISO 3309, which Byron addresses end with. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffff_ffff
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] as number)
  return (crc ^ 0xffff_ffff) >>> 0
}

interface ByronAttributes {
  /** Attribute 1: the encrypted derivation path, written by the first Byron wallets. */
  readonly derivationPath?: Uint8Array
  /** Attribute 2. */
  readonly networkMagic?: number
  /** Total size of the attributes that the ledger does not know, in bytes. */
  readonly unknownLength: number
}

/** Decodes the attribute map: number → CBOR in bytes; keys strictly ascending, known values canonical. */
function readByronAttributes(reader: CborReader): ByronAttributes {
  const start = reader.position
  const count = reader.readMap()
  if (count < 0) throw reader.error('CBOR_UNEXPECTED_TYPE', 'a map of indefinite length', start)
  let derivationPath: Uint8Array | undefined
  let networkMagic: number | undefined
  let unknownLength = 0
  let previous = -1
  for (let i = 0; i < count; i++) {
    const keyStart = reader.position
    const key = reader.readUint(0xff)
    if (key <= previous) throw reader.error('CBOR_DUPLICATE', 'attributes out of order', keyStart)
    previous = key
    const value = reader.readBytes()
    if (key === 1) {
      derivationPath = readCanonical(
        value,
        (inner) => inner.readBytes(),
        (writer, path) => writer.bytes(path),
      )
    } else if (key === 2) {
      networkMagic = readCanonical(
        value,
        (inner) => inner.readUint(0xffff_ffff),
        (writer, magic) => writer.uint(magic),
      )
    } else {
      unknownLength += value.length
    }
  }
  return {
    ...(derivationPath === undefined ? {} : { derivationPath }),
    ...(networkMagic === undefined ? {} : { networkMagic }),
    unknownLength,
  }
}

/** The size that OutputBootAddrAttrsTooBig limits, in bytes: derivation path and unknown attributes. */
export function bootstrapAttributesSize(address: ByronAddress): number {
  const { derivationPath, unknownLength } = readByronAttributes(new CborReader(address.attributes))
  return (derivationPath?.length ?? 0) + unknownLength
}

// The bytes of [0, [0, h'…64 bytes'], attributes] that precede the 64 bytes.
const rootPrefix = Uint8Array.of(0x83, 0x00, 0x82, 0x00, 0x58, 0x40)

/**
 * The root of the Byron address that a bootstrap witness unlocks: the hash of type 0, the extended public key
 * and the attributes. Like the ledger, it does not check that their concatenation is CBOR.
 */
export function bootstrapRoot(witness: {
  readonly publicKey: Uint8Array
  readonly chainCode: Uint8Array
  readonly attributes: Uint8Array
}): Uint8Array {
  return blake2b224(
    sha3_256(concatBytes(rootPrefix, witness.publicKey, witness.chainCode, witness.attributes)),
  )
}

function readCanonical<T>(
  encoded: Uint8Array,
  read: (reader: CborReader) => T,
  write: (writer: CborWriter, value: T) => CborWriter,
): T {
  const reader = new CborReader(encoded)
  const value = read(reader)
  reader.assertEnd()
  if (write(new CborWriter(), value).toBytes().length !== encoded.length) {
    throw reader.error('CBOR_OUT_OF_RANGE', 'an attribute that is not in its shortest form', 0)
  }
  return value
}

/**
 * Decodes a bech32 address (CIP-5, CIP-19). BIP-173's limit of 90 characters does not apply.
 *
 * Accepts addresses of both networks; a caller that serves one network must check `networkId`.
 *
 * @param text `addr1…`, `addr_test1…`, `stake1…` or `stake_test1…`
 * @throws AddressError `ADDRESS_NOT_BECH32` if the text is not bech32 (Byron addresses are base58),
 *   `ADDRESS_WRONG_PREFIX` if the prefix is not that of an address or not that of this kind of address,
 *   `ADDRESS_WRONG_NETWORK` if prefix and header disagree, and the errors of {@link decodeAddress}
 * @example
 * const address = decodeBech32Address('addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz')
 * address.kind // 'enterprise'
 */
export function decodeBech32Address(text: string): Address {
  const { prefix, bytes } = decodeText(text)
  const match = /^(addr|stake)(_test)?$/.exec(prefix)
  if (match === null) throw new AddressError('ADDRESS_WRONG_PREFIX', 0, `no address has the prefix ${prefix}`)
  const address = decodeAddress(bytes)
  if (address.kind === 'byron' || (address.kind === 'reward') !== (match[1] === 'stake')) {
    throw new AddressError(
      'ADDRESS_WRONG_PREFIX',
      0,
      `the prefix ${prefix} before an address of kind ${address.kind}`,
    )
  }
  if ((address.networkId === 0) !== (match[2] !== undefined)) {
    throw new AddressError(
      'ADDRESS_WRONG_NETWORK',
      0,
      `the prefix ${prefix} before an address of network ${address.networkId}`,
    )
  }
  return address
}

/**
 * Encodes an address in bech32 (CIP-5): prefix `addr` or `stake`, with `_test` for test networks. Byron
 * addresses have no bech32 form.
 */
export function encodeBech32Address(address: ShelleyAddress | RewardAddress): string {
  const prefix = (address.kind === 'reward' ? 'stake' : 'addr') + (address.networkId === 0 ? '_test' : '')
  return bech32.encode(prefix, bech32.toWords(address.bytes), Number.MAX_SAFE_INTEGER)
}

function decodeText(text: string): { prefix: string; bytes: Uint8Array } {
  try {
    const { prefix, words } = bech32.decode(text, Number.MAX_SAFE_INTEGER)
    return { prefix, bytes: Uint8Array.from(bech32.fromWords(words)) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'no bech32'
    throw new AddressError('ADDRESS_NOT_BECH32', 0, reason)
  }
}

/**
 * Builds the address (CIP-19) of a payment key: a base address if `stake` is given, otherwise an enterprise
 * address.
 *
 * @param paymentKeyHash Blake2b-224 of the verification key, 28 bytes
 * @param networkId 0 for test networks, 1 for mainnet
 * @throws RangeError if a hash does not have 28 bytes
 * @example
 * encodeBech32Address(keyAddress(blake2b224(publicKey), 0)) // 'addr_test1v…'
 */
export function keyAddress(paymentKeyHash: Uint8Array, networkId: 0 | 1, stake?: Credential): ShelleyAddress {
  return shelleyAddress({ kind: 'key', hash: paymentKeyHash }, networkId, stake)
}

/**
 * Builds the address (CIP-19) of a script: a base address if `stake` is given, otherwise an enterprise
 * address.
 *
 * @param hash the script hash, 28 bytes
 * @param networkId 0 for test networks, 1 for mainnet
 * @throws RangeError if a hash does not have 28 bytes
 */
export function scriptAddress(hash: Uint8Array, networkId: 0 | 1, stake?: Credential): ShelleyAddress {
  return shelleyAddress({ kind: 'script', hash }, networkId, stake)
}

function shelleyAddress(payment: Credential, networkId: 0 | 1, stake?: Credential): ShelleyAddress {
  for (const { hash } of stake === undefined ? [payment] : [payment, stake]) {
    if (hash.length !== 28) throw new RangeError(`A credential is a hash of 28 bytes, not ${hash.length}`)
  }
  const script = payment.kind === 'script' ? 0x10 : 0
  if (stake === undefined) {
    const bytes = concatBytes(Uint8Array.of(0x60 | script | networkId), payment.hash)
    return { kind: 'enterprise', bytes, networkId, payment }
  }
  const header = (stake.kind === 'script' ? 0x20 : 0) | script | networkId
  const bytes = concatBytes(Uint8Array.of(header), payment.hash, stake.hash)
  return { kind: 'base', bytes, networkId, payment, stake }
}
