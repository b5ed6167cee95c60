import type { PlutusLanguage } from '../../transaction/types.js'

/** The ledger version that added a builtin, by its number in flat (plutus-ledger-api, Common.Versions). */
type Introduced = { readonly [language in PlutusLanguage]: number }

const batches: readonly { readonly last: number; readonly since: Introduced }[] = [
  // Alonzo: integers, byte strings, Blake2b-256, SHA, Ed25519, strings, lists, pairs, data
  { last: 50, since: { PlutusV1: 5, PlutusV2: 7, PlutusV3: 9 } },
  // serialiseData
  { last: 51, since: { PlutusV1: 11, PlutusV2: 7, PlutusV3: 9 } },
  // ECDSA and Schnorr over secp256k1
  { last: 53, since: { PlutusV1: 11, PlutusV2: 8, PlutusV3: 9 } },
  // BLS12-381, Keccak-256, Blake2b-224
  { last: 72, since: { PlutusV1: 11, PlutusV2: 11, PlutusV3: 9 } },
  // integerToByteString, byteStringToInteger
  { last: 74, since: { PlutusV1: 11, PlutusV2: 10, PlutusV3: 9 } },
  // bitwise operations, RIPEMD-160
  { last: 86, since: { PlutusV1: 11, PlutusV2: 11, PlutusV3: 10 } },
  // modular exponentiation, arrays, multi-scalar multiplication, values
  { last: 100, since: { PlutusV1: 11, PlutusV2: 11, PlutusV3: 11 } },
]

export function builtinIsAvailable(
  builtin: number,
  language: PlutusLanguage,
  protocolMajor: number,
): boolean {
  const batch = batches.find(({ last }) => builtin <= last)
  return batch !== undefined && protocolMajor >= batch.since[language]
}

/** All languages have Plutus Core 1.0.0 from the start; older ones got 1.1.0 (`constr`, `case`) later. */
export function coreIsAvailable(
  [major, minor, patch]: readonly [number, number, number],
  language: PlutusLanguage,
  protocolMajor: number,
): boolean {
  if (major !== 1 || patch !== 0) return false
  return minor === 0 || (minor === 1 && protocolMajor >= (language === 'PlutusV3' ? 9 : 11))
}
