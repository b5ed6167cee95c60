import { fromHex, scriptHash } from '@ratatosk/ledger'

/** `(program 1.1.0 (lam context (con unit ())))`, as a witness set holds it. */
export const succeeding = fromHex('450101002499')
/** `(program 1.1.0 (lam context (error)))`. */
export const failing = fromHex('450101002601')

export const succeedingHash = scriptHash('PlutusV3', succeeding)
export const failingHash = scriptHash('PlutusV3', failing)

/** The enterprise address, of a test network, of a script. */
export function scriptAddress(hash: Uint8Array): Uint8Array {
  return Uint8Array.from([0x70, ...hash])
}
