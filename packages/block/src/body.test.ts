import { CborWriter, compareBytes, isWellFormed } from '@ratatosk/cbor'
import { encodeOutputReference } from '@ratatosk/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type BlockBody,
  type BodyPart,
  decodeBlockBody,
  encodeBlockBody,
  encodeBlockBodyStream,
  partsOfBody,
  readEncodedBody,
} from './body.js'
import { bodyOf } from './derivation/derive.js'
import { BlockError } from './errors.js'
import { vector } from './test/vector.js'

const hex = (text: string) => new Uint8Array(Buffer.from(text.replace(/\s/g, ''), 'hex'))

const hexOf = (list: readonly Uint8Array[]) => list.map((bytes) => Buffer.from(bytes).toString('hex'))

const references = fc
  .uniqueArray(
    fc.record({
      transactionId: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      index: fc.nat({ max: 0xffff }),
    }),
    { maxLength: 8, selector: (reference) => encodeOutputReference(reference).toString() },
  )
  .map((list) => list.map(encodeOutputReference).sort(compareBytes))

/** Lengths on both sides of each boundary at which a head grows by a byte. */
const byteStrings = fc
  .oneof(fc.nat({ max: 30 }), fc.integer({ min: 250, max: 260 }), fc.constantFrom(65_535, 65_536))
  .chain((length) => fc.nat({ max: 255 }).map((byte) => new Uint8Array(length).fill(byte)))

const bodies: fc.Arbitrary<BlockBody> = fc.record({
  transactions: fc.array(
    byteStrings.map((bytes) => bytes.subarray(0, 65_525)),
    { maxLength: 30 },
  ),
  spent: references,
  produced: references.chain((outrefs) =>
    fc
      .array(byteStrings, { minLength: outrefs.length, maxLength: outrefs.length })
      .map((outputs) => outrefs.map((outref, i) => ({ outref, output: outputs[i]! }))),
  ),
})

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array, void> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

/** Lists of any length, whatever their transactions have room for. */
const unlimited = Number.POSITIVE_INFINITY

async function partsIn(pieces: AsyncIterable<Uint8Array>, maxBytes?: number): Promise<BodyPart[]> {
  const all: BodyPart[] = []
  for await (const parts of partsOfBody(pieces, maxBytes)) all.push(...parts)
  return all
}

function codeOf(bytes: Uint8Array, maxBytes?: number): string {
  try {
    decodeBlockBody(bytes, maxBytes)
    return 'accepted'
  } catch (error) {
    if (error instanceof BlockError) return error.code
    throw error
  }
}

