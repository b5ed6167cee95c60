import { concatBytes } from '@ratatosk/cbor'
import fc from 'fast-check'
import type { Draw } from './draw.js'

/*
 * Transaction bodies in every encoding that the decoder accepts: definite and indefinite lengths, longer
 * heads than needed, tags or none, fields in any order, and fields that no fraud proof reads.
 */

const head = (major: number, value: number | bigint, width: number): Uint8Array => {
  const bytes = new Uint8Array(1 + width)
  bytes[0] = (major << 5) | (width === 0 ? Number(value) : 24 + Math.log2(width))
  for (let i = width, rest = BigInt(value); i > 0; i--, rest >>= 8n) bytes[i] = Number(rest & 0xffn)
  return bytes
}
const leastWidth = (value: number | bigint): number =>
  value < 24 ? 0 : value < 2 ** 8 ? 1 : value < 2 ** 16 ? 2 : value < 2 ** 32 ? 4 : 8

/** Encoders that draw the encoding. `looseHeads` allows heads that are not the shortest. */
export function looseEncoder(draw: Draw, looseHeads: boolean) {
  const anyHead = (major: number, value: number | bigint): Uint8Array => {
    const widths = [0, 1, 2, 4, 8].filter((width) => width >= leastWidth(value))
    const loose = looseHeads && draw(8) === 7
    return head(major, value, widths[loose ? draw(widths.length) : 0]!)
  }
  const uint = (value: number | bigint) => anyHead(0, value)
  const bytes = (value: Uint8Array) => concatBytes(anyHead(2, value.length), value)
  const array = (items: readonly Uint8Array[], definite = draw(4) < 3) =>
    definite
      ? concatBytes(anyHead(4, items.length), ...items)
      : concatBytes(Uint8Array.of(0x9f), ...items, Uint8Array.of(0xff))
  const map = (entries: readonly (readonly [Uint8Array, Uint8Array])[]) =>
    draw(4) < 3
      ? concatBytes(anyHead(5, entries.length), ...entries.flat())
      : concatBytes(Uint8Array.of(0xbf), ...entries.flat(), Uint8Array.of(0xff))
  const tag = (number: number, item: Uint8Array) => concatBytes(anyHead(6, number), item)
  const set = (items: readonly Uint8Array[]) => (draw(2) === 0 ? tag(258, array(items)) : array(items))
  return { uint, bytes, array, map, tag, set }
}

type Encoder = ReturnType<typeof looseEncoder>

const data = ({ uint, bytes, array, map, tag }: Encoder, draw: Draw, depth: number): Uint8Array => {
  const inner = () => data({ uint, bytes, array, map, tag } as Encoder, draw, depth - 1)
  switch (depth === 0 ? draw(2) : draw(6)) {
    case 0:
      return uint(draw(1 << 20))
    case 1:
      return bytes(new Uint8Array(draw(65)).fill(7))
    case 2:
      return array([inner(), inner()])
    case 3:
      return map([[inner(), inner()]])
    case 4:
      return tag(121 + draw(7), array([inner()]))
    default:
      return concatBytes(
        Uint8Array.of(0x5f),
        bytes(new Uint8Array(60)),
        bytes(new Uint8Array(9)),
        Uint8Array.of(0xff),
      )
  }
}

/** An output in the array form or the map form, with assets, datum hashes and inline datums. */
function looseOutput(encoder: Encoder, draw: Draw): Uint8Array {
  const { uint, bytes, array, map, tag } = encoder
  const address = bytes(Uint8Array.of(0x60, ...new Uint8Array(28).fill(draw(256))))
  const lovelace = BigInt(draw(2 ** 30)) * BigInt(1 + draw(2 ** 30))
  const policies = Array.from({ length: draw(3) }, (_, policy) => policy)
  const assets = policies.map((policy) => {
    const names = Array.from({ length: 1 + draw(3) }, (_, name) => name)
    const quantities = names.map(
      (name) => [bytes(new Uint8Array(name * 9).fill(name)), uint(1 + draw(2 ** 30))] as const,
    )
    return [bytes(new Uint8Array(28).fill(policy)), map(quantities)] as const
  })
  const value = draw(2) === 0 ? uint(lovelace) : array([uint(lovelace), map(assets)])
  const hash = bytes(new Uint8Array(32).fill(9))
  if (draw(3) === 2) return array(draw(2) === 0 ? [address, value] : [address, value, hash])
  const datum =
    draw(2) === 0 ? array([uint(0), hash]) : array([uint(1), tag(24, bytes(data(encoder, draw, 2)))])
  const fields: (readonly [Uint8Array, Uint8Array])[] = [
    [uint(0), address],
    [uint(1), value],
  ]
  if (draw(2) === 1) fields.push([uint(2), datum])
  return map(draw(4) === 3 ? fields.reverse() : fields)
}

/** A body that the decoder accepts. */
function looseBody(draw: Draw, looseHeads: boolean): Uint8Array {
  const encoder = looseEncoder(draw, looseHeads)
  const { uint, bytes, array, map, set } = encoder
  const indices = [0, 23, 24, 255, 256, 65_535]
  const reference = (id: number, index: number) =>
    array([bytes(new Uint8Array(32).fill(id)), uint(index)], looseHeads ? draw(8) < 7 : true)
  const references = (from: number, least: number) =>
    Array.from({ length: least + draw(5) }, (_, i) => reference(from + i, indices[draw(indices.length)]!))
  const fields: [number, Uint8Array][] = [
    [0, set(references(0, 0))],
    [1, array(Array.from({ length: draw(5) }, () => looseOutput(encoder, draw)))],
    [2, uint(BigInt(draw(2 ** 30)) * BigInt(draw(2 ** 30)))],
  ]
  if (draw(2) === 1) fields.push([18, set(references(100, 1))])
  if (draw(3) === 1) fields.push([3, uint(draw(2 ** 30))])
  if (draw(4) === 1) fields.push([14, set([bytes(new Uint8Array(28).fill(3))])])
  if (draw(4) === 1)
    fields.push([9, map([[bytes(new Uint8Array(28)), map([[bytes(new Uint8Array()), uint(5)]])]])])
  if (draw(4) === 1) fields.push([13, set(references(200, 1))])
  if (draw(2) === 1) fields.sort(() => draw(3) - 1)
  return map(fields.map(([key, value]) => [uint(key), value] as const))
}

/** Bodies by seed, so that a failure can be repeated. */
export const looseBodies = (looseHeads: boolean): fc.Arbitrary<Uint8Array> =>
  fc.infiniteStream(fc.nat(2 ** 31 - 1)).map((stream) => {
    const draw: Draw = (count) => (stream.next().value as number) % count
    return looseBody(draw, looseHeads)
  })
