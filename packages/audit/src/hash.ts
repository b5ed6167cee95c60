import { blake2b } from '@noble/hashes/blake2.js'

/** Of transactions, witness sets, outputs and data: 32 bytes. */
export const blake2b256 = (bytes: Uint8Array): Uint8Array => blake2b(bytes, { dkLen: 32 })

/** Of headers: 28 bytes. */
export const blake2b224 = (bytes: Uint8Array): Uint8Array => blake2b(bytes, { dkLen: 28 })
