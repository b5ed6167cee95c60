import { chunkKey, encodeChunkRecord, partsOf } from '@ratatosk/block'
import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import type { ProvableRules } from '@ratatosk/contracts'
import { blake2b256, encodeOutputReference, type Utxo } from '@ratatosk/ledger'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { bond, openScene, otherKeys } from '../test/protocol-scene.js'
import { fraudsIn } from './find-fraud.js'
import { removeFraudulentBlock } from './remove-fraudulent-block.js'
import { blockOf, type Committed, commitUnderAll, framesOf } from './test/lying-blocks.js'
import { addressOfThief, coin, eight, signedTheft, theft } from './test/theft.js'

/*
 * Blocks that hide a fraud from the search: behind large proofs, in long transactions, and by frames that
 * are cut elsewhere than the CBOR says.
 */

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})
let rules: ProvableRules
beforeAll(async () => {
  const { devnet, layer1, slots } = await openScene()
  rules = { parameters: await layer1.parameters(), networkId: 0, slots }
  await devnet.close()
})

const four = (number: number): Uint8Array => fromHex(number.toString(16).padStart(8, '0'))
/** A billion ada for the thief. */
const loot = concatBytes(fromHex('a200581d'), addressOfThief, fromHex('011b00038d7ea4c68000'))
const idOfNothing = new Uint8Array(32).fill(7)
const outputOfNothing = encodeOutputReference({ transactionId: idOfNothing, index: 0 })
const first = toHex(eight(0n))

async function open(block: Committed) {
  const opened = await commitUnderAll(rules, block)
  closing.push(() => opened.scene.devnet.close())
  return opened
}

/** Sends what is drafted until the block is removed. */
async function remove(block: Committed) {
  const { own, scene, wanted, judgement } = await open(block)
  const { queue, run, otherWallet } = scene
  const address = otherKeys.address.bytes
  const held: Utxo[] = []
  const stages: string[] = []
  for (;;) {
    const removal = await removeFraudulentBlock(own, { ...wanted, address, held }, judgement)
    if (removal === undefined) throw new Error('no fraud was found')
    stages.push(removal.stage)
    const before = (await otherWallet.balance()).lovelace
    held.push(...(await run(removal.draft, otherWallet)).produced)
    if (removal.stage !== 'removal') continue
    expect((await otherWallet.balance()).lovelace - before).toBeGreaterThan(bond - 10_000_000n)
    expect((await queue()).blocks).toEqual([])
    return { fraud: removal.fraud, stages }
  }
}

async function foundIn(block: Committed) {
  const { wanted } = await open(block)
  return [...fraudsIn(wanted.block, rules)].flatMap((found) =>
    (found ?? []).map(({ proof }) => ('flaw' in proof ? proof.flaw.flaw : proof.fraud)),
  )
}

/** An entry of a map whose value has so many bytes. @param key hex */
const entry = (key: string, bytes: number) =>
  concatBytes(fromHex(`${key}5a`), four(bytes), new Uint8Array(bytes))

describe('a long chunk', () => {
  /** A billion ada of a transaction that the only chunk, of one transaction, does not have. */
  const hiding = (transaction: Uint8Array) =>
    blockOf([transaction], {
      entries(map) {
        const record = [Uint8Array.of(2), idOfNothing, new Uint8Array(64), eight(0n), four(300), four(100)]
        map.set(toHex(eight(1n)), concatBytes(...record))
        map.set(toHex(outputOfNothing), concatBytes(eight(2n), eight(0n), blake2b256(loot)))
        // The record says that the witness set has as many bytes as it may have.
        const own = map.get(first) as Uint8Array
        map.set(first, concatBytes(own.subarray(0, 109), four(14_000)))
      },
      after: (outputs) => outputs.set(toHex(outputOfNothing), loot),
    })

  /** A witness set that is nowhere the same. */
  const filled = (bytes: number) =>
    concatBytes(
      fromHex('a1045a'),
      four(bytes),
      new Uint8Array(bytes).map((_, at) => at >> 7),
    )

  it.each([
    [16_400, 1],
    [27_000, 2],
    [65_536, 5],
  ])('of %d bytes is shown with %d datums', async (bytes, datums) => {
    const least = framesOf(theft({ witnesses: filled(0) })).length
    const witnesses = filled(bytes - least)
    const { fraud, stages } = await remove(hiding(theft({ witnesses })))
    expect({ fraud, datums: stages.indexOf('removal') }).toEqual({ fraud: 'wrongChunk', datums })
  })
})

describe('a long transaction', () => {
  /** A block with a transaction of its owner, with so much auxiliary data that it has a length. */
  const annotated = (length: number) => {
    const withRest = (bytes: number) => {
      const rest = new Uint8Array(bytes).map((_, at) => (at === 0 ? 0xf5 : at >> 7))
      const hash = concatBytes(fromHex('075820'), blake2b256(rest.subarray(1)))
      return signedTheft({ rest, behind: [hash] })
    }
    return blockOf([withRest(1 + length - withRest(1).length)])
  }

  it('of 65,525 bytes is shown in its chunk, and no longer one', async () => {
    expect(await foundIn(annotated(65_526))).not.toContain('malformed')
    const { fraud, stages } = await remove(annotated(65_525))
    expect({ fraud, datums: stages.indexOf('removal') }).toEqual({ fraud: 'wrongChunk', datums: 5 })
  })
})

