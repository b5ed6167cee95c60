import { keccak_256 } from '@noble/hashes/sha3.js'
import { blake2b224, blake2b256, ripemd160, sha3_256, sha256 } from '#crypto'
import { bytesConstant } from '../values/constant.js'
import { type BuiltinFunction, builtin, bytesAt } from './builtin.js'

function hash(compute: (message: Uint8Array) => Uint8Array): BuiltinFunction {
  return builtin(0, 1, (args) => bytesConstant(compute(bytesAt(args, 0))))
}

export const hashes = {
  sha2_256: hash(sha256),
  sha3_256: hash(sha3_256),
  blake2b_256: hash(blake2b256),
  blake2b_224: hash(blake2b224),
  // Neither OpenSSL nor libsodium has Keccak, which pads differently from SHA-3.
  keccak_256: hash((message) => keccak_256(message)),
  ripemd_160: hash(ripemd160),
}
