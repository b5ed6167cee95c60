import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js'
import { bigintOf } from '@ratatosk/cbor'
import { verifySignature } from '#crypto'
import { fail } from '../failures.js'
import { boolConstant } from '../values/constant.js'
import type { Value } from '../values/value.js'
import { builtin, bytesAt } from './builtin.js'

function sized(args: readonly Value[], at: number, size: number, what: string): Uint8Array {
  const bytes = bytesAt(args, at)
  return bytes.length === size ? bytes : fail(`A ${what} has ${bytes.length} bytes instead of ${size}`)
}

/** Verifies like libsecp256k1: an invalid encoding fails the script; a high S yields false. */
function verifyEcdsa(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const order = secp256k1.Point.Fn.ORDER
  const r = bigintOf(signature.subarray(0, 32))
  const s = bigintOf(signature.subarray(32))
  if (r >= order || s >= order) fail('The signature is not valid')
  try {
    secp256k1.Point.fromBytes(key)
  } catch {
    fail('The verification key is not valid')
  }
  if (r === 0n || s === 0n || s > order / 2n) return false
  return secp256k1.verify(signature, message, key, { prehash: false, lowS: true })
}

/** A key that is not a point fails the script. Every signature has a valid encoding. */
function verifySchnorr(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    schnorr.utils.lift_x(bigintOf(key))
  } catch {
    fail('The verification key is not valid')
  }
  return schnorr.verify(signature, message, key)
}

export const signatures = {
  verifyEd25519Signature: builtin(0, 3, (args) => {
    const key = sized(args, 0, 32, 'verification key')
    const signature = sized(args, 2, 64, 'signature')
    return boolConstant(verifySignature(signature, bytesAt(args, 1), key))
  }),
  verifyEcdsaSecp256k1Signature: builtin(0, 3, (args) => {
    const key = sized(args, 0, 33, 'verification key')
    const message = sized(args, 1, 32, 'message hash')
    return boolConstant(verifyEcdsa(key, message, sized(args, 2, 64, 'signature')))
  }),
  verifySchnorrSecp256k1Signature: builtin(0, 3, (args) => {
    const key = sized(args, 0, 32, 'verification key')
    const signature = sized(args, 2, 64, 'signature')
    return boolConstant(verifySchnorr(key, bytesAt(args, 1), signature))
  }),
}
