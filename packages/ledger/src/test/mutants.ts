import { CborWriter } from '@ratatosk/cbor'
import {
  addressOf,
  encodeAssets,
  encodeBytes,
  encodeInput,
  encodeOutput,
  encodeUint,
  keyOf,
} from '@ratatosk/fixtures'
import fc from 'fast-check'
import { blake2b256 } from '#crypto'

/** How content is encoded. */
interface Style {
  readonly indefiniteBody: boolean
  readonly indefiniteLists: boolean
  readonly untaggedSets: boolean
  readonly redeemersAsList: boolean
  /** Number of bytes of the fee after the initial byte; 0: as few as possible. */
  readonly feeWidth: 0 | 4 | 8
  /** Weights by which the fields of the body are sorted. */
  readonly fieldOrder: readonly number[]
}

const style: fc.Arbitrary<Style> = fc.record({
  indefiniteBody: fc.boolean(),
  indefiniteLists: fc.boolean(),
  untaggedSets: fc.boolean(),
  redeemersAsList: fc.boolean(),
  feeWidth: fc.constantFrom(0, 4, 8),
  fieldOrder: fc.oneof(
    fc.constant([]),
    fc.array(fc.integer({ min: 0, max: 99 }), { minLength: 12, maxLength: 12 }),
  ),
})

/** Amounts around the minimum of an output, and any other amount of four bytes. */
const lovelace = fc.oneof(fc.bigInt(66_000n, 4_000_000_000n), fc.bigInt(900_000n, 1_300_000n))
const fee = fc.oneof(fc.bigInt(0n, 400_000n), fc.bigInt(160_000n, 190_000n))
const slot = fc.bigInt(0n, 2n ** 40n)
const assets = fc.uniqueArray(
  fc.tuple(
    fc.integer({ min: 0, max: 2 }).map((byte) => new Uint8Array(28).fill(byte)),
    fc.uint8Array({ maxLength: 32 }).map((name) => Buffer.from(name).toString('hex')),
    fc.bigInt(1n, 2n ** 63n - 1n),
  ),
  { minLength: 1, maxLength: 3, selector: ([policy]) => policy[0] },
)
const output = fc
  .record(
    {
      lovelace,
      address: fc.constantFrom(addressOf(keyOf('bob').hash), addressOf(keyOf('carol').hash, 'script')),
      assets,
      inlineDatum: fc.uint8Array({ maxLength: 60 }).map((bytes) => encodeBytes(bytes)),
    },
    { requiredKeys: ['lovelace', 'address'] },
  )
  .map(encodeOutput)
const input = fc
  .tuple(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.integer({ min: 0, max: 300 }))
  .map(([id, index]) => encodeInput(id, index))
const data = fc.oneof(
  fc.bigInt(-(2n ** 70n), 2n ** 70n).map((value) => new CborWriter().int(value).toBytes()),
  fc.uint8Array({ maxLength: 100 }).map((value) => new CborWriter().boundedBytes(value).toBytes()),
)
const redeemer = fc.record({
  tag: fc.constantFrom(0, 1, 3),
  index: fc.integer({ min: 0, max: 20 }),
  data,
  memory: fc.bigInt(0n, 14_000_000n),
  steps: fc.bigInt(0n, 10_000_000_000n),
})
type Redeemer = typeof redeemer extends fc.Arbitrary<infer T> ? T : never

/** `(con unit ())` in Plutus Core 1.0.0, which every language can decode. */
const program = Uint8Array.of(0x46, 1, 0, 0, 0b01001001, 0b10000000, 0b00000001)

/** How the signatures are changed. */
const signing = fc.record({
  signers: fc.uniqueArray(fc.constantFrom('alice', 'bob', 'carol'), { maxLength: 3 }),
  /** The bit of the signature or of the key that is flipped; −1: none. */
  flippedBit: fc.oneof(fc.constant(-1), fc.integer({ min: 0, max: 767 })),
})

const content = fc.record({
  inputs: fc.array(input, { minLength: 1, maxLength: 3 }),
  outputs: fc.array(output, { minLength: 1, maxLength: 3 }),
  fee,
  optional: fc.record(
    {
      invalidHereafter: slot,
      invalidBefore: slot,
      mint: assets,
      scriptDataHash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      requiredSigners: fc.constantFrom([keyOf('alice').hash], [keyOf('bob').hash, keyOf('carol').hash]),
      networkId: fc.constantFrom(0, 1),
      auxiliaryDataHash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    },
    { requiredKeys: [] },
  ),
  redeemers: fc.uniqueArray(redeemer, { maxLength: 3, selector: ({ tag, index }) => tag * 100 + index }),
  datums: fc.uniqueArray(data, { maxLength: 2, selector: String }),
  languages: fc.uniqueArray(fc.constantFrom(3, 6, 7), { maxLength: 3 }),
  metadata: fc.option(fc.string({ maxLength: 16 })),
  honestHashes: fc.boolean(),
  signing,
})
type Content = typeof content extends fc.Arbitrary<infer T> ? T : never

/** The bytes of possibly invalid transactions (unusual amounts, signatures, intervals), in any encoding. */
export const mutants: fc.Arbitrary<Uint8Array> = fc.tuple(content, style).map(([of, how]) => encode(of, how))