describe('a long entry of the map', () => {
  it.each([
    ['value', toHex(coin(30)), 17_000, 1],
    ['value', toHex(coin(30)), 65_000, 5],
    ['key', 'ab'.repeat(20_000), 48, 1],
  ])('is shown by a %s in parts', async (_what, key, bytes, datums) => {
    const block = blockOf([theft({})], {
      entries: (map) =>
        map.set(
          key,
          new Uint8Array(bytes).map((_, at) => at >> 7),
        ),
      after: (outputs) => outputs.delete(toHex(coin(30))),
    })
    const { fraud, stages } = await remove(block)
    expect({ fraud, datums: stages.indexOf('removal') }).toEqual({ fraud: 'strangeEntry', datums })
  })
})

describe('what a chunk has', () => {
  const frame = (bytes: Uint8Array) => concatBytes(four(bytes.length), bytes)
  const chunkOf = (frames: Uint8Array) =>
    encodeChunkRecord({ first: 0, chunks: 1, chunkHash: blake2b256(frames) })

  /** A block of one transaction whose record and chunk cut it elsewhere than its CBOR says. */
  function cutBlock(transaction: Uint8Array, bodyEnd: number, witnessesEnd: number, change = 0) {
    const [body, witnessSet, rest] = [
      transaction.subarray(1, bodyEnd),
      transaction.subarray(bodyEnd, witnessesEnd),
      transaction.subarray(witnessesEnd),
    ] as const
    const chunk = concatBytes(frame(body), frame(witnessSet), frame(rest))
    const lengths = [four(body.length + change), four(witnessSet.length + change)]
    const block = blockOf([transaction], {
      entries(map) {
        const record = map.get(first) as Uint8Array
        const parts = [blake2b256(body), blake2b256(witnessSet), record.subarray(65, 105), ...lengths]
        map.set(first, concatBytes(Uint8Array.of(2), ...parts))
        map.set(toHex(chunkKey(0)), chunkOf(chunk))
      },
    })
    return { block, chunk }
  }

  const unsigned = theft({ witnesses: fromHex('a10080') })
  const bodyEnd = 1 + partsOf(unsigned).body.length

  it.each([
    ['a witness set', bodyEnd, bodyEnd + 1, ['strangeRest', 'malformedPart']],
    ['a body', 21, bodyEnd + 3, ['malformedPart', 'malformedPart']],
  ])('is read where %s ends early', async (_what, end, witnessesEnd, expected) => {
    const { block, chunk } = cutBlock(unsigned, end, witnessesEnd)
    const [told, known] = [await foundIn(block), await foundIn({ ...block, chunks: [chunk] })]
    expect(told).toEqual(expect.arrayContaining(expected))
    expect(known).toEqual(told)
    // Without the bytes of the chunk, the lengths of the record say where it is cut.
    const lying = cutBlock(unsigned, end, witnessesEnd, 1)
    expect(await foundIn(lying.block)).not.toContain('malformedPart')
    const found = await foundIn({ ...lying.block, chunks: [chunk] })
    expect(found).toEqual(expect.arrayContaining([...expected, 'otherTransaction']))
    expect((await remove({ ...block })).stages).toEqual(['removal'])
  })

  it.each([
    ['body', theft({ before: [entry('17', 16_000)] }), 105],
    ['witness set', theft({ witnesses: concatBytes(fromHex('a1'), entry('04', 16_000)) }), 109],
  ])('is another %s than the record says that is too long to be shown', async (_what, transaction, place) => {
    const block = blockOf([transaction], {
      entries(map) {
        const record = map.get(first) as Uint8Array
        map.set(first, concatBytes(record.subarray(0, place), four(14_000), record.subarray(place + 4)))
      },
    })
    expect(await foundIn(block)).toContain('otherTransaction')
  })
})

describe('decoys', () => {
  it('of proofs that are too large hide no smaller one behind them', async () => {
    const block = blockOf([theft({ inputs: [1] })], {
      entries(map) {
        const entries = [...map]
        map.clear()
        for (let i = 0; i < 600; i++)
          map.set(toHex(concatBytes(fromHex('ff'), four(i))), new Uint8Array(16_500 + (i % 7)))
        for (const [key, value] of entries) map.set(key, value)
        map.set(toHex(outputOfNothing), new Uint8Array(49))
      },
      after: (outputs) => outputs.set(toHex(outputOfNothing), loot),
    })
    const { wanted, own, judgement } = await open(block)
    const { rules: _, ...withoutRules } = wanted
    const removal = await removeFraudulentBlock(own, withoutRules, judgement)
    expect(removal).toMatchObject({ fraud: 'strangeEntry', stage: 'removal' })
  })
})
