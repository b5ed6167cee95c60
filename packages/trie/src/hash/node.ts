import sodium from 'sodium-native'
import { allocate, createReserve, type HashMemory, hashLength } from './memory.js'
import { reservedLength, writeModule } from './wasm-module.js'

// The function accepts any Uint8Array; the types of sodium-native name Buffer only.
const generichash = sodium.crypto_generichash as (output: Uint8Array, input: Uint8Array) => void

/** V8 keeps arrays up to this size in its heap, and moves them for native code: slower than a copy. */
const movedLength = 64
const moved = new Uint8Array(new ArrayBuffer(movedLength))
const movedBy = Array.from({ length: movedLength + 1 }, (_, length) => moved.subarray(0, length))

/** Hashes `input` into `output` (32 bytes) without allocating; both are views of larger buffers. */
export function blake2b256Into(output: Uint8Array, input: Uint8Array): void {
  generichash(output, input)
}

/** Hashes a caller's array, of any size, into `output` (32 bytes, a view) without allocating. */
export function blake2b256AnyInto(output: Uint8Array, input: Uint8Array): void {
  const copy = movedBy[input.length]
  copy?.set(input)
  generichash(output, copy ?? input)
}

/** Blake2b with a digest of 32 bytes, without a key (RFC 7693). */
export function blake2b256(input: Uint8Array): Uint8Array {
  const output = allocate(hashLength)
  blake2b256AnyInto(output, input)
  return output
}

/** The declarations of WebAssembly that this needs; TypeScript has them only in its browser types. */
interface WithWebAssembly {
  readonly WebAssembly: {
    Module: new (bytes: Uint8Array) => object
    Instance: new (
      module: object,
    ) => {
      readonly exports: Omit<HashMemory, 'bytes' | 'reserve'> & {
        readonly memory: { readonly buffer: ArrayBuffer }
      }
    }
  }
}

function createHashMemory(): HashMemory {
  const { WebAssembly } = globalThis as typeof globalThis & WithWebAssembly
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(writeModule()))
  const { memory, hash, hashPair, copyPair } = exports
  return {
    bytes: new Uint8Array(memory.buffer),
    hash,
    hashPair,
    copyPair,
    reserve: createReserve(reservedLength),
  }
}

/** The memory of this thread. */
export const hashMemory: HashMemory = createHashMemory()
