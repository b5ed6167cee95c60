import { chunkKey, encodeChunkRecord, maxChunks } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import type { SummonsQuestion } from '@ratatosk/contracts'
import { type Layer1, Layer1Error } from '@ratatosk/layer1'
import { blake2b256, outputReferenceKey } from '@ratatosk/ledger'
import type { OpenQuestion } from '@ratatosk/protocol'
import { encodeChunkAnswer } from '@ratatosk/protocol/fraud'
import { describe, expect, test } from 'vitest'
import { framesOf } from '../../../protocol/dist/fraud/test/lying-blocks.js'
import { theft } from '../../../protocol/dist/fraud/test/theft.js'
import { reliesOnAsked } from './ask.js'
import { createQuestionBook, type WatcherContext } from './context.js'
import { followQuestions } from './questions.js'
import { buildAndSend, follow } from './send.js'
import { openContext } from './test/context.js'
import { ofLie } from './test/lies.js'
import { openWatched, openWatcher, until } from './test/scene.js'
import { assemble } from './unavailable.js'

describe('ask', () => {
  const wanted = {
    kind: 'chunk',
    root: 1,
    key: new Uint8Array(4),
    hash: new Uint8Array(32),
    steps: [],
  } as const
  const term = { now: 0n, clock: 0n, validUntil: 0n, deadline: 1000n, isInTime: true }

  const asked = (index: number, deadline: bigint) => {
    const { steps: _, ...subject } = wanted
    const question = { ...subject, headerHash: new Uint8Array(28), refund: new Uint8Array(28), deadline }
    const reference = { transactionId: new Uint8Array(32), index }
    const utxo = { reference, output: { bytes: Uint8Array.of(index) } }
    return { question: question as SummonsQuestion, utxo } as unknown as OpenQuestion
  }

  test('keeps one question, and none whose deadline is too late to rely on', async () => {
    const kept: number[] = []
    const context = {
      verdicts: {
        keepQuestion: async (_: Uint8Array, { output }: { readonly output: Uint8Array }) => {
          kept.push(output[0]!)
        },
      },
    } as unknown as WatcherContext
    const recorded = new Set<string>()
    const book = { ...createQuestionBook(), kept: new Set<string>() }
    const relies = (...open: OpenQuestion[]) =>
      reliesOnAsked(context, book, { open, pending: [], recorded, own: 0 }, wanted, term)
    expect(await relies(asked(1, 5000n))).toBe(false)
    expect(await relies(asked(1, 5000n), asked(2, 900n))).toBe(true)
    expect(kept).toEqual([2])
    // Others ask the same, and the provider shows theirs first.
    expect(await relies(asked(3, 800n), asked(2, 900n))).toBe(true)
    expect(kept).toEqual([2])
    // Its own, once it is not recorded any more.
    recorded.add(outputReferenceKey(asked(4, 700n).utxo.reference))
    book.kept.clear()
    expect(await relies(asked(4, 700n))).toBe(true)
    expect(kept).toEqual([2])
    recorded.clear()
    expect(await relies(asked(4, 700n))).toBe(true)
    expect(kept).toEqual([2, 4])
  })

  test('relies on no question of others after one has ended without an answer', async () => {
    const context = { verdicts: { keepQuestion: async () => undefined } } as unknown as WatcherContext
    const own = asked(1, 900n)
    const recorded = new Set([outputReferenceKey(own.utxo.reference)])
    const book = { ...createQuestionBook(), kept: new Set<string>() }
    const relies = (...open: OpenQuestion[]) =>
      reliesOnAsked(context, book, { open, pending: [], recorded, own: 0 }, wanted, term)
    expect(await relies(asked(2, 800n))).toBe(true)
    Object.assign(book, { hasExpired: true })
    expect(await relies(asked(2, 800n))).toBe(false)
    expect(await relies(asked(2, 800n), own)).toBe(true)
  })
})

