import { blake2b256 } from './header.js'
import type { AuditedTransaction } from './transaction.js'

/** A chunk of more than one transaction has at most as many bytes. */
const maxLength = 12_288

/** A block has at most as many. */
export const maxChunks = 1024

/** Consecutive transactions of a block. */
export interface Chunk {
  readonly first: number
  /** Blake2b-256 of the frames of its transactions. */
  readonly hash: Uint8Array
}

/** Cuts the transactions of a block into chunks, each with as many as fit. See docs/block-body.md. */
export function createChunks() {
  const chunks: Chunk[] = []
  let frames: Uint8Array[] = []
  let length = 0
  let first = 0
  let position = 0

  function complete(): void {
    if (frames.length > 0) chunks.push({ first, hash: blake2b256(Buffer.concat(frames, length)) })
    frames = []
    length = 0
    first = position
  }

  return {
    add({ body, witnessSet, rest }: AuditedTransaction): void {
      const parts = [body, witnessSet, rest].flatMap((part) => [lengthOf(part), part])
      const added = parts.reduce((sum, part) => sum + part.length, 0)
      if (length + added > maxLength) complete()
      frames.push(...parts)
      length += added
      position++
    },

    /** All chunks, once every transaction is added. */
    end(): readonly Chunk[] {
      complete()
      return chunks
    },
  }
}

function lengthOf(part: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, part.length)
  return bytes
}
