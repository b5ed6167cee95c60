import { CborReader, concatBytes, type DecodeError, fromHex, isDecodeError } from '@ratatosk/cbor'

/**
 * The samples are generated from the CDDL, in which an address is any byte string, a fraction any two
 * numbers, and Plutus scripts may repeat. The ledger's decoder is stricter. This function replaces such items
 * one by one with valid ones, so that the rest of a sample can be checked.
 *
 * @returns the remaining error, if there is one
 */
export function validateMended(
  sample: Uint8Array,
  decode: (bytes: Uint8Array) => unknown,
): DecodeError | undefined {
  let bytes = sample
  for (let mended = 0; ; mended++) {
    try {
      decode(bytes)
      return undefined
    } catch (error) {
      if (!isDecodeError(error)) throw error
      const replacement = replacementFor(error, mended)
      if (replacement === undefined) return error
      const reader = new CborReader(bytes, error.offset)
      reader.skip()
      bytes = concatBytes(bytes.subarray(0, error.offset), replacement, bytes.subarray(reader.position))
    }
  }
}

/**
 * A valid item to replace an invalid address, fraction or repeated script. Addresses differ, because accounts
 * must not repeat.
 */
function replacementFor(error: DecodeError, seed: number): Uint8Array | undefined {
  const isOutput = /(outputs\[\d+\]|collateralReturn)\.address$/.test(error.path)
  const isAddress = error.name === 'AddressError'
  if (isAddress) return fromHex(`581d${isOutput ? '60' : 'e0'}${seed.toString(16).padStart(56, '0')}`)
  if (error.message.includes('a fraction outside its interval')) return fromHex('d81e820102')
  const isScript = error.code === 'CBOR_DUPLICATE' && /plutusV\dScripts\[\d+\]$/.test(error.path)
  return isScript ? fromHex(`44${seed.toString(16).padStart(8, '0')}`) : undefined
}
