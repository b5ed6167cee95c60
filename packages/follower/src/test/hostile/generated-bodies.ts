import { bodyOf, encodeBlockBody } from '@ratatosk/block'
import { CborWriter, compareBytes } from '@ratatosk/cbor'
import { encodeOutputReference } from '@ratatosk/ledger'

/** Bytes that the transactions of a block may have: 1,024 chunks of the largest one. */
const mostBytes = 1024 * 16_384

/** Numbers from a seed. */
export type Random = (below: number) => number

/** Mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

function bytesOf(length: number, random: Random): Uint8Array {
  const bytes = new Uint8Array(length)
  const view = new DataView(bytes.buffer)
  for (let at = 0; at + 4 <= length; at += 4) view.setUint32(at, random(2 ** 32))
  return bytes
}

const address = new Uint8Array(29).fill(1)
address[0] = 0x60

/** A transaction that decodes: `list` is a list of references, `many` how many of each it has. */
function transaction(
  random: Random,
  { inputs = 1, outputs = 0, read = 0, fee = 0, like = undefined as Uint8Array | undefined },
): Uint8Array {
  const writer = new CborWriter(200 + 40 * (inputs + outputs + read)).array(4).map(3 + Number(read > 0))
  const references = (count: number) => {
    writer.array(count)
    for (let i = 0; i < count; i++) {
      writer
        .array(2)
        .bytes(like ?? bytesOf(32, random))
        .uint(like ? i : random(24))
    }
  }
  writer.uint(0)
  references(inputs)
  writer.uint(1).array(outputs)
  for (let i = 0; i < outputs; i++)
    writer
      .array(2)
      .bytes(address)
      .uint(i % 24)
  writer.uint(2).uint(fee)
  if (read > 0) {
    writer.uint(18)
    references(read)
  }
  return writer.map(0).boolean(true).null().toBytes()
}

/** Bytes that the ledger does not decode, and whose outputs the scripts read nevertheless. */
function undecoded(random: Random, outputs: number): Uint8Array {
  const writer = new CborWriter().array(4).map(4).uint(0).array(1).array(2).bytes(bytesOf(32, random)).uint(0)
  writer.uint(1).array(outputs)
  for (let i = 0; i < outputs; i++) writer.array(2).bytes(address).uint(0)
  return writer.uint(2).uint(0).uint(6).uint(0).map(0).boolean(true).null().toBytes()
}

const shapes: Record<string, (random: Random) => Uint8Array> = {
  'one input each': (random) => transaction(random, {}),
  'many outputs': (random) => transaction(random, { outputs: 480 }),
  'the largest': (random) => transaction(random, { outputs: 1980 }),
  'many inputs': (random) => transaction(random, { inputs: 300 }),
  'many of one id': (random) =>
    transaction(random, { inputs: 300, like: bytesOf(32, random).fill(7, 0, 31) }),
  'reads only': (random) => transaction(random, { inputs: 0, read: 400, fee: random(2 ** 32) }),
  // The trie of the outputs takes them.
  'outputs of nothing': (random) => transaction(random, { inputs: 0, outputs: 480, fee: random(2 ** 32) }),
  'one read each': (random) => transaction(random, { inputs: 0, read: 1, fee: random(2 ** 32) }),
  'undecoded outputs': (random) => undecoded(random, 70),
  'the same again': () => transaction(randomOf(1), { inputs: 3, outputs: 40 }),
  garbage: (random) => bytesOf(48 + random(60_000), random),
  'nested deeply': (random) => new Uint8Array(30_000 + random(30_000)).fill(0x81).fill(0x84, 0, 1),
  mixed: (random) => transaction(random, { inputs: random(30), outputs: random(50), read: random(10) }),
}

/** Bytes that an attacked process may hold more than before: caches of the store and of the engine. */
export const mostHeldMore = 64_000_000

/** The share of the largest body that the body with a number has: every 61st is as large as it may be. */
export const shareOf = (n: number): number => (n % 61 === 7 ? 1 : 0.1 / 2 ** (n % 6))

export const shapeNames = Object.keys(shapes)

/** The transactions of a body of a shape, one at least. @param share of the bytes that a block may have */
export function transactionsOf(shape: string, share: number, random: Random): readonly Uint8Array[] {
  const make = shapes[shape] as (random: Random) => Uint8Array
  const list: Uint8Array[] = []
  for (let left = mostBytes * share; ; ) {
    const next = make(random)
    left -= next.length + 3
    if (left < 0 && list.length > 0) return list
    list.push(next)
  }
}

/** The encoding of a body whose lists do not follow from its transactions, as long as the grammar allows. */
export function lyingBody(transactions: readonly Uint8Array[], random: Random): Uint8Array {
  const bytes = transactions.reduce((sum, { length }) => sum + length, 0)
  const count = Math.floor(bytes / 36)
  const outrefs = Array.from({ length: count }, () =>
    encodeOutputReference({ transactionId: bytesOf(32, random), index: random(65_536) }),
  ).sort(compareBytes)
  const half = Math.floor(random(count + 1))
  const produced = outrefs.slice(half).map((outref) => ({ outref, output: bytesOf(random(33), random) }))
  return encodeBlockBody({ transactions, spent: outrefs.slice(0, half), produced })
}

export const honestBody = (transactions: readonly Uint8Array[]): Uint8Array =>
  encodeBlockBody(bodyOf(transactions))
