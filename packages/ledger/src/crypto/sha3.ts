import { createHash } from 'node:crypto'

/** SHA3-256, 32 bytes: the inner hash of Byron address roots. */
export function sha3_256(message: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha3-256').update(message).digest())
}
