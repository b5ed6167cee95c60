/** RFC 7693, section 2.6. */
const iv = BigUint64Array.of(
  0x6a09e667f3bcc908n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
)

/** Section 2.7: the order of a block's words by round, in hex digits. The last two repeat the first. */
const sigma = [
  '0123456789abcdef',
  'ea489fd61c02b753',
  'b8c052fdae367194',
  '7931dcbe265a40f8',
  '905724afe1bc683d',
  '2c6a0b834d75fe19',
  'c51fed4a0763928b',
  'db7ec13950f4862a',
  '6fe9b308c2d714a5',
  'a2847615fb9e3cd0',
].map((row) => Array.from(row, (digit) => Number.parseInt(digit, 16)))

/** The words that each of the eight mixings of a round takes. */
const mixings = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const

const blockLength = 128

/** Blake2b without a key (RFC 7693), 1 to 64 bytes. Written for its size: a proof has a few dozen hashes. */
export function blake2b(input: Uint8Array, length: number): Uint8Array {
  const hash = iv.slice()
  hash[0] = word(hash, 0) ^ 0x01010000n ^ BigInt(length)
  const block = new Uint8Array(blockLength)
  const view = new DataView(block.buffer)
  const blocks = Math.max(1, Math.ceil(input.length / blockLength))
  for (let i = 0; i < blocks; i++) {
    const end = Math.min(input.length, (i + 1) * blockLength)
    block.fill(0).set(input.subarray(i * blockLength, end))
    const words = BigUint64Array.from({ length: 16 }, (_, j) => view.getBigUint64(j * 8, true))
    compress(hash, words, end, i === blocks - 1)
  }
  const digest = new DataView(new ArrayBuffer(64))
  hash.forEach((each, i) => {
    digest.setBigUint64(i * 8, each, true)
  })
  return new Uint8Array(digest.buffer, 0, length)
}

function compress(hash: BigUint64Array, words: BigUint64Array, count: number, isLast: boolean): void {
  const v = new BigUint64Array(16)
  v.set(hash)
  v.set(iv, 8)
  v[12] = word(v, 12) ^ BigInt(count)
  if (isLast) v[14] = ~word(v, 14)
  for (let round = 0; round < 12; round++) {
    const order = sigma[round % 10] as readonly number[]
    mixings.forEach(([a, b, c, d], i) => {
      // Each assignment takes the number modulo 2^64.
      v[a] = word(v, a) + word(v, b) + word(words, order[2 * i])
      v[d] = rotateRight(word(v, d) ^ word(v, a), 32n)
      v[c] = word(v, c) + word(v, d)
      v[b] = rotateRight(word(v, b) ^ word(v, c), 24n)
      v[a] = word(v, a) + word(v, b) + word(words, order[2 * i + 1])
      v[d] = rotateRight(word(v, d) ^ word(v, a), 16n)
      v[c] = word(v, c) + word(v, d)
      v[b] = rotateRight(word(v, b) ^ word(v, c), 63n)
    })
  }
  for (let i = 0; i < 8; i++) hash[i] = word(hash, i) ^ word(v, i) ^ word(v, i + 8)
}

function rotateRight(value: bigint, bits: bigint): bigint {
  return (value >> bits) | (value << (64n - bits))
}

function word(words: BigUint64Array, index: number | undefined): bigint {
  return words[index as number] as bigint
}
