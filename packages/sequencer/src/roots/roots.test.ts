import { once } from 'node:events'
import { MessageChannel, type Worker } from 'node:worker_threads'
import { outputReferenceKey } from '@ratatosk/ledger'
import type { LedgerOutput } from '@ratatosk/store'
import { chain, fundsOf, keyOf, outputsOf, signed } from '@ratatosk/test-kit'
import { openLmdbStore } from '@ratatosk/trie/lmdb'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openRoots } from './open-roots.js'
import {
  after,
  noEvents,
  outputsOfGenesis,
  piecesOf,
  rootOf,
  successiveBlocks,
  transactionsRootOf,
  zeros,
} from './test/blocks.js'
import { opened, places } from './test/open.js'

const ada = 1_000_000n
const key = keyOf(4)
const genesis = fundsOf(key, 10, ada)
const outputs = outputsOfGenesis(genesis)
const [block] = successiveBlocks(key, genesis)

describe.each(places)('roots in $place', ({ optionsOf }) => {
  test('no outputs and no transactions have roots of zeros', async () => {
    const roots = await opened(await optionsOf())
    expect(await roots.root()).toStrictEqual(zeros)
    expect(await roots.apply([])).toStrictEqual({ utxosRoot: zeros, transactionsRoot: zeros, ...noEvents })
    expect(await roots.rebuild(piecesOf([]))).toStrictEqual(zeros)
  })

  test('calls take effect in their order, whether they were waited for or not', async () => {
    const roots = await opened(await optionsOf())
    const started = roots.rebuild(piecesOf(outputs.values()))
    const before = roots.root()
    const applied = roots.apply(block!)
    const back = roots.revert(rootOf(outputs))
    const end = roots.root()
    expect(await started).toStrictEqual(rootOf(outputs))
    expect(await before).toStrictEqual(rootOf(outputs))
    expect(await applied).toStrictEqual({
      utxosRoot: rootOf(after(outputs, block!)),
      transactionsRoot: transactionsRootOf(block!, outputs),
      ...noEvents,
    })
    expect(await back).toBe(true)
    expect(await end).toStrictEqual(rootOf(outputs))
  })

  test('the bytes of a block belong to the caller again when apply returns', async () => {
    const roots = await opened(await optionsOf())
    await roots.rebuild(piecesOf(outputs.values()))
    const shared = Buffer.concat(block!)
    const { length } = block![0]!
    const views = block!.map((_, place) => shared.subarray(place * length, (place + 1) * length))
    expect(views).toEqual(block!.map((cbor) => Buffer.from(cbor)))
    const applied = roots.apply(views)
    shared.fill(0)
    expect((await applied).transactionsRoot).toStrictEqual(transactionsRootOf(block!, outputs))
  })

  test('outputs made and spent by one block never enter', async () => {
    const roots = await opened(await optionsOf())
    await roots.rebuild(piecesOf(outputs.values()))
    const links = chain(key, genesis[0]!.reference, ada, 50).map(({ cbor }) => cbor)
    const { utxosRoot } = await roots.apply(links)
    expect(utxosRoot).toStrictEqual(rootOf(after(outputs, links)))
    expect(after(outputs, links).size).toBe(outputs.size)
  })

  test('only so many earlier states are kept', async () => {
    const roots = await opened({ ...(await optionsOf()), history: 3 })
    await roots.rebuild(piecesOf(outputs.values()))
    const blocks = successiveBlocks(key, genesis)
    const known = [await roots.root()]
    for (let n = 0; n < 5; n++) {
      known.push((await roots.apply(blocks.next().value)).utxosRoot)
      // Takes no place.
      await roots.apply([])
    }
    expect(await roots.revert(known[1]!)).toBe(false)
    expect(await roots.root()).toStrictEqual(known[5])
    for (const height of [5, 4, 3, 2]) {
      expect(await roots.revert(known[height]!)).toBe(true)
      expect(await roots.root()).toStrictEqual(known[height])
    }
    expect(await roots.revert(known[3]!)).toBe(false)
    expect(await roots.revert(zeros)).toBe(false)
  })

  test('a block that cannot be applied changes nothing, and says why', async () => {
    const roots = await opened(await optionsOf())
    await roots.rebuild(piecesOf(outputs.values()))
    const root = await roots.root()
    const [first, second] = block!
    const spent = outputReferenceKey(genesis[0]!.reference)
    const parent = signed(key, { inputs: [genesis[0]!.reference], outputs: [ada] })
    const child = signed(key, { inputs: [outputsOf(parent)], outputs: [ada] })
    const rival = signed(key, { inputs: [genesis[0]!.reference], outputs: [ada, ada] })

    const made = outputReferenceKey(outputsOf(parent))
    const unknown = { code: 'BLOCK_INPUT_MISSING', reference: made }
    await expect(roots.apply([second!, child.cbor])).rejects.toMatchObject(unknown)
    const early = { code: 'BLOCK_SPENT_BEFORE_PRODUCED', reference: made, position: 1 }
    await expect(roots.apply([child.cbor, parent.cbor])).rejects.toMatchObject(early)
    const twice = { code: 'BLOCK_DOUBLE_SPEND', reference: spent, position: 1 }
    await expect(roots.apply([parent.cbor, rival.cbor])).rejects.toMatchObject(twice)
    const repeated = { code: 'BLOCK_DOUBLE_SPEND', position: 2 }
    await expect(roots.apply([first!, second!, first!])).rejects.toMatchObject(repeated)
    const malformed = { code: 'BLOCK_TRANSACTION_MALFORMED', position: 1 }
    await expect(roots.apply([first!, Uint8Array.of(0x84)])).rejects.toMatchObject(malformed)

    expect(await roots.root()).toStrictEqual(root)
    expect((await roots.apply(block!)).utxosRoot).toStrictEqual(rootOf(after(outputs, block!)))
  })

  test('a block outside of the validity of its transactions changes nothing, and names them', async () => {
    const roots = await opened(await optionsOf())
    await roots.rebuild(piecesOf(outputs.values()))
    const root = await roots.root()
    const [a, b, c, d] = genesis.map(({ reference }) => ({ inputs: [reference], outputs: [ada] }))
    const transfers = [
      signed(key, { ...a!, invalidHereafter: 100n }),
      signed(key, { ...b!, invalidBefore: 110n, invalidHereafter: 200n }),
      signed(key, { ...c!, invalidBefore: 111n }),
      signed(key, d!),
    ].map(({ cbor }) => cbor)
    expect(await roots.applyWithin(transfers, { first: 100n, last: 109n })).toEqual({
      expired: [0],
      notBegun: [1, 2],
    })
    expect(await roots.root()).toStrictEqual(root)
    expect(await roots.applyWithin(transfers, { first: 99n, last: 111n })).toEqual({
      utxosRoot: rootOf(after(outputs, transfers)),
      transactionsRoot: transactionsRootOf(transfers, outputs),
      ...noEvents,
    })
  })

  test('a block that is prepared piece by piece has the roots of one that is not', async () => {
    const roots = await opened(await optionsOf())
    await roots.rebuild(piecesOf(outputs.values()))
    const links = chain(key, genesis[0]!.reference, ada, 30).map(({ cbor }) => cbor)
    const others = genesis
      .slice(1)
      .map(({ reference }) => signed(key, { inputs: [reference], outputs: [ada] }).cbor)
    const content = [...links.slice(0, 20), ...others, ...links.slice(20)]
    const before = rootOf(outputs)
    const expected = {
      utxosRoot: rootOf(after(outputs, content)),
      transactionsRoot: transactionsRootOf(content, outputs),
      ...noEvents,
    }
    const within = { first: 0n, last: 9n }
    for (const pieces of [[], [10], [10, 25], [1, 2, 3], [content.length]]) {
      let prepared = 0
      for (const end of pieces) {
        expect(await roots.prepare(content.slice(prepared, end), prepared)).toBe(end)
        prepared = end
      }
      expect(await roots.root()).toStrictEqual(before)
      expect(await roots.applyWithin(content, within)).toEqual(expected)
      expect(await roots.revert(before)).toBe(true)
    }

    // The prepared content is not that of the block, or the state has changed since.
    await roots.prepare(content.slice(0, 15), 0)
    expect((await roots.apply(others)).utxosRoot).toStrictEqual(rootOf(after(outputs, others)))
    expect(await roots.prepare(content.slice(15), 15)).toBe(0)
    await roots.revert(before)
    await roots.prepare(content.slice(0, 15), 0)
    await roots.apply(others)
    await roots.revert(before)
    expect(await roots.apply(content)).toEqual(expected)
    await roots.revert(before)
    await roots.prepare(content.slice(0, 15), 0)
    const shorter = content.slice(0, 14)
    expect((await roots.apply(shorter)).utxosRoot).toStrictEqual(rootOf(after(outputs, shorter)))
    await roots.revert(before)
    expect(await roots.prepare(content.slice(0, 5), 0)).toBe(5)
    await roots.rebuild(piecesOf(outputs.values()))
    expect(await roots.apply(content)).toEqual(expected)
  })

  test('what cannot be applied is not prepared, and the block is refused as if it were new', async () => {
    const roots = await opened(await optionsOf())
    await roots.rebuild(piecesOf(outputs.values()))
    const root = await roots.root()
    const parent = signed(key, { inputs: [genesis[0]!.reference], outputs: [ada] })
    const child = signed(key, { inputs: [outputsOf(parent)], outputs: [ada] })
    expect(await roots.prepare([child.cbor], 0)).toBe(0)
    expect(await roots.prepare([Uint8Array.of(0x84)], 0)).toBe(0)
    expect(await roots.prepare([parent.cbor], 3)).toBe(0)
    expect(await roots.prepare([parent.cbor], 0)).toBe(1)
    expect(await roots.prepare([child.cbor, child.cbor], 1)).toBe(0)
    expect(await roots.prepare([parent.cbor], 0)).toBe(1)
    const twice = { code: 'BLOCK_DOUBLE_SPEND', position: 2 }
    await expect(roots.apply([parent.cbor, child.cbor, child.cbor])).rejects.toMatchObject(twice)
    expect(await roots.root()).toStrictEqual(root)
    expect(await roots.prepare([parent.cbor], 0)).toBe(1)
    expect(await roots.apply([parent.cbor, child.cbor])).toMatchObject({
      utxosRoot: rootOf(after(outputs, [parent.cbor, child.cbor])),
    })
  })

  test('earlier states are freed in pieces between other calls', async () => {
    const options = await optionsOf()
    const roots = await opened({ ...options, history: 2 })
    await roots.rebuild(piecesOf(outputs.values()))
    const blocks = successiveBlocks(key, genesis)
    let state = outputs
    for (let n = 0; n < 80; n++) {
      const block = blocks.next().value
      state = after(state, block)
      const freed = roots.free()
      expect((await roots.apply(block)).utxosRoot).toStrictEqual(rootOf(state))
      if (n % 3 === 0) await Promise.all([freed, roots.free()])
    }
    expect(await roots.root()).toStrictEqual(rootOf(state))
    await roots.close()
    if (options.path === undefined) return
    // Fewer states are left than are freed together.
    const store = openLmdbStore({ path: options.path, freesLater: true })
    onTestFinished(() => store.close())
    expect(store.free(1)).toBe(0)
  })

  test('a rebuild that fails changes nothing', async () => {
    const roots = await opened(await optionsOf())
    await roots.rebuild(piecesOf(outputs.values()))
    await roots.apply(block!)
    const root = await roots.root()
    async function* broken(): AsyncGenerator<LedgerOutput[]> {
      yield* piecesOf(outputs.values())
      throw new Error('the database is unavailable')
    }
    await expect(roots.rebuild(broken())).rejects.toThrow('the database is unavailable')
    const twice = [...outputs.values(), ...outputs.values()]
    await expect(roots.rebuild(piecesOf(twice))).rejects.toMatchObject({ code: 'BLOCK_OUTPUT_EXISTS' })
    expect(await roots.root()).toStrictEqual(root)
    expect(await roots.revert(rootOf(outputs))).toBe(true)
  })

  test('close waits for what was asked, and then nothing can be asked', async () => {
    const roots = await openRoots(await optionsOf())
    const settled: string[] = []
    const rebuilt = roots.rebuild(piecesOf(outputs.values())).then(() => settled.push('rebuilt'))
    const applied = roots.apply(block!).then(() => settled.push('applied'))
    await Promise.all([roots.close().then(() => settled.push('closed')), rebuilt, applied])
    expect(settled).toStrictEqual(['rebuilt', 'applied', 'closed'])
    await expect(roots.root()).rejects.toMatchObject({ code: 'ROOTS_CLOSED' })
    await roots.close()
  })

  test('messages are handled while a block is applied', async () => {
    const many = fundsOf(key, 1_500, ada)
    const large = successiveBlocks(key, many).next().value
    const roots = await opened(await optionsOf())
    await roots.rebuild(piecesOf(outputsOfGenesis(many).values()))
    const { port1, port2 } = new MessageChannel()
    let pending = true
    let handled = 0
    const applied = roots.apply(large).finally(() => {
      pending = false
    })
    while (pending) {
      port1.postMessage('ping')
      await once(port2, 'message')
      if (pending) handled += 1
    }
    port1.close()
    await applied
    // Were the block applied on this thread, it would be over before the first message.
    expect(handled).toBeGreaterThan(20)
  })
})

