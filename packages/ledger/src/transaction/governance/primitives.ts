import { type CborReader, expectTag, readRecord, readVariant, toHex, type Variants } from '@ratatosk/cbor'
import { readAddress } from '../../address/address.js'
import type { Credential, RewardAddress } from '../../address/types.js'
import { AddressError } from '../../errors.js'

const maxUint64 = 2n ** 64n - 1n
/** Fractions with larger parts are refused before they are reduced. */
const maxFractionBits = 2n ** 512n
/** Maximum size of a URL or DNS name, in bytes. */
const maxTextSize = 128

export function readHash28(reader: CborReader): Uint8Array {
  return reader.readBytesOf(28)
}

const credentialVariants: Variants<Credential> = [
  [2, (reader) => ({ kind: 'key', hash: readHash28(reader) })],
  [2, (reader) => ({ kind: 'script', hash: readHash28(reader) })],
]

export function readCredential(reader: CborReader): Credential {
  return readVariant(reader, 'a credential', credentialVariants)
}

/** A key that is equal if and only if the credentials are. */
export function credentialKey(credential: Credential): string {
  return `${credential.kind} ${toHex(credential.hash)}`
}

const drepVariants: Variants<unknown> = [
  [2, readHash28], // key
  [2, readHash28], // script
  [1, () => undefined], // abstains
  [1, () => undefined], // has no confidence
]

/** Validates the target of a vote delegation. */
export function readDrep(reader: CborReader): void {
  readVariant(reader, 'a representative', drepVariants)
}

export function readRewardAddress(reader: CborReader): RewardAddress {
  const start = reader.position
  const address = readAddress(reader.readBytes(), start)
  if (address.kind !== 'reward') {
    throw new AddressError('ADDRESS_WRONG_KIND', start, 'a payment address instead of a reward address')
  }
  return address
}

/** A text of at most 128 bytes: a URL or a DNS name. */
export function readShortText(reader: CborReader): void {
  const start = reader.position
  if (reader.readUtf8().length > maxTextSize) {
    throw reader.error('CBOR_OUT_OF_RANGE', `a text of more than ${maxTextSize} bytes`, start)
  }
}

/** `[url, hash of the document]`. */
export function readAnchor(reader: CborReader): void {
  readRecord(reader, 2, (inner) => {
    readShortText(inner)
    inner.readBytesOf(32)
  })
}

/** Decodes `[transaction id, index]` to a key that is equal if and only if the ids are. */
export function readGovernanceActionId(reader: CborReader): string {
  return readRecord(reader, 2, (inner) => `${toHex(inner.readBytesOf(32))}#${inner.readUint(0xffff)}`)
}

/** A fraction from 0 to 1 (tag 30). */
export function readUnitInterval(reader: CborReader): void {
  readFraction(reader, 1n)
}

/** A non-negative fraction (tag 30). */
export function readNonNegativeInterval(reader: CborReader): void {
  readFraction(reader, maxUint64)
}

/** A fraction with tag 30 of at most `maximum`. Its parts must fit 64 bits in lowest terms. */
function readFraction(reader: CborReader, maximum: bigint): void {
  const start = reader.position
  expectTag(reader, 30)
  readRecord(reader, 2, (inner) => {
    let numerator = inner.readInteger()
    let denominator = inner.readInteger()
    if (denominator < 0n) {
      numerator = -numerator
      denominator = -denominator
    }
    const inRange =
      denominator !== 0n &&
      numerator >= 0n &&
      numerator <= maximum * denominator &&
      numerator < maxFractionBits &&
      denominator < maxFractionBits
    const divisor = inRange ? greatestCommonDivisor(numerator, denominator) : 1n
    if (!inRange || numerator / divisor > maxUint64 || denominator / divisor > maxUint64) {
      throw inner.error('CBOR_OUT_OF_RANGE', 'a fraction outside its interval', start)
    }
  })
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [greater, lesser] = [a, b]
  while (lesser !== 0n) [greater, lesser] = [lesser, greater % lesser]
  return greater
}