describe('questions', () => {
  const transaction = theft({ inputs: [1] })
  const bytes = framesOf(transaction)
  const record = encodeChunkRecord({ first: 0, chunks: 1, chunkHash: blake2b256(bytes) })
  const shown = { kind: 'shown', record, bytes, proof: [] } as const

  test('keeps no bytes of a chunk that no block has', async () => {
    const redeemer = encodeChunkAnswer(0, { entry: record, proof: [], parts: [bytes] })
    const context = {
      layer1: { spending: async () => ({ redeemer, transactionId: new Uint8Array(32) }) },
      step: () => undefined,
    } as unknown as WatcherContext
    const book = createQuestionBook()
    for (const number of [maxChunks - 1, maxChunks, 0xffffffff]) {
      const reference = { transactionId: new Uint8Array(32), index: book.seen.size }
      const question = { kind: 'chunk', key: chunkKey(number) }
      book.seen.set(String(number), { question, utxo: { reference } } as unknown as OpenQuestion)
    }
    await followQuestions(context, book, undefined, [], 0n)
    const none = { ...shown, bytes: new Uint8Array() }
    expect([...book.chunks]).toEqual([
      [maxChunks - 1, shown],
      [maxChunks, none],
      [0xffffffff, none],
    ])
  })

  test('assembles a body without regard to chunks that no block has', () => {
    const book = createQuestionBook()
    book.chunks.set(0, shown)
    for (const beyond of [{ kind: 'unreadable' }, shown] as const) {
      book.chunks.set(maxChunks, beyond)
      expect(assemble(book)).toEqual({ kind: 'whole', transactions: [transaction] })
    }
    book.chunks.set(maxChunks - 1, { kind: 'unreadable' })
    expect(assemble(book)).toMatchObject({ kind: 'unreadable' })
  })
})

describe('send', () => {
  test('pays with nothing that a sweep in flight makes: the next process would not know it', async () => {
    const { address, funded, devnet, layer1, store, start, headerHash, lacks } = await openContext(9_000_000n)
    const context = start()
    const { wallet, sweeps } = context

    const { slot } = await layer1.tip()
    const { id, bytes } = await wallet.build({ inputs: [{ utxo: funded }] })
    sweeps.set(id, { id, bytes, stage: 'sweep' })
    await (await context.outbox()).send({ id, bytes, stage: 'sweep' }, slot)
    const wanted = {
      headerHash,
      stage: 'question',
      draft: { outputs: [{ address, lovelace: 2_000_000n }] },
    } as const
    expect(await buildAndSend(context, wanted, slot)).toBeUndefined()
    expect(lacks).toEqual(['WATCHER_LACKS_FUNDS'])
    expect((await store.verdicts.open())[0]!.journal).toEqual([])
    await devnet.produceBlock()
    // The wallet reads that it is included.
    await buildAndSend(context, wanted, slot)
    expect(await buildAndSend(context, wanted, slot)).toMatchObject({ stage: 'question' })
    expect(lacks.at(-1)).toBeUndefined()
  })
})

describe('spared', () => {
  const datum = { kind: 'inline', data: Uint8Array.of(0x40) } as const

  test('pays with no part of a proof until its block is removed or cannot be', async () => {
    const { address, layer1, devnet, store, start, record, headerHash, lacks } =
      await openContext(10_000_000n)
    const { recorded } = await record('datum', { outputs: [{ address, lovelace: 8_000_000n, datum }] })
    await layer1.submit(recorded.cbor)
    await devnet.produceBlock()
    const { slot } = await layer1.tip()
    const draft = { outputs: [{ address, lovelace: 3_000_000n }] }
    const wanted = { headerHash, stage: 'question', draft } as const
    const context = start()
    expect(await buildAndSend(context, wanted, slot)).toBeUndefined()
    expect(lacks).toEqual(['WATCHER_LACKS_FUNDS'])
    // Its proof is given up: the blocks behind it may need the ada.
    await store.verdicts.unprovable(headerHash, 'It is not provable')
    expect(await buildAndSend(context, wanted, slot)).toMatchObject({ stage: 'question' })
  })

  test('pays with nothing that a recorded transaction needs that is not in flight', async () => {
    const { address, layer1, start, record, headerHash, lacks, store } = await openContext(10_000_000n)
    const draft = { outputs: [{ address, lovelace: 3_000_000n }] }
    const { recorded } = await record('datum', draft)
    const { slot } = await layer1.tip()
    const wanted = { headerHash, stage: 'question', draft } as const
    const context = start()
    expect(await buildAndSend(context, wanted, slot)).toBeUndefined()
    expect(lacks).toEqual(['WATCHER_LACKS_FUNDS'])
    await store.verdicts.drop(recorded.id)
    expect(await buildAndSend(context, wanted, slot)).toMatchObject({ stage: 'question' })
  })
})

