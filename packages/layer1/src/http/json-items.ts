import { parseJson } from './json.js'

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c]
const [openList, openObject, closeList, closeObject] = [0x5b, 0x7b, 0x5d, 0x7d]
const blanks: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d])

/** Reads the items of a JSON array while its bytes arrive. */
export interface JsonItems {
  /** The items that end in the next bytes. @throws SyntaxError */
  take(bytes: Uint8Array): unknown[]
  /** @throws SyntaxError if the array has not ended */
  end(): void
}

/** For arrays that are too long to be parsed at once. Integers are read as by {@link parseJson}. */
export function createJsonItems(): JsonItems {
  /** The beginning of an item, from earlier bytes. */
  let begun: Uint8Array[] = []
  let depth = 0
  let inString = false
  let isEscaped = false
  let count = 0
  let hasEnded = false

  function itemOf(rest: Uint8Array, isLast: boolean): unknown[] {
    const text = Buffer.concat([...begun, rest]).toString('utf8')
    begun = []
    if (isLast && count === 0 && text.trim() === '') return []
    count++
    return [parseJson(text)]
  }

  /** Outside the array. @returns whether it begins */
  function begins(byte: number | undefined): boolean {
    if (blanks.has(byte)) return false
    if (byte !== openList || hasEnded) throw new SyntaxError('not an array')
    depth = 1
    return true
  }

  return {
    take(bytes) {
      const items: unknown[] = []
      let start = 0
      for (let at = 0; at < bytes.length; at++) {
        const byte = bytes[at]
        if (inString) {
          if (isEscaped) isEscaped = false
          else if (byte === backslash) isEscaped = true
          else if (byte === quote) inString = false
        } else if (depth === 0) {
          if (begins(byte)) start = at + 1
        } else if (byte === quote) inString = true
        else if (byte === openList || byte === openObject) depth++
        else if (byte === comma && depth === 1) {
          items.push(...itemOf(bytes.subarray(start, at), false))
          start = at + 1
        } else if ((byte === closeList || byte === closeObject) && --depth === 0) {
          items.push(...itemOf(bytes.subarray(start, at), true))
          hasEnded = true
        }
      }
      if (depth > 0) begun.push(bytes.subarray(start))
      return items
    },
    end() {
      if (!hasEnded) throw new SyntaxError('the array has no end')
    },
  }
}
