import { createHash } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { blake2b224, blake2b256 } from '../../../crypto/blake2b.js'
import { sha3_256 } from '../../../crypto/sha3.js'
import { bytesConstant } from '../values/value.js'
import { type BuiltinFunction, builtin, bytesAt } from './builtin.js'

function hash(compute: (message: Uint8Array) => Uint8Array): BuiltinFunction {
  return builtin(0, 1, (args) => bytesConstant(compute(bytesAt(args, 0))))
}

function openSsl(algorithm: string): (message: Uint8Array) => Uint8Array {
  return (message) => new Uint8Array(createHash(algorithm).update(message).digest())
}

export const hashes = {
  sha2_256: hash(openSsl('sha256')),
  sha3_256: hash(sha3_256),
  blake2b_256: hash(blake2b256),
  blake2b_224: hash(blake2b224),
  // OpenSSL has the standardized SHA-3 only, which pads otherwise.
  keccak_256: hash((message) => keccak_256(message)),
  ripemd_160: hash(openSsl('ripemd160')),
}
