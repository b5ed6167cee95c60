import type { Draw } from './draw.js'

/** Bytes with one exchanged, removed, inserted or repeated, or a part of them moved. */
export function mutatedBytes(bytes: Uint8Array, draw: Draw): Uint8Array {
  const place = draw(bytes.length)
  const length = 1 + draw(draw(4) === 0 ? 40 : 2)
  const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)]
  const heads = [0x00, 0x18, 0x20, 0x40, 0x58, 0x5f, 0x80, 0x9f, 0xa0, 0xbf, 0xc0, 0xd9, 0xf6, 0xff]
  switch (draw(5)) {
    case 0:
      return bytes.with(place, draw(256))
    case 1:
      return bytes.with(place, heads[draw(heads.length)]!)
    case 2:
      return Uint8Array.of(...before, ...after.subarray(length))
    case 3:
      return Uint8Array.of(...before, heads[draw(heads.length)]!, ...after)
    default:
      return Uint8Array.of(...before, ...bytes.subarray(place, place + length), ...after)
  }
}
