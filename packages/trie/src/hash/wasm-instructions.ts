/** The bytes of instructions of WebAssembly. */
export type Code = readonly number[]

/** An unsigned number in LEB128. */
export function unsigned(value: number): number[] {
  const rest = value >>> 7
  return rest === 0 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(rest)]
}

/** A signed number in LEB128. */
function signed(value: bigint): number[] {
  const low = Number(value & 0x7fn)
  const rest = value >> 7n
  const isEnd = rest === (low & 0x40 ? -1n : 0n)
  return isEnd ? [low] : [low | 0x80, ...signed(rest)]
}

export const i32 = 0x7f
export const i64 = 0x7e
export const v128 = 0x7b

export const get = (local: number): Code => [0x20, ...unsigned(local)]
export const set = (local: number): Code => [0x21, ...unsigned(local)]
export const i32Const = (value: number): Code => [0x41, ...signed(BigInt(value))]
export const i64Const = (value: bigint): Code => [0x42, ...signed(BigInt.asIntN(64, value))]
export const i64Load = (offset: number): Code => [0x29, 3, ...unsigned(offset)]
export const i64Store = (offset: number): Code => [0x37, 3, ...unsigned(offset)]
export const vector = (code: number, ...immediates: number[]): Code => [
  0xfd,
  ...unsigned(code),
  ...immediates,
]
export const vectorLoad = (offset: number): Code => vector(0x00, 3, ...unsigned(offset))
export const vectorStore = (offset: number): Code => vector(0x0b, 3, ...unsigned(offset))
/** A vector with the same word twice. */
export const vectorConst = (word: bigint): Code => {
  const bytes = Array.from({ length: 8 }, (_, i) => Number((word >> BigInt(8 * i)) & 0xffn))
  return vector(0x0c, ...bytes, ...bytes)
}
export const shuffle = (lanes: readonly number[]): Code => vector(0x0d, ...lanes)
export const range = (from: number): number[] => Array.from({ length: 8 }, (_, i) => from + i)
/** Of two vectors, the first words and the second words. */
export const firstWords = shuffle([...range(0), ...range(16)])
export const secondWords = shuffle([...range(8), ...range(24)])
