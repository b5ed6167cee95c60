import { equalBytes } from '@ratatosk/cbor'

const hashLength = 28

/** Header hashes, one after another: 28 bytes each. */
export function createHashes() {
  let bytes = new Uint8Array(1024 * hashLength)
  let count = 0
  const at = (index: number): Uint8Array => bytes.subarray(index * hashLength, (index + 1) * hashLength)
  return {
    get count() {
      return count
    },
    at,
    push(hash: Uint8Array): void {
      if ((count + 1) * hashLength > bytes.length) {
        const grown = new Uint8Array(bytes.length * 2)
        grown.set(bytes)
        bytes = grown
      }
      bytes.set(hash, count++ * hashLength)
    },
    pop(): void {
      count--
    },
    lastIndexOf(hash: Uint8Array): number {
      let index = count - 1
      while (index >= 0 && !equalBytes(at(index), hash)) index--
      return index
    },
  }
}
