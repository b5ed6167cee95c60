import { CborWriter } from '@ratatosk/cbor'

/** Terms of Untyped Plutus Core with named variables, for test programs. */
export type Term =
  | string
  | readonly ['lam', name: string, body: Term]
  | readonly ['apply', Term, readonly Term[]]
  | readonly ['force' | 'delay', Term]
  | readonly ['error']
  | readonly ['builtin', Builtin]
  | readonly ['con', Constant]
  /** A closed term at the end of the program, as padded flat bytes. It must begin at a byte boundary. */
  | readonly ['rest', Uint8Array]

type Constant =
  | { readonly type: 'integer'; readonly value: bigint }
  | { readonly type: 'bytestring' | 'data'; readonly value: Uint8Array }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'unit' }
  | { readonly type: 'bool'; readonly value: boolean }

type Builtin = keyof typeof builtins

/** The builtins that tests use, with their flat tags. */
const builtins = {
  addInteger: 0,
  multiplyInteger: 2,
  divideInteger: 3,
  modInteger: 6,
  equalsInteger: 7,
  lessThanInteger: 8,
  appendByteString: 10,
  consByteString: 11,
  indexByteString: 14,
  equalsByteString: 17,
  sha2_256: 18,
  blake2b_256: 20,
  verifyEd25519Signature: 21,
  appendString: 22,
  equalsString: 23,
  encodeUtf8: 24,
  decodeUtf8: 25,
  ifThenElse: 26,
  chooseUnit: 27,
  trace: 28,
  fstPair: 29,
  sndPair: 30,
  headList: 33,
  tailList: 34,
  nullList: 35,
  equalsData: 47,
  unIData: 45,
  unConstrData: 42,
  serialiseData: 51,
  expModInteger: 87,
} as const

const constantTypes = { integer: 0, bytestring: 1, string: 2, unit: 3, bool: 4, data: 8 } as const

export function flatProgram(term: Term, version: readonly [number, number, number] = [1, 0, 0]): Uint8Array {
  const bits = new Bits()
  for (const number of version) bits.natural(BigInt(number))
  write(bits, term, [])
  return bits.toBytes()
}

/** The bit position of a term's end. It depends on the start, because byte strings are aligned to bytes. */
export function endOf(term: Term, start: number): number {
  const bits = new Bits()
  bits.put(0, start)
  write(bits, term, [])
  return bits.length
}

export function scriptBytes(flat: Uint8Array): Uint8Array {
  return new CborWriter(flat.length + 5).bytes(flat).toBytes()
}

class Bits {
  readonly #bytes: number[] = []
  #ended = false
  length = 0

  put(value: number, width: number): void {
    for (let i = width - 1; i >= 0; i--) {
      if (this.length % 8 === 0) this.#bytes.push(0)
      const last = this.#bytes.length - 1
      this.#bytes[last] = (this.#bytes[last] as number) | (((value >> i) & 1) << (7 - (this.length % 8)))
      this.length++
    }
  }

  natural(value: bigint): void {
    const rest = value >> 7n
    this.put(Number(value & 127n) | (rest > 0n ? 128 : 0), 8)
    if (rest > 0n) this.natural(rest)
  }

  /** Padding up to a byte boundary: zeros, then a one. */
  pad(): void {
    const zeros = 7 - (this.length % 8)
    this.put(0, zeros)
    this.put(1, 1)
  }

  byteString(bytes: Uint8Array): void {
    this.pad()
    for (let start = 0; start < bytes.length; start += 255) {
      const chunk = bytes.subarray(start, start + 255)
      this.put(chunk.length, 8)
      this.raw(chunk)
    }
    this.put(0, 8)
  }

  raw(bytes: Uint8Array): void {
    for (const byte of bytes) this.put(byte, 8)
  }

  /** Ends the program with bytes that include their padding. */
  end(bytes: Uint8Array): void {
    this.raw(bytes)
    this.#ended = true
  }

  toBytes(): Uint8Array {
    if (!this.#ended) this.pad()
    return Uint8Array.from(this.#bytes)
  }
}

function write(bits: Bits, term: Term, scope: readonly string[]): void {
  if (typeof term === 'string') {
    bits.put(0, 4)
    const place = scope.lastIndexOf(term)
    bits.natural(BigInt(place < 0 ? 1_000_000 : scope.length - place))
    return
  }
  switch (term[0]) {
    case 'lam':
      bits.put(2, 4)
      write(bits, term[2], [...scope, term[1]])
      break
    case 'apply':
      for (let i = 0; i < term[2].length; i++) bits.put(3, 4)
      for (const each of [term[1], ...term[2]]) write(bits, each, scope)
      break
    case 'delay':
      bits.put(1, 4)
      write(bits, term[1], scope)
      break
    case 'force':
      bits.put(5, 4)
      write(bits, term[1], scope)
      break
    case 'error':
      bits.put(6, 4)
      break
    case 'builtin':
      bits.put(7, 4)
      bits.put(builtins[term[1]], 7)
      break
    case 'con':
      constant(bits, term[1])
      break
    case 'rest':
      if (bits.length % 8 !== 0) throw new RangeError('The rest of a program must begin at a byte')
      bits.end(term[1])
      break
  }
}

function constant(bits: Bits, constant: Constant): void {
  bits.put(4, 4)
  bits.put(1, 1)
  bits.put(constantTypes[constant.type], 4)
  bits.put(0, 1)
  switch (constant.type) {
    case 'integer':
      bits.natural(constant.value >= 0n ? 2n * constant.value : -2n * constant.value - 1n)
      break
    case 'bytestring':
    case 'data':
      bits.byteString(constant.value)
      break
    case 'string':
      bits.byteString(Buffer.from(constant.value, 'utf8'))
      break
    case 'bool':
      bits.put(constant.value ? 1 : 0, 1)
      break
  }
}