describe('turn', () => {
  test('of two processes with one wallet and store, the second waits', { timeout: 120_000 }, async () => {
    const watched = await openWatched()
    const { store, story, queued, commit } = watched
    const lease = { leases: store.leases, ttlMs: 60_000 }
    const block = await commit(ofLie('inputSpentElsewhere', story))
    const first = openWatcher(watched, [], { lease })
    await until('the first has its turn', async () => (await store.leases.current('watcher')) !== undefined)

    const second = openWatcher(watched, [block], { lease })
    const waits = expect.stringMatching(/^Another process of this store watches: .+\/\d+\/[0-9a-f]{6}$/)
    await until('the second waits', () => second.watcher.status().waits !== undefined)
    expect(second.watcher.status()).toEqual({ waits })
    const asked = await second.watcher.summon({ headerHash: block.headerHash, chunk: 0 })
    expect(asked).toEqual({ kind: 'refused', reason: waits })
    expect(await queued()).toEqual([toHex(block.headerHash)])
    expect((await store.verdicts.list({ limit: 1 })).verdicts).toEqual([])

    await first.close()
    await until('the second removes the block', async () => (await queued()).length === 0)
    expect(second.watcher.status().waits).toBeUndefined()
    expect([...first.errors, ...second.errors]).toEqual([])
  })
})

const unknown: Partial<Layer1> = { status: async () => ({ kind: 'unknown' }) }
const behind: Partial<Layer1> = { ...unknown, utxosAt: async () => [], utxosByReferences: async () => [] }

test('gives up what has expired only when no answer of the provider can be older than that', async () => {
  const { address, layer1, clock, devnet, store, start, record } = await openContext(50_000_000n)
  const validUntil = devnet.currentSlot() + 10n
  const draft = { outputs: [{ address, lovelace: 2_000_000n }], validUntil }
  const { recorded } = await record('datum', draft)
  await layer1.submit(recorded.cbor)
  await devnet.produceBlock()
  const pass = async (ms: number) => {
    clock.time += ms
    await devnet.produceBlock()
    return (await layer1.tip()).slot
  }
  const lagging = start(unknown)
  const state = async (slot: bigint) => (await follow(lagging, [recorded], slot))[0]!.state
  const kept = async () => (await store.verdicts.recorded([recorded.id])).length
  expect(await state(await pass(60_000))).toBe('pending')
  expect(await kept()).toBe(1)
  const slot = await pass(50_000)
  expect(await follow(start(), [recorded], slot)).toMatchObject([{ state: 'included' }])
  // As one that was never included.
  expect(await state(await pass(60_000))).toBe('dead')
  expect(await kept()).toBe(0)
})

test('takes an output that the provider does not show for a late one, not for a spent one', async () => {
  const { address, layer1, devnet, start, record } = await openContext(50_000_000n)
  const draft = { outputs: [{ address, lovelace: 2_000_000n }] }
  const { wallet } = start()
  const parent = await wallet.send(draft)
  const { recorded } = await record('datum', draft, { ...start(), wallet })
  await devnet.produceBlock()
  const { slot } = await layer1.tip()
  expect(await follow(start(behind), [recorded], slot)).toMatchObject([{ state: 'pending' }])
  expect(await follow(start(), [recorded], slot)).toMatchObject([{ state: 'pending' }])
  await devnet.produceBlock()
  for (const id of [parent.id, recorded.id]) expect((await layer1.status(id)).kind).toBe('confirmed')
})

test('gives up what another transaction has overtaken, and what spends its outputs', async () => {
  const { address, funded, layer1, devnet, start, record } = await openContext(50_000_000n)
  const draft = { outputs: [{ address, lovelace: 2_000_000n }] }
  const earlier = start()
  const parent = await record('datum', { ...draft, inputs: [{ utxo: funded }] }, earlier)
  const child = await record('datum', draft, earlier)
  const rival = await start().wallet.send({ ...draft, inputs: [{ utxo: funded }], validUntil: 1_000_000n })
  expect(rival.id).not.toEqual(parent.id)
  await devnet.produceBlock()
  const { slot } = await layer1.tip()
  const context = start()
  const states = await follow(context, [parent.recorded, child.recorded], slot)
  expect(states.map(({ state }) => state)).toEqual(['dead', 'dead'])
})

test('keeps what was sent before although a node refuses it now', async () => {
  const { address, layer1, devnet, store, start, record } = await openContext(50_000_000n)
  const { recorded, id } = await record('datum', { outputs: [{ address, lovelace: 2_000_000n }] })
  await layer1.submit(recorded.cbor)
  const refusing = start({
    ...unknown,
    async submit() {
      throw new Layer1Error('LAYER1_REJECTED', 'The network rejects it', {
        reason: 'OutsideValidityInterval',
      })
    },
  })
  const { slot } = await layer1.tip()
  expect(await follow(refusing, [recorded], slot)).toMatchObject([{ state: 'pending' }])
  expect(await store.verdicts.recorded([recorded.id])).toHaveLength(1)
  await devnet.produceBlock()
  expect((await layer1.status(id)).kind).toBe('confirmed')
})
