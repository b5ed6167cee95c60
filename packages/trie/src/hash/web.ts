import { blake2b } from '@noble/hashes/blake2.js'
import { HASH_LENGTH } from './memory.js'

/*
 * The functions of node.ts without native code, for browsers. `hash.test.ts` compares the two.
 */

export function blake2b256Into(output: Uint8Array, input: Uint8Array): void {
  output.set(blake2b256(input))
}

export function blake2b256AnyInto(output: Uint8Array, input: Uint8Array): void {
  output.set(blake2b256(input))
}

export function blake2b256(input: Uint8Array): Uint8Array {
  return blake2b(input, { dkLen: HASH_LENGTH })
}
