import { blockVersion, chunkKey, encodeChunkRecord, partsOf } from '@ratatosk/block'
import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import { describe, expect, it } from 'vitest'
import { accuse } from './accused-block.js'
import { chunkFlaws } from './find-chunk-fraud.js'
import { partsAt, recordedAt } from './recorded.js'
import { step } from './smallest-proof.js'
import { accusation, blockOf, type Committed, framesOf } from './test/lying-blocks.js'
import { type Theft, theft } from './test/theft.js'

const hash = new Uint8Array(28)
const accused = (block: Committed) =>
  accuse(
    accusation(block, {
      ...block.roots,
      depositsRoot: new Uint8Array(32),
      withdrawalsRoot: new Uint8Array(32),
      startTime: 0n,
      endTime: 1n,
      prevHeaderHash: hash,
      operatorVkey: hash,
      blockVersion,
    }),
  )

/** A block with chunks that an operator states: each of as many transactions, without their bytes. */
function told(transactions: readonly Uint8Array[], counts: readonly number[]) {
  let first = 0
  return blockOf(transactions, {
    entries(map) {
      for (const key of map.keys()) if (key.length === 8) map.delete(key)
      for (const [number, count] of counts.entries()) {
        const chunkHash = blake2b256(framesOf(...transactions.slice(first, first + count)))
        const record = { first, chunks: counts.length, chunkHash }
        map.set(toHex(chunkKey(number)), encodeChunkRecord(record))
        first += count
      }
    },
  })
}

async function flawsOf(block: Committed) {
  const flaws = [...chunkFlaws(await accused(block))]
  return {
    found: flaws.flatMap((each) => (each === step ? [] : [each.flaw])),
    steps: flaws.filter((each) => each === step).length,
  }
}

const honest = theft({ inputs: [1] })
const hashOfNothing = blake2b256(new Uint8Array())
/** A field with a hash of auxiliary data. */
const annotated = (head: string) => [concatBytes(fromHex(head), hashOfNothing)]

describe('chunkFlaws', () => {
  it.each<[string, Theft, string[]]>([
    ['is right', {}, ['tooShort']],
    ['says that its scripts fail', { rest: fromHex('f4f6') }, ['strangeRest']],
    ['lacks auxiliary data', { before: annotated('075820') }, ['strangeRest']],
    ['lacks those of a hash that the script does not read', { before: annotated('07590020') }, []],
    ['has those of such a hash', { before: annotated('07590020'), rest: fromHex('f5') }, []],
  ])('finds what layer 1 can read where a transaction %s', async (_what, change, flaws) => {
    const { found } = await flawsOf(told([honest, theft(change)], [1, 1]))
    expect(found).toEqual(flaws)
  })

  const long = Array.from({ length: 5 }, (_, index) => theft({ inputs: [index], outputs: 330 }))
  const bytes = framesOf(...long).length

  it('finds claimed chunks of at most 64 KiB with the lengths of their frames', async () => {
    const room = 65_536 - bytes
    const filling = (length: number) => theft({ inputs: [9], rest: new Uint8Array(length).fill(0xf5) })
    const least = framesOf(filling(1)).length - 1
    const fits = filling(room - least)
    expect(framesOf(...long, fits)).toHaveLength(65_536)
    expect((await flawsOf(told([...long, fits], [6]))).found).toEqual(['malformed'])
    const longer = [...long, filling(room - least + 1)]
    expect((await flawsOf(told(longer, [6]))).found).toEqual([])
    const known = { ...told(longer, [6]), chunks: [framesOf(...longer)] }
    expect((await flawsOf(known)).found).toEqual([])
  })

  it('lets other work run at each entry and each transaction', async () => {
    const transactions = Array.from({ length: 40 }, (_, index) => theft({ inputs: [index] }))
    const { found, steps } = await flawsOf(blockOf(transactions))
    expect(found).toEqual([])
    // Entries: transactions, outputs that are spent and made, and one chunk.
    const entries = 3 * 40 + 1
    expect(steps).toBeGreaterThanOrEqual(entries + 3 * 40)
  })

  it('names the last transaction behind the last chunk', async () => {
    const block = told([honest, theft({ inputs: [2] }), theft({ inputs: [3] })], [1])
    const known = await accused({ ...block, chunks: [framesOf(honest)] })
    const flaws = [...chunkFlaws(known)].flatMap((each) => each ?? [])
    expect(flaws).toMatchObject([
      { flaw: 'transactionsLeft', record: { position: 2n } },
      { flaw: 'tooShort' },
    ])
  })
})

describe('partsAt', () => {
  it('keeps the parts of transactions of 32 MiB that were asked for last', async () => {
    const large = (index: number) =>
      theft({
        inputs: [index],
        witnesses: concatBytes(fromHex('a1045a00c00000'), new Uint8Array(0xc0_00_00)),
      })
    const block = await accused(blockOf([large(0), large(1), large(2)]))
    const [first, second] = [partsAt(block, 0), partsAt(block, 1)]
    expect(partsAt(block, 0) === first).toBe(true)
    expect(partsAt(block, 2)?.body).toEqual(partsOf(large(2)).body)
    expect(partsAt(block, 0) === first).toBe(true)
    expect(partsAt(block, 1) === second).toBe(false)
  })
})

describe('recordedAt', () => {
  const witnessed = (bytes: number) =>
    concatBytes(fromHex(`a10459${hexOf(bytes - 5)}`), new Uint8Array(bytes - 5))
  const hexOf = (length: number) => length.toString(16).padStart(4, '0')
  const field = (bytes: number) => concatBytes(fromHex(`1759${hexOf(bytes)}`), new Uint8Array(bytes))

  it.each([16_384, 16_385])(
    'knows a body or witness set of %d bytes if a proof can show it',
    async (bytes) => {
      const least = partsOf(theft({ before: [field(300)] })).body.length - 300
      const body = theft({ before: [field(bytes - least)] })
      const witnesses = theft({ witnesses: witnessed(bytes) })
      expect(partsOf(body).body).toHaveLength(bytes)
      expect(partsOf(witnesses).witnessSet).toHaveLength(bytes)
      const block = await accused(blockOf([body, witnesses]))
      const isShown = bytes === 16_384
      expect(recordedAt(block, 0) !== undefined).toBe(isShown)
      expect(recordedAt(block, 1)).toMatchObject({ position: 1, isWitnessed: isShown })
    },
  )
})
