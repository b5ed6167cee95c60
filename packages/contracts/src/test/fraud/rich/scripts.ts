import { CborWriter } from '@ratatosk/cbor'
import { type TestKey, testKey } from '../../keys.js'
import { hashOf, hashOfNative, type Plutus } from '../witness/witnessed.js'

export const signers: readonly TestKey[] = Array.from({ length: 14 }, (_, index) => testKey(`rich ${index}`))

const languages = ['PlutusV1', 'PlutusV2', 'PlutusV3'] as const

/** Bits of a program that always succeeds, and holds a number so that scripts differ. */
function succeeding(language: Plutus['language'], number: number): Plutus {
  const lambda = '0010'
  const numeral = `0100100000${(2 * number).toString(2).padStart(8, '0')}`
  const unit = '0100100110'
  // Plutus V1 and V2 pass two or three arguments, and accept any result.
  const body =
    language === 'PlutusV3' ? `${lambda}0011${lambda}${unit}${numeral}` : `${lambda.repeat(3)}${numeral}`
  const bits = `${'00000001'}${'00000000'.repeat(2)}${body}`
  const padded = `${bits}${'1'.padStart(8 - (bits.length % 8), '0')}`
  const flat = Uint8Array.from(padded.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2))
  return { language, bytes: new CborWriter().bytes(flat).toBytes() }
}

export const plutusScripts = languages.flatMap((language) =>
  [1, 2, 3].map((number) => succeeding(language, number)),
)

/** A native script that is satisfied if its key signs. */
export interface Native {
  readonly language: 'native'
  readonly bytes: Uint8Array
  readonly key: TestKey
}

export type Lock = Plutus | Native | TestKey

export const hashOfLock = (lock: Lock): Uint8Array => {
  if (!('language' in lock)) return lock.hash
  return lock.language === 'native' ? hashOfNative(lock.bytes) : hashOf(lock)
}

export const isPlutus = (lock: Lock): lock is Plutus => 'language' in lock && lock.language !== 'native'

export const isNative = (lock: Lock): lock is Native => 'language' in lock && lock.language === 'native'
