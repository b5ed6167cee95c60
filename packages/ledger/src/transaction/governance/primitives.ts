import { readAddress } from '../../address/decode.js'
import type { Credential, RewardAddress } from '../../address/types.js'
import { toHex } from '../../bytes.js'
import type { CborReader } from '../../cbor/reader.js'
import { expectTag, readRecord, readVariant } from '../../cbor/structure.js'

const MAX_UINT64 = 2n ** 64n - 1n
/** Fractions with longer parts than this are refused before they are reduced. */
const MAX_FRACTION_BITS = 2n ** 512n
/** Bytes of a URL or DNS name. */
const MAX_TEXT_SIZE = 128

export function readHash28(reader: CborReader): Uint8Array {
  return reader.readBytesOf(28)
}

export function readCredential(reader: CborReader): Credential {
  return readVariant(reader, (inner, variant) => {
    if (variant > 1) throw inner.error('unknown-variant', `a credential of kind ${variant}`)
    return [2, { kind: variant === 0 ? 'key' : 'script', hash: readHash28(inner) }]
  })
}

/** Equal exactly where two credentials are. */
export function credentialKey(credential: Credential): string {
  return `${credential.kind} ${toHex(credential.hash)}`
}

/** Whom a vote is delegated to: a key, a script, abstention or no confidence. */
export function readDrep(reader: CborReader): void {
  readVariant(reader, (inner, variant) => {
    if (variant > 3) throw inner.error('unknown-variant', `a representative of kind ${variant}`)
    if (variant > 1) return [1, undefined]
    readHash28(inner)
    return [2, undefined]
  })
}

export function readRewardAddress(reader: CborReader): RewardAddress {
  const start = reader.position
  const address = readAddress(reader.readBytes(), start)
  if (address.kind !== 'reward') throw reader.error('unknown-type', 'no reward address', start)
  return address
}

/** A text of at most 128 bytes: a URL or a DNS name. */
export function readShortText(reader: CborReader): void {
  const start = reader.position
  if (Buffer.byteLength(reader.readText()) > MAX_TEXT_SIZE) {
    throw reader.error('out-of-range', `a text of more than ${MAX_TEXT_SIZE} bytes`, start)
  }
}

/** `[url, hash of what is there]`. */
export function readAnchor(reader: CborReader): void {
  readRecord(reader, 2, (inner) => {
    readShortText(inner)
    inner.readBytesOf(32)
  })
}

/** `[transaction id, index]`; equal texts exactly where two ids are. */
export function readGovernanceActionId(reader: CborReader): string {
  return readRecord(reader, 2, (inner) => `${toHex(inner.readBytesOf(32))}#${inner.readUint(0xffff)}`)
}

/** A fraction from 0 to 1 (tag 30). */
export function readUnitInterval(reader: CborReader): void {
  readFraction(reader, 1n)
}

/** A fraction from 0 (tag 30). */
export function readNonNegativeInterval(reader: CborReader): void {
  readFraction(reader, MAX_UINT64)
}

/** A fraction under tag 30, which in lowest terms has parts of 64 bits and is at most `maximum`. */
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
      numerator < MAX_FRACTION_BITS &&
      denominator < MAX_FRACTION_BITS
    const divisor = inRange ? greatestCommonDivisor(numerator, denominator) : 1n
    if (!inRange || numerator / divisor > MAX_UINT64 || denominator / divisor > MAX_UINT64) {
      throw inner.error('out-of-range', 'a fraction outside its interval', start)
    }
  })
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [greater, lesser] = [a, b]
  while (lesser !== 0n) [greater, lesser] = [lesser, greater % lesser]
  return greater
}
