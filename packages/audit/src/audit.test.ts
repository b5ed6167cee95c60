import { bodyOf, chunkKey, deriveBlock, encodeBlockBody } from '@ratatosk/block'
import { concatBytes, equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import type { SourceBlock } from '@ratatosk/test-kit'
import { rootOf } from '@ratatosk/trie'
import { describe, expect, test } from 'vitest'
import type { Finding } from './index.js'
import { type Defect, defects } from './test/defects.js'
import { honest, honestNode, idsOf, lovelace, name, openScene, type Scene, spending } from './test/scene.js'
import { readAhead } from './trace.js'
import { TransactionTable } from './transaction-table.js'

describe('audit', () => {
  const kindsOf = (findings: readonly Finding[]) => [...new Set(findings.map(({ kind }) => kind))].sort()

  test('an honest history is clean', async (context) => {
    const scene = await honest(context)
    const { chain } = scene
    const waiting = 'ab'.repeat(32)
    const accepted = [...chain.blocks.flatMap(idsOf), waiting]
    const heights: number[] = []
    const report = await scene.audit({
      node: honestNode(scene),
      accepted,
      onProgress: ({ height }) => heights.push(height),
    })
    expect(report).toEqual({
      verdict: 'clean',
      findings: [],
      omittedFindings: 0,
      unchecked: [],
      counts: {
        blocks: 5,
        merged: 2,
        transactions: 7,
        waiting: 1,
        unspentOutputs: 22,
        bodyBytes: chain.blocks.reduce((sum, { cbors }) => sum + encodeBlockBody(bodyOf(cbors)).length, 0),
      },
      lovelace: {
        genesis: 20n * lovelace,
        fees: 500_000n,
        paid: 0n,
        deposited: 0n,
        withdrawn: 0n,
        unspent: 20n * lovelace - 500_000n,
      },
      mintedAssets: 1,
      utxosRoot: toHex(chain.tip!.fields.utxosRoot),
    })
    expect(heights).toEqual([1, 2, 3, 4, 5])
    // Without a node, what is in no block may wait or be lost.
    const alone = await scene.audit({ accepted })
    expect(alone).toMatchObject({ verdict: 'incomplete', findings: [], counts: { waiting: 1 } })
    expect(alone.unchecked).toEqual([{ what: '1 accepted transactions', why: expect.any(String) }])
  })

  test('a block of several chunks is clean', async (context) => {
    const { audit, chain } = await openScene(context)
    const { cbors } = await chain.commit(200)
    expect(encodeBlockBody(bodyOf(cbors)).length).toBeGreaterThan(2 * 12_288)
    expect(await audit()).toMatchObject({ verdict: 'clean', counts: { transactions: 200 } })
  })

  test('a chain without a block is clean', async (context) => {
    const { audit, chain, lies } = await openScene(context, 3)
    await chain.commit(0)
    const [{ fields }] = chain.blocks as [SourceBlock]
    chain.remove(1)
    const confirmed = { headerHash: new Uint8Array(28), utxosRoot: fields.prevUtxosRoot, endTime: 0n }
    lies.layer1 = () => ({ confirmed, blocks: [] })
    expect(await audit()).toMatchObject({ verdict: 'clean', counts: { blocks: 0, unspentOutputs: 3 } })
  })

  test.for([...defects, ...chunkDefects, ...grammarDefects])(
    'finds %s',
    async ([, kinds, plant], context) => {
      const scene = await honest(context)
      const more = await plant(scene)
      const report = await scene.audit(more ?? {})
      expect(kindsOf(report.findings), JSON.stringify(report.findings)).toEqual(kinds)
      expect(report.verdict).toBe('defective')
    },
  )
})

describe('read ahead', () => {
  const trace = (height: number) => ({
    base: 0,
    height,
    hashAt: (at: number) => (at >= 1 && at <= height ? new Uint8Array(28).fill(at) : undefined),
  })

  /** An archive with bodies of a length, which counts what is asked for. */
  function archiveOf(length: number) {
    const asked = { bodies: 0, atOnce: 0, most: 0, stopped: 0 }
    return {
      asked,
      sources: {
        header: async () => ({ headerHash: new Uint8Array(28), header: new Uint8Array() }),
        async body(_: Uint8Array, stop?: AbortSignal) {
          stop?.addEventListener('abort', () => asked.stopped++)
          asked.bodies++
          asked.most = Math.max(asked.most, ++asked.atOnce)
          await new Promise((resolve) => setTimeout(resolve, 1))
          asked.atOnce--
          return new Uint8Array(length)
        },
      },
    }
  }

  const { signal } = new AbortController()
  const soon = () => new Promise((resolve) => setTimeout(resolve, 100))

  test.for([
    ['small', 1000, 9],
    ['large', 10 << 20, 3],
  ] as const)('of %s bodies it reads a few ahead, one at a time', async ([, length, most]) => {
    const { asked, sources } = archiveOf(length)
    const blocks = readAhead(trace(100), 1, sources, signal)
    const askedFor = async (bodies: number) => {
      await expect.poll(() => asked.bodies).toBe(bodies)
      await soon()
      expect(asked).toMatchObject({ bodies, most: 1 })
    }
    await blocks.next()
    await askedFor(most)
    await blocks.next()
    await askedFor(most + 1)
    await blocks.return()
    expect(asked.stopped).toBe(most + 1)
  })

  test('after a failure it asks for nothing more', async () => {
    const { asked, sources } = archiveOf(1)
    const body = async (hash: Uint8Array) =>
      hash[0] === 2 ? Promise.reject(new Error('it is away')) : sources.body(hash)
    const blocks = readAhead(trace(100), 1, { ...sources, body }, signal)
    await blocks.next()
    await soon()
    expect(asked.bodies).toBe(1)
    const { value } = await blocks.next()
    await expect(value?.body).rejects.toThrow('it is away')
    await blocks.return()
  })

  test('it ends with the trace', async () => {
    let count = 0
    for await (const { body } of readAhead(trace(20), 3, archiveOf(1).sources, signal))
      if (await body) count++
    expect(count).toBe(18)
  })
})

describe('transaction table', () => {
  test('knows the block of each transaction, like a map, whatever is added and deleted', () => {
    const table = new TransactionTable()
    const known = new Map<string, number>()
    let state = 1
    const random = (below: number): number => {
      state = (state * 48_271) % 2_147_483_647
      return state % below
    }
    // Few places, so that runs of slots form and are closed.
    const ids = Array.from({ length: 1200 }, (_, n) => {
      const id = new Uint8Array(32)
      new DataView(id.buffer).setUint32(0, random(40))
      new DataView(id.buffer).setUint32(4, n)
      return id
    })
    for (let step = 0; step < 4000; step++) {
      const id = ids[random(ids.length)]!
      const key = String(id)
      if (random(3) > 0) {
        const height = 1 + random(1000)
        table.set(id, height)
        known.set(key, height)
      } else {
        table.delete(id)
        known.delete(key)
      }
    }
    expect(ids.map((id) => table.get(id))).toEqual(ids.map((id) => known.get(String(id)) ?? 0))
  })
})

/** Where a chunk's record has the last byte of its first position, that of the count, and its hash. */
const places = [
  ['first transaction', 8],
  ['number of chunks', 16],
  ['hash', 17],
] as const

/** Commits to a map whose first chunk has another byte in its record. */
async function commitWithChunk({ chain }: Scene, place: number): Promise<void> {
  const cbors = [spending([chain.coins[7]!]).cbor]
  const before = (outref: Uint8Array) => blake2b256(chain.utxos.get(toHex(outref))!)
  const entries = Array.from(deriveBlock(cbors, before).entries(), ([key, value]) => {
    if (equalBytes(key, chunkKey(0))) value[place]! ^= 1
    return [key, value] as const
  })
  await chain.commitAny(cbors, [], { transactionsRoot: await rootOf(entries) })
}

const chunkDefects: readonly Defect[] = [
  ...places.map(
    ([what, place]): Defect => [
      `a chunk that states another ${what}`,
      ['transactions-root'],
      (scene) => commitWithChunk(scene, place),
    ],
  ),
  [
    'a block of too many chunks',
    ['body'],
    async ({ chain }) => {
      // Two transactions with so much metadata do not fit into one chunk.
      const strings = Array.from({ length: 95 }, () => concatBytes(fromHex('5840'), new Uint8Array(64)))
      const auxiliaryData = concatBytes(fromHex('a101985f'), ...strings)
      const cbors: Uint8Array[] = []
      let coin = chain.coins[7]!
      while (cbors.length < 1025) {
        const { cbor, id } = spending([coin], { auxiliaryData })
        cbors.push(cbor)
        coin = { key: coin.key, reference: { transactionId: id, index: 0 } }
      }
      await chain.commitAny(cbors)
    },
  ],
]

/** Defects that the ledger does not decode. */
const grammarDefects: readonly Defect[] = [
  [
    'a token made from nothing, and as many that are negative beside it',
    ['transaction'],
    async (scene) => {
      const assets = [
        [name, 1_000_000n],
        [`${name}ff`, -1_000_000n],
      ] as const
      await scene.chain.commitAny([spending([scene.chain.coins[7]!], { assets }).cbor])
    },
  ],
]
