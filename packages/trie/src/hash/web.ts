import { blake2b } from '@noble/hashes/blake2.js'
import { createReserve, type HashMemory, hashLength, memoryLength } from './memory.js'

/*
 * The functions of node.ts without native code, for browsers, where a page may forbid WebAssembly.
 * `hash.test.ts` compares the two.
 */

export function blake2b256Into(output: Uint8Array, input: Uint8Array): void {
  output.set(blake2b256(input))
}

export function blake2b256AnyInto(output: Uint8Array, input: Uint8Array): void {
  output.set(blake2b256(input))
}

export function blake2b256(input: Uint8Array): Uint8Array {
  return blake2b(input, { dkLen: hashLength })
}

function createHashMemory(): HashMemory {
  const bytes = new Uint8Array(memoryLength)
  const hash = (output: number, input: number, length: number): void =>
    bytes.set(blake2b256(bytes.subarray(input, input + length)), output)
  return {
    bytes,
    hash,
    hashPair(output, input) {
      const first = blake2b256(bytes.subarray(input, input + 64))
      hash(output + hashLength, input + 64, 64)
      bytes.set(first, output)
    },
    copyPair: (to, from) => void bytes.copyWithin(to, from, from + 64),
    reserve: createReserve(0),
  }
}

export const hashMemory: HashMemory = createHashMemory()
