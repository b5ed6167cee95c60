import { concatBytes, fromHex } from '../bytes.js'
import { CborReader } from '../cbor/reader.js'
import { type DecodeError, isDecodeError } from '../errors.js'

/**
 * Generated samples obey the CDDL, in which an address is any byte string, a fraction any two numbers, and a list of Plutus
 * scripts may have one twice. The ledger's decoder asks more of these. This puts good ones in the place of such, one by one, so
 * that the rest of a sample can be judged.
 *
 * @returns what is wrong with the mended sample, if anything still is
 */
export function judgeMended(
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

/** A good item for the place of a bad address (each another one, as accounts must differ), fraction or script. */
function replacementFor(error: DecodeError, seed: number): Uint8Array | undefined {
  const isOutput = /(outputs\[\d+\]|collateralReturn)\.address$/.test(error.path)
  const isAddress = error.name === 'AddressError' || error.code === 'unknown-type'
  if (isAddress) return fromHex(`581d${isOutput ? '60' : 'e0'}${seed.toString(16).padStart(56, '0')}`)
  if (error.message.includes('a fraction outside its interval')) return fromHex('d81e820102')
  const isScript = error.code === 'duplicate' && /plutusV\dScripts\[\d+\]$/.test(error.path)
  return isScript ? fromHex(`44${seed.toString(16).padStart(8, '0')}`) : undefined
}
