/** An item of CBOR, as the scripts walk it. */
export interface Item {
  /** With its head. */
  readonly bytes: Uint8Array
  /** Of the head: the value of a number, the length of a string; −1 for an indefinite length. */
  readonly argument: bigint
  /** Of an array or a tag; of a map keys and values in turn; of a string of indefinite length its chunks. */
  readonly items: readonly Item[]
}

/**
 * The first flaw on a walk through bytes. `malformed`: not one item to the end. `unreadable`: too many items,
 * or a head that is not in its shortest form.
 */
export type Flaw = 'malformed' | 'unreadable'

class FlawError extends Error {
  constructor(readonly flaw: Flaw) {
    super(flaw)
  }
}

/**
 * Reads the items that the scripts read, more than the ledger decodes: chunks of strings may be any items.
 * `maxItems` bounds the effort; with `anyHeads`, heads may be longer than needed.
 */
export function itemIn(cbor: Uint8Array, maxItems: number, anyHeads = false): Item | Flaw {
  let [place, count] = [0, 0]

  const refuse = (flaw: Flaw): never => {
    throw new FlawError(flaw)
  }

  function argumentOf(first: number): bigint {
    const [major, info] = [first >> 5, first & 31]
    if (info < 24) return BigInt(info)
    if (info === 31) return major > 1 && major < 6 ? -1n : refuse('malformed')
    if (info > 27) return refuse('malformed')
    const width = 2 ** (info - 24)
    let argument = 0n
    for (const byte of cbor.subarray(place, place + width)) argument = argument * 256n + BigInt(byte)
    if (!anyHeads && major < 7 && argument < (width === 1 ? 24n : 2n ** BigInt(4 * width)))
      refuse('unreadable')
    place += width
    return argument
  }

  function itemsToBreak(stride: number): Item[] {
    const items: Item[] = []
    while (cbor[place] !== 0xff || items.length % stride > 0) items.push(read())
    place++
    return items
  }

  function itemsOf(number: bigint): Item[] {
    const items: Item[] = []
    while (items.length < number) items.push(read())
    return items
  }

  function contentOf(major: number, argument: bigint): Item[] {
    if (argument < 0n) return itemsToBreak(major === 5 ? 2 : 1)
    if (major === 2 || major === 3) place += Number(argument)
    return itemsOf([0n, 0n, 0n, 0n, argument, 2n * argument, 1n, 0n][major] as bigint)
  }

  function read(): Item {
    const start = place
    const first = cbor[place++]
    if (first === undefined) return refuse('malformed')
    if (++count > maxItems) return refuse('unreadable')
    const argument = argumentOf(first)
    const items = contentOf(first >> 5, argument)
    if (place > cbor.length) return refuse('malformed')
    return { bytes: cbor.subarray(start, place), argument, items }
  }

  try {
    const item = read()
    return place === cbor.length ? item : 'malformed'
  } catch (error) {
    if (error instanceof FlawError) return error.flaw
    throw error
  }
}