describe('the encoding of a body', () => {
  it('round-trips, whole and in pieces of any size', async () => {
    await fc.assert(
      fc.asyncProperty(bodies, fc.integer({ min: 1, max: 300 }), async (body, pieces) => {
        const bytes = encodeBlockBody(body)
        expect(isWellFormed(bytes)).toBe(true)
        const parts = await partsIn(cut(bytes, Math.ceil(bytes.length / pieces)), unlimited)
        const collected = {
          transactions: parts.flatMap((part) => (part.kind === 'transaction' ? [part.cbor] : [])),
          spent: parts.flatMap((part) => (part.kind === 'spent' ? [part.outref] : [])),
          produced: parts.flatMap((part) => (part.kind === 'produced' ? [part] : [])),
        }
        const viewed = await readEncodedBody(cut(bytes, Math.ceil(bytes.length / pieces)), unlimited)
        expect(Buffer.compare(viewed.bytes, bytes)).toBe(0)
        for (const decoded of [decodeBlockBody(bytes, unlimited), collected, viewed]) {
          expect(hexOf(decoded.transactions)).toEqual(hexOf(body.transactions))
          expect(hexOf(decoded.spent)).toEqual(hexOf(body.spent))
          expect(decoded.produced.map(({ outref, output }) => hexOf([outref, output]))).toEqual(
            body.produced.map(({ outref, output }) => hexOf([outref, output])),
          )
        }
      }),
      { numRuns: 50 },
    )
  })

  it('is the same when the transactions are streamed', async () => {
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        async function* transactions() {
          yield* body.transactions
        }
        const pieces: Uint8Array[] = []
        for await (const piece of encodeBlockBodyStream(body.transactions.length, transactions(), () => body))
          pieces.push(piece)
        expect(Buffer.concat(pieces).equals(encodeBlockBody(body))).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  it('fails when another number of transactions is streamed than announced', async () => {
    async function* one() {
      yield Uint8Array.of(1)
    }
    const writing = async (count: number) => {
      for await (const _ of encodeBlockBodyStream(count, one(), () => ({ spent: [], produced: [] })));
    }
    await expect(writing(0)).rejects.toThrow(RangeError)
    await expect(writing(2)).rejects.toThrow(RangeError)
    await writing(1)
  })
})

describe('the decoder', () => {
  it('accepts only the canonical encoding of what it decodes', () => {
    const bytes = vector('body')
    const random = fc.record({ at: fc.nat({ max: bytes.length - 1 }), bit: fc.nat({ max: 7 }) })
    fc.assert(
      fc.property(fc.array(random, { minLength: 1, maxLength: 3 }), (flips) => {
        const flipped = Uint8Array.from(bytes)
        for (const { at, bit } of flips) flipped[at] = flipped[at]! ^ (1 << bit)
        if (codeOf(flipped) === 'accepted')
          expect(Buffer.compare(encodeBlockBody(decodeBlockBody(flipped)), flipped)).toBe(0)
      }),
      { numRuns: 2000 },
    )
  })

  it('refuses every proper prefix and every trailing byte', () => {
    const bytes = vector('body')
    for (let length = 0; length < bytes.length; length++)
      expect(codeOf(bytes.subarray(0, length))).toBe('BLOCK_BODY_MALFORMED')
    for (const byte of [0x00, 0x80, 0xff])
      expect(codeOf(Uint8Array.of(...bytes, byte))).toBe('BLOCK_BODY_MALFORMED')
    expect(codeOf(bytes)).toBe('accepted')
  })

  const low = `8258 20${'11'.repeat(32)}`
  const high = `825820${'22'.repeat(32)}`

  it.each<[string, string]>([
    ['the empty body', '85 80 80 80 80 80'],
    ['ascending references', `85 80 83 ${low}00 ${low}17 ${low}1818 80 80 80`],
    ['the greatest index', `85 80 81 ${low}19ffff 80 80 80`],
    ['ascending outputs', `85 80 80 82 82${low}0041ff 82${high}0040 80 80`],
  ])('accepts %s', (_what, text) => {
    expect(codeOf(hex(text), unlimited)).toBe('accepted')
  })

  it.each<[string, string]>([
    ['four lists', '84 80 80 80 80'],
    ['six lists', '86 80 80 80 80 80 80'],
    ['a map', 'a0'],
    ['a tagged body', 'd84585 80 80 80 80 80'],
    ['lists of indefinite length', '9f 80 80 80 80 80 ff'],
    ['a list of indefinite length', '85 9fff 80 80 80 80'],
    ['an array head of two bytes instead of one', '9805 80 80 80 80 80'],
    ['a count of two bytes instead of one', '85 9800 80 80 80 80'],
    ['a length of two bytes instead of one', '85 81 5801ff 80 80 80 80'],
    [
      'a length of three bytes instead of two',
      '85 81 590018 000000000000000000000000000000000000000000000000 80 80 80 80',
    ],
    ['a length of nine bytes instead of one', '85 81 5b0000000000000001ff 80 80 80 80'],
    ['a transaction in chunks', '85 81 5f41ffff 80 80 80 80'],
    ['a transaction as an item', '85 81 84a0a0f5f6 80 80 80 80'],
    ['a reserved head', '85 9c 80 80 80 80'],
    ['an index of two bytes instead of one', `85 80 81 ${low}1817 80 80 80`],
    ['an index of three bytes instead of two', `85 80 81 ${low}190018 80 80 80`],
    ['an index over 65535', `85 80 81 ${low}1a00010000 80 80 80`],
    ['a negative index', `85 80 81 ${low}20 80 80 80`],
    ['a short transaction id', `85 80 81 82581f${'11'.repeat(31)}00 80 80 80`],
    ['a reference of three items', `85 80 81 83${low.slice(2)}0000 80 80 80`],
    ['a reference twice', `85 80 82 ${low}00 ${low}00 80 80 80`],
    ['references out of order', `85 80 82 ${high}00 ${low}00 80 80 80`],
    ['indices out of order', `85 80 82 ${low}1818 ${low}17 80 80 80`],
    ['outputs out of order', `85 80 80 82 82${high}0040 82${low}0040 80 80`],
    ['an output twice', `85 80 80 82 82${low}0040 82${low}0041ff 80 80`],
    ['an output without its bytes', `85 80 80 81 81${low}00 80 80`],
    ['deposits', '85 80 80 80 8140 80'],
    ['withdrawals', '85 80 80 80 80 8140'],
  ])('refuses %s', (_what, text) => {
    expect(['BLOCK_BODY_MALFORMED', 'BLOCK_BODY_TOO_LARGE']).toContain(codeOf(hex(text), unlimited))
  })

  it('refuses a length over its limit before the content arrives', () => {
    const promises = [
      '85 9b00000002540be400', // 10,000,000,000 transactions
      '85 81 5b00000002540be400', // one of 10,000,000,000 bytes
      '85 995320', // 21,280 transactions, in less than 47 bytes each
      '85 80 996d00', // 27,904 references, in less than 36 bytes each
      '85 80 80 997660', // 30,304 outputs, in less than 33 bytes each
      `85 80 80 81 82${low}00 5a7fffffff`,
    ]
    for (const promise of promises) expect(codeOf(hex(promise), 1_000_000)).toBe('BLOCK_BODY_TOO_LARGE')
  })

  it('refuses lists for which the transactions that came have no room', () => {
    const transaction = `5830 ${'00'.repeat(48)}`
    // At most one reference and one output fit into 48 bytes.
    expect(codeOf(hex(`85 81${transaction} 81${low}00 80 80 80`))).toBe('accepted')
    expect(codeOf(hex(`85 81${transaction} 80 81 82${low}0041ff 80 80`))).toBe('accepted')
    for (const promise of [
      `85 81${transaction} 82`,
      `85 81${transaction} 80 82`,
      `85 80 81`,
      `85 80 80 81`,
      `85 81${transaction} 80 81 82${low}00 5831`,
    ])
      expect(codeOf(hex(promise))).toBe('BLOCK_BODY_TOO_LARGE')
  })

  it('accepts the body of any block, also of the smallest inputs and outputs', () => {
    const address = (kind: number) => {
      const bytes = new Uint8Array(kind === 0x40 ? 32 : 29).fill(1)
      bytes[0] = kind
      if (kind === 0x40) bytes.fill(0, 29)
      return bytes
    }
    const plans = fc.array(
      fc.record({
        inputs: fc.uniqueArray(fc.nat({ max: 23 }), { minLength: 1, maxLength: 24 }),
        outputs: fc.array(
          fc.record({ kind: fc.constantFrom(0x60, 0x70, 0x40), lovelace: fc.nat({ max: 30 }) }),
          { maxLength: 60 },
        ),
      }),
      { maxLength: 8 },
    )
    fc.assert(
      fc.property(plans, (block) => {
        const transactions = block.map(({ inputs, outputs }, n) => {
          const writer = new CborWriter().array(4).map(3).uint(0).array(inputs.length)
          for (const index of inputs) writer.array(2).bytes(new Uint8Array(32).fill(n)).uint(index)
          writer.uint(1).array(outputs.length)
          for (const { kind, lovelace } of outputs) writer.array(2).bytes(address(kind)).uint(lovelace)
          return writer.uint(2).uint(0).map(0).boolean(true).null().toBytes()
        })
        const body = bodyOf(transactions)
        expect(body.spent).toHaveLength(block.reduce((sum, { inputs }) => sum + inputs.length, 0))
        const bytes = encodeBlockBody(body)
        expect(codeOf(bytes)).toBe('accepted')
      }),
      { numRuns: 200 },
    )
  })

  it('stops when transactions have more bytes than those of a valid block', async () => {
    let given = 0
    async function* endless() {
      yield hex('85 995320')
      for (;;) {
        given++
        yield Buffer.concat([hex('594000'), new Uint8Array(16_384)])
      }
    }
    await expect(partsIn(endless())).rejects.toMatchObject({ code: 'BLOCK_BODY_TOO_LARGE' })
    expect(given).toBe(1025)
  })

  it('refuses a transaction that no proof shows, unless it was verified', async () => {
    const body = (length: number) =>
      encodeBlockBody({ transactions: [new Uint8Array(length)], spent: [], produced: [] })
    expect(codeOf(body(65_525))).toBe('accepted')
    expect(codeOf(body(65_526))).toBe('BLOCK_BODY_TOO_LARGE')
    expect(decodeBlockBody(body(65_526), Number.POSITIVE_INFINITY).transactions).toHaveLength(1)
  })

  it('stops at its limit when the input never ends', async () => {
    let given = 0
    async function* endless() {
      // A valid prefix of a body: transactions of 1,000 bytes.
      yield hex('85 992fff')
      for (;;) {
        given++
        yield Buffer.concat([hex('5903e8'), new Uint8Array(1000)])
      }
    }
    await expect(partsIn(endless(), 3_000_000)).rejects.toMatchObject({ code: 'BLOCK_BODY_TOO_LARGE' })
    expect(given).toBe(Math.ceil(3_000_000 / 1003))
  })
})

describe('deposits', () => {
  const id = (byte: number) => new Uint8Array(32).fill(byte)
  const deposits = [1, 2].map((byte) => ({ id: id(byte), output: new Uint8Array(60).fill(byte) }))
  const body = { transactions: [], spent: [], produced: [], deposits }
  const read = (bytes: Uint8Array, mayCredit?: boolean) => decodeBlockBody(bytes, undefined, mayCredit)

  it('round-trip, also in pieces, where there is a bridge', async () => {
    const bytes = encodeBlockBody(body)
    expect(read(bytes, true)).toEqual(body)
    const viewed = await readEncodedBody(cut(bytes, 7), undefined, true)
    expect(viewed.deposits).toEqual(deposits)
    const parts = await partsIn(cut(bytes, 11), unlimited)
    expect(parts).toEqual(deposits.map((deposit) => ({ kind: 'deposit', ...deposit })))
  })

  it('may bring more outputs than transactions have room for', () => {
    const produced = deposits.map((each) => ({
      outref: encodeOutputReference({ transactionId: each.id, index: 0 }),
      output: each.output,
    }))
    expect(read(encodeBlockBody({ ...body, produced }), true).produced).toEqual(produced)
  })

  it.each([
    ['where there is no bridge', body, false],
    ['in another order', { ...body, deposits: deposits.toReversed() }, true],
    ['twice', { ...body, deposits: [deposits[0]!, deposits[0]!] }, true],
    ['with an id of 31 bytes', { ...body, deposits: [{ ...deposits[0]!, id: new Uint8Array(31) }] }, true],
  ])('are refused %s', (_, given, mayCredit) => {
    expect(() => read(encodeBlockBody(given), mayCredit)).toThrow(BlockError)
  })

  it('are refused beyond 16,384 bytes', () => {
    const output = new Uint8Array(16_385)
    const bytes = encodeBlockBody({ ...body, deposits: [{ id: id(1), output }] })
    expect(() => read(bytes, true)).toThrow(BlockError)
  })
})

describe('the test vector of docs/block-body.md', () => {
  it('decodes and re-encodes to the same bytes', () => {
    const body = decodeBlockBody(vector('body'))
    expect(body.transactions).toHaveLength(2)
    expect(body.spent).toHaveLength(1)
    expect(body.produced).toHaveLength(2)
    expect(encodeBlockBody(body)).toEqual(vector('body'))
  })
})
