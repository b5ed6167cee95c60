import { type CborReader, readMapOf, readRecord, toHex } from '@ratatosk/cbor'

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

/** Bytes of a policy id, and most bytes of an asset name. */
const policyBytes = 28
const maxNameBytes = 32

/** The ledger packs the assets of a value into as many bytes: numbers (12 for each), names, policies. */
const maxPackedBytes = 65_535

/** Reads the value of an output: lovelace, or lovelace and assets, each quantity from 1 to 2^64 - 1. */
export function readValue(reader: CborReader): OutputValue {
  if (reader.peekMajor() === 0) return ada(reader.readUint64())
  return readRecord(reader, 2, (pair) => ({
    lovelace: pair.readUint64(),
    assets: readAssets(pair, (quantity) => quantity.readUint64()),
  }))
}

/** Reads what is minted, or burned if negative: from -2^63 to 2^63 - 1. */
export const readMint = (reader: CborReader): ReadonlyMap<string, bigint> => {
  const start = reader.position
  const assets = readAssets(reader, (quantity) => quantity.readInt64())
  if (assets.size === 0) throw reader.error('CBOR_EMPTY', 'a mint of nothing', start)
  return assets
}

/** Reads quantities by policy and name. None is zero, and no policy is without assets. */
function readAssets(
  reader: CborReader,
  readQuantity: (reader: CborReader) => bigint,
): ReadonlyMap<string, bigint> {
  const start = reader.position
  const assets = new Map<string, bigint>()
  const policies = readMapOf(reader, readPolicy, (names, policy) => {
    const before = assets.size
    const namesStart = names.position
    readMapOf(names, readName, (item, name) => {
      const quantityStart = item.position
      const quantity = readQuantity(item)
      if (quantity === 0n) throw item.error('CBOR_OUT_OF_RANGE', 'a quantity of zero', quantityStart)
      assets.set(policy + name, quantity)
    })
    if (assets.size === before) throw names.error('CBOR_EMPTY', 'a policy without assets', namesStart)
  })
  if ((12 + maxNameBytes) * assets.size + policyBytes * policies.size > maxPackedBytes)
    throw reader.error('CBOR_OUT_OF_RANGE', `${assets.size} assets in one value`, start)
  return assets
}

const readPolicy = (reader: CborReader): string => toHex(reader.readBytesOf(policyBytes))

function readName(reader: CborReader): string {
  const start = reader.position
  const name = reader.readBytes()
  if (name.length > maxNameBytes)
    throw reader.error('CBOR_OUT_OF_RANGE', `an asset name of ${name.length} bytes`, start)
  return toHex(name)
}

/** The differences between two values, for people: `-5 lovelace, +1 ab…`. Names at most four assets. */
export function textOf({ lovelace, assets }: OutputValue): string {
  const parts = [`${lovelace} lovelace`]
  for (const [asset, quantity] of [...assets].slice(0, 4)) parts.push(`${quantity} ${asset}`)
  if (assets.size > 4) parts.push(`${assets.size - 4} further assets`)
  return parts.join(', ')
}