describe('open roots', () => {
  test('a thread that ends rejects what was asked of it, and says so', async () => {
    const started = once(process, 'worker') as Promise<[Worker]>
    const roots = await openRoots()
    const [worker] = await started
    await roots.rebuild(piecesOf(outputs.values()))
    const applied = roots.apply(block!)
    const next = roots.root()
    const ended = { code: 'ROOTS_THREAD_ENDED' }
    await Promise.all([
      worker.terminate(),
      expect(applied).rejects.toMatchObject(ended),
      expect(next).rejects.toMatchObject(ended),
    ])
    await expect(roots.root()).rejects.toMatchObject(ended)
    await expect(roots.rebuild(piecesOf([]))).rejects.toMatchObject(ended)
    await roots.close()
  })

  test('a folder that is opened again is as it was, with its history', async () => {
    const { path } = await places.at(-1)!.optionsOf()
    const first = await openRoots({ path: path! })
    await first.rebuild(piecesOf(outputs.values()))
    const { utxosRoot } = await first.apply(block!)
    await first.close()
    const second = await opened({ path: path! })
    expect(await second.root()).toStrictEqual(utxosRoot)
    expect(await second.revert(rootOf(outputs))).toBe(true)
  })

  test('options that cannot work are refused', async () => {
    await expect(openRoots({ history: -1 })).rejects.toThrow(RangeError)
    await expect(openRoots({ path: '/dev/null/roots' })).rejects.toMatchObject({ code: 'ROOTS_FAILED' })
  })
})
