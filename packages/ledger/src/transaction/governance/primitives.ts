import { readAddress } from '../../address/decode.js'
import type { Credential, RewardAddress } from '../../address/types.js'
import { toHex } from '../../bytes.js'
import type { CborReader } from '../../cbor/reader.js'
import { expectTag, readRecord, readVariant, type Variants } from '../../cbor/structure.js'

const MAX_UINT64 = 2n ** 64n - 1n
/** Fractions with longer parts than this are refused before they are reduced. */
const MAX_FRACTION_BITS = 2n ** 512n
/** Bytes of a URL or DNS name. */
const MAX_TEXT_SIZE = 128

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

/** Equal exactly where two credentials are. */
export function credentialKey(credential: Credential): string {
  return `${credential.kind} ${toHex(credential.hash)}`
}

const drepVariants: Variants<unknown> = [
  [2, readHash28], // key
  [2, readHash28], // script
  [1, () => undefined], // abstains
  [1, () => undefined], // has no confidence
]

/** Whom votes are delegated to. */
export function readDrep(reader: CborReader): void {
  readVariant(reader, 'a representative', drepVariants)
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