function encode(of: Content, how: Style): Uint8Array {
  const auxiliaryData =
    of.metadata === null ? undefined : new CborWriter().map(1).uint(674).text(of.metadata).toBytes()
  const body = encodeMap(bodyFields(of, how, auxiliaryData), how.fieldOrder, how.indefiniteBody)
  const witnesses = new CborWriter()
  const fields = witnessFields(of, how, blake2b256(body))
  witnesses.map(fields.length)
  for (const [key, value] of fields) witnesses.uint(key).raw(value)
  const writer = new CborWriter().array(4).raw(body).raw(witnesses.toBytes()).boolean(true)
  return (auxiliaryData ? writer.raw(auxiliaryData) : writer.null()).toBytes()
}

function bodyFields(
  { inputs, outputs, fee: paid, optional, honestHashes }: Content,
  how: Style,
  auxiliaryData: Uint8Array | undefined,
): readonly (readonly [number, Uint8Array])[] {
  const fields: [number, Uint8Array][] = [
    [0, encodeItems(unique(inputs), how, true)],
    [1, encodeItems(outputs, how, false)],
    [2, encodeWide(paid, how.feeWidth)],
  ]
  const { invalidHereafter, invalidBefore, mint, scriptDataHash, requiredSigners, networkId } = optional
  if (invalidHereafter !== undefined) fields.push([3, encodeUint(invalidHereafter)])
  if (honestHashes && auxiliaryData) fields.push([7, encodeBytes(blake2b256(auxiliaryData))])
  else if (optional.auxiliaryDataHash) fields.push([7, encodeBytes(optional.auxiliaryDataHash)])
  if (invalidBefore !== undefined) fields.push([8, encodeUint(invalidBefore)])
  if (mint) fields.push([9, encodeAssets(mint)])
  if (scriptDataHash) fields.push([11, encodeBytes(scriptDataHash)])
  if (requiredSigners) fields.push([14, encodeItems(requiredSigners.map(encodeBytes), how, true)])
  if (networkId !== undefined) fields.push([15, encodeUint(networkId)])
  return fields
}

function witnessFields(
  { signing: { signers, flippedBit }, redeemers, datums, languages }: Content,
  how: Style,
  id: Uint8Array,
): readonly (readonly [number, Uint8Array])[] {
  const fields: [number, Uint8Array][] = []
  if (signers.length > 0) {
    const witnesses = signers.map((name, position) => {
      const key = keyOf(name)
      const bytes = Uint8Array.of(...key.publicKey, ...key.sign(id))
      if (position === 0 && flippedBit >= 0) bytes[flippedBit >> 3]! ^= 1 << (flippedBit & 7)
      return new CborWriter().array(2).bytes(bytes.subarray(0, 32)).bytes(bytes.subarray(32)).toBytes()
    })
    fields.push([0, encodeItems(witnesses, how, true)])
  }
  for (const key of [...languages].sort()) fields.push([key, encodeItems([encodeBytes(program)], how, true)])
  if (datums.length > 0) fields.push([4, encodeItems(datums, how, true)])
  if (redeemers.length > 0) fields.push([5, encodeRedeemers(redeemers, how)])
  return fields
}

function encodeRedeemers(
  redeemers: readonly Redeemer[],
  { redeemersAsList, indefiniteLists }: Style,
): Uint8Array {
  const writer = new CborWriter()
  if (redeemersAsList) {
    if (indefiniteLists) writer.indefiniteArray()
    else writer.array(redeemers.length)
    for (const redeemer of redeemers) {
      writer.array(4).uint(redeemer.tag).uint(redeemer.index).raw(redeemer.data)
      writer.array(2).uint(redeemer.memory).uint(redeemer.steps)
    }
    return (indefiniteLists ? writer.break() : writer).toBytes()
  }
  if (indefiniteLists) writer.indefiniteMap()
  else writer.map(redeemers.length)
  for (const redeemer of redeemers) {
    writer.array(2).uint(redeemer.tag).uint(redeemer.index).array(2).raw(redeemer.data)
    writer.array(2).uint(redeemer.memory).uint(redeemer.steps)
  }
  return (indefiniteLists ? writer.break() : writer).toBytes()
}

function encodeItems(
  items: readonly Uint8Array[],
  { indefiniteLists, untaggedSets }: Style,
  isSet: boolean,
): Uint8Array {
  const writer = new CborWriter()
  if (isSet && !untaggedSets) writer.tag(258)
  if (indefiniteLists) writer.indefiniteArray()
  else writer.array(items.length)
  for (const item of items) writer.raw(item)
  return (indefiniteLists ? writer.break() : writer).toBytes()
}

function encodeMap(
  fields: readonly (readonly [number, Uint8Array])[],
  order: readonly number[],
  indefinite: boolean,
): Uint8Array {
  const writer = new CborWriter()
  if (indefinite) writer.indefiniteMap()
  else writer.map(fields.length)
  const weighted = fields.map((field, position) => ({ field, weight: order[position] ?? position }))
  for (const { field } of weighted.sort((a, b) => a.weight - b.weight)) writer.uint(field[0]).raw(field[1])
  return (indefinite ? writer.break() : writer).toBytes()
}

function encodeWide(value: bigint, width: 0 | 4 | 8): Uint8Array {
  if (width === 0) return encodeUint(value)
  const bytes = Buffer.alloc(1 + width, 0)
  bytes[0] = width === 4 ? 0x1a : 0x1b
  if (width === 4) bytes.writeUInt32BE(Number(value), 1)
  else bytes.writeBigUInt64BE(value, 1)
  return new Uint8Array(bytes)
}

function unique(items: readonly Uint8Array[]): readonly Uint8Array[] {
  return [...new Map(items.map((item) => [Buffer.from(item).toString('hex'), item])).values()]
}
