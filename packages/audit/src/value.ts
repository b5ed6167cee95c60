import { type CborReader, readMapOf, toHex } from '@ratatosk/cbor'

/** Lovelace, and quantities by policy and asset name in hex, joined. */
export interface OutputValue {
  readonly lovelace: bigint
  readonly assets: ReadonlyMap<string, bigint>
}

/** A sum of values. Assets whose sum is zero are not in it. */
export class Sum {
  lovelace = 0n
  readonly assets = new Map<string, bigint>()

  /** Adds a value a number of times, which may be -1. */
  add({ lovelace, assets }: OutputValue, times = 1n): this {
    this.lovelace += times * lovelace
    for (const [asset, quantity] of assets) {
      const sum = (this.assets.get(asset) ?? 0n) + times * quantity
      if (sum === 0n) this.assets.delete(asset)
      else this.assets.set(asset, sum)
    }
    return this
  }

  get isZero(): boolean {
    return this.lovelace === 0n && this.assets.size === 0
  }
}

const noAssets: ReadonlyMap<string, bigint> = new Map()

/** Lovelace alone. */
export const ada = (lovelace: bigint): OutputValue => ({ lovelace, assets: noAssets })

/** Reads the value of an output: lovelace, or lovelace and assets. */
function readValue(reader: CborReader): OutputValue {
  if (reader.peek() >> 5 === 0) return ada(reader.readUint64())
  const start = reader.position
  const count = reader.readArray()
  const lovelace = reader.readUint64()
  const assets = readAssets(reader)
  reader.leaveArray(count, 2, start)
  return { lovelace, assets }
}

/** Reads quantities by policy and name; those of a mint may be negative. */
export function readAssets(reader: CborReader): ReadonlyMap<string, bigint> {
  const assets = new Map<string, bigint>()
  const readHex = (item: CborReader) => toHex(item.readBytes())
  readMapOf(reader, readHex, (names, policy) => {
    readMapOf(names, readHex, (item, name) => {
      const quantity = item.readInt()
      if (quantity !== 0n) assets.set(policy + name, quantity)
    })
  })
  return assets
}

/** The value of an output. @param output CBOR: a map, or an array as before Babbage @throws DecodeError */
export function outputValue(reader: CborReader): OutputValue {
  if (reader.peek() >> 5 === 4) {
    const count = reader.readArray()
    reader.skip()
    const value = readValue(reader)
    let index = 2
    for (; reader.hasNext(count, index); index++) reader.skip()
    return value
  }
  let value: OutputValue | undefined
  readMapOf(
    reader,
    (key) => key.readUint(),
    (item, key) => {
      if (key === 1) value = readValue(item)
      else item.skip()
    },
  )
  if (value === undefined) throw reader.error('CBOR_MISSING_FIELD', 'an output without a value')
  return value
}

/** What differs between two values, for people: `-5 lovelace, +1 ab…`. Names at most four assets. */
export function textOf({ lovelace, assets }: OutputValue): string {
  const parts = [`${lovelace} lovelace`]
  for (const [asset, quantity] of [...assets].slice(0, 4)) parts.push(`${quantity} ${asset}`)
  if (assets.size > 4) parts.push(`${assets.size - 4} further assets`)
  return parts.join(', ')
}
