import { Readable } from 'node:stream'
import archivist from '@ratatosk/archivist'
import {
  type Archive,
  type BlockBody,
  blockVersion,
  bodyOf,
  createDerivation,
  createOutputTrie,
  createTransactionsMap,
  depositsRoot,
  deriveBlock,
  encodeBlockBody,
  encodedHeader,
  encodeHeader,
  feeOutput,
  genesisHeaderHash,
  headerHash,
} from '@ratatosk/block'
import { fromHex } from '@ratatosk/cbor'
import { createPeers } from '@ratatosk/follower'
import { decodeOutputReference, decodeTransactionOutput, encodeOutputReference } from '@ratatosk/ledger'
import { movedParts } from '@ratatosk/protocol/fraud'
import { freeOfCharge, fundsOf, keyOf, type SignedTransaction, signed, slots } from '@ratatosk/test-kit'
import { createMemoryStore, emptyRoot } from '@ratatosk/trie'
import fastify from 'fastify'
import { describe, expect, type TestContext, test } from 'vitest'
import { randomOf, transactionsOf } from '../../../follower/dist/test/hostile/generated-bodies.js'
import { blockOf, type Committed, outputsBefore } from '../../../protocol/dist/fraud/test/lying-blocks.js'
import { signedTheft, theft, undecodedOf } from '../../../protocol/dist/fraud/test/theft.js'
import { Cache, type SequencerContext } from '../context.js'
import { openRoots } from '../roots/index.js'
import { alignRoots, undoBlocks } from '../state/ledger-state.js'
import { accept } from '../test/accept.js'
import { openers } from '../test/rollup.js'
import type { AdoptionMeans } from '../types.js'
import { adoptBlock, checkBody, takeApart } from './adopt-block.js'
import { fetchBody } from './fetch.js'

const rules = { parameters: freeOfCharge, networkId: 0, slots }

/** As the scripts read what does not decode, or as if it moved nothing. */
const readings = [movedParts, undefined]

/**
 * A store with the outputs before the blocks, and an honest peer, which serves what it is given; or no peer
 * but the archive of this process. `lie`: what a peer serves that is asked first.
 */
async function openPeer(context: TestContext, isOwn = false, lie?: Uint8Array) {
  const { store } = await openers['PostgreSQL and Redis'](context)
  await store.applyGenesis(
    Array.from(outputsBefore(), ([key, output]) => ({
      reference: decodeOutputReference(fromHex(key)),
      output,
      address: decodeTransactionOutput(output).address.bytes,
    })),
  )
  async function serve(archive: Archive): Promise<string> {
    const server = fastify({ forceCloseConnections: true })
    context.onTestFinished(() => server.close())
    await server.register(archivist, { archive, prefix: '/archivist' })
    return `${await server.listen({ host: '127.0.0.1', port: 0 })}/archivist`
  }
  const urls = [await serve(store.archive)]
  if (lie !== undefined) urls.unshift(await serve({ ...store.archive, body: () => Readable.from([lie]) }))
  const blamed: unknown[] = []
  const log = { info: () => undefined, error: () => undefined, warn: (what: unknown) => blamed.push(what) }
  const peers = isOwn ? createPeers([], {}, log, store.archive) : createPeers(urls, {}, log)
  context.onTestFinished(() => peers.close())
  const { signal: ends } = new AbortController()
  const roots = await openRoots()
  context.onTestFinished(() => roots.close())
  const place = { store, ends, roots, cache: new Cache(), log, step: () => undefined }
  let height = 0n
  return {
    blamed,
    store,
    async fetch({ roots, transactions }: Committed, read: typeof movedParts | undefined) {
      const header = {
        ...roots,
        depositsRoot: emptyRoot(),
        withdrawalsRoot: emptyRoot(),
        startTime: ++height,
        endTime: 60_000n,
        prevHeaderHash: genesisHeaderHash(),
        operatorVkey: new Uint8Array(28),
        blockVersion,
      }
      const block = { headerHash: headerHash(header), header: encodeHeader(header) }
      const derivation = createDerivation({ read })
      for (const transaction of transactions) derivation.add(transaction)
      const body = encodeBlockBody({ transactions, ...derivation.diff() })
      await store.archive.put([{ ...block, height, merged: false, body }])
      const means = { peers, rules }
      await alignRoots(place, undefined)
      return fetchBody(place, means, block.headerHash, (body) => checkBody(place, means, block, body))
    },
  }
}

test.for(Object.entries(undecodedOf(9_500_000n)))(
  'a block with %s that does not decode is invalid, and its peer is not blamed',
  async ([_kind, harmless], context) => {
    const { blamed, fetch } = await openPeer(context)
    const transactions = [signedTheft({ inputs: [20, 21], ...harmless })]
    for (const committed of readings) {
      const block = blockOf(transactions, committed && { read: committed })
      for (const served of readings) {
        const checked = await fetch(block, served)
        expect(blamed).toEqual([])
        expect(checked?.fault).toMatchObject({
          code: 'SEQUENCER_INVALID_BLOCK',
          message: expect.stringMatching(/does not decode/),
        })
      }
    }
  },
)

test('a body of another header has its peer blamed', async (context) => {
  const { blamed, fetch } = await openPeer(context)
  const { transactions } = blockOf([signedTheft({ inputs: [22] })])
  expect(await fetch({ ...blockOf([]), transactions }, undefined)).toBeUndefined()
  expect(blamed).toMatchObject([{ reason: expect.stringMatching(/transactions_root/) }])
})

test('the body of a lying peer is not held against the block that an honest one serves', async (context) => {
  const lie = encodeBlockBody(bodyOf([theft({ inputs: [22] })]))
  const { blamed, fetch, store } = await openPeer(context, false, lie)
  const held = theft({ inputs: [23] })
  await accept(store, [{ cbor: held }])
  expect(await fetch(blockOf([held]), undefined)).toMatchObject({ transactions: [{ cbor: held }] })
  expect(blamed).toMatchObject([{ reason: expect.stringMatching(/transactions_root/) }])
})

test('a body that no peer serves comes from the archive of the watcher beside', async (context) => {
  const { fetch, store } = await openPeer(context, true)
  const held = theft({ inputs: [23] })
  await accept(store, [{ cbor: held }])
  expect(await fetch(blockOf([held]), undefined)).toMatchObject({ transactions: [{ cbor: held }] })
})

test('of what the mempool holds byte for byte, no signature is verified again', async (context) => {
  const { fetch, store } = await openPeer(context)
  const [other, held] = [theft({ inputs: [22] }), theft({ inputs: [23] })]
  await accept(store, [{ cbor: signedTheft({ inputs: [22] }) }, { cbor: held }])
  expect((await fetch(blockOf([other]), undefined))?.fault).toMatchObject({
    code: 'SEQUENCER_INVALID_BLOCK',
    message: expect.stringMatching(/Transaction 0 breaks MissingVKeyWitnessesUTXOW/),
  })
  expect(await fetch(blockOf([held]), undefined)).toMatchObject({ transactions: [{ cbor: held }] })
})

describe('held fees', () => {
  const ada = 1_000_000n
  const user = keyOf(9)
  const genesis = fundsOf(user, 2, 10n * ada)
  const bridge = new Uint8Array(28).fill(0xb1)
  const operatorVkey = user.address.slice(1)
  const payee = { prevHeaderHash: new Uint8Array(28), operatorVkey, networkId: 0 }
  /** The fee output of a first block with fees of 5 ada. */
  const fees = { transactionId: feeOutput(payee, 5n * ada)!.id, index: 0 }
  const signal = new AbortController().signal

  /** A first block with these transactions, which its operator does not judge. */
  async function blockOf(...transactions: readonly SignedTransaction[]) {
    const trie = createOutputTrie({ store: createMemoryStore(), history: 4 })
    await trie.rebuild(
      genesis.map(({ reference, output }) => [encodeOutputReference(reference), output] as const),
    )
    const prevUtxosRoot = Uint8Array.from(trie.root)
    const { prevHeaderHash } = payee
    const cbors = transactions.map(({ cbor }) => cbor)
    const rules = { bridge, feesTo: payee }
    const body = bodyOf(cbors, rules)
    const { root } = await createTransactionsMap(deriveBlock(cbors, trie.outputHash, rules))
    const derivation = createDerivation({ bridge })
    for (const credit of body.deposits ?? []) derivation.deposit(credit)
    for (const cbor of cbors) derivation.add(cbor)
    trie.applyDerivation(derivation)
    const { bytes, hash } = encodedHeader({
      ...{ prevUtxosRoot, prevHeaderHash, operatorVkey, blockVersion },
      utxosRoot: Uint8Array.from(trie.root),
      transactionsRoot: root,
      depositsRoot: await depositsRoot(body.deposits ?? []),
      withdrawalsRoot: emptyRoot(),
      startTime: BigInt(slots.zeroTime) + 1000n,
      endTime: BigInt(slots.zeroTime) + 61_000n,
    })
    return { body, headerHash: hash, header: bytes }
  }

  test('the fees of a removed block cannot be spent, also when its successor has fees', async (context) => {
    const { store } = await openers['PostgreSQL and Redis'](context)
    const roots = await openRoots({ bridge })
    context.onTestFinished(() => roots.close())
    await store.applyGenesis(genesis)
    const lease = (await store.leases.acquire('sequencer', 'a test', 3_600_000))!
    const none = () => undefined
    const place = {
      ...{ store, roots, lease, signal, ends: signal, step: none },
      cache: { ahead: [], genesisRoot: undefined, blocksRemoved: none },
      log: { info: none, warn: none, error: none },
      contracts: { bridge: { place: { script: { hash: bridge } } } },
      operator: { release: none },
    } as unknown as SequencerContext
    const adopt = (block: { body: BlockBody; headerHash: Uint8Array; header: Uint8Array }) => {
      const peers = {
        askBody: ({ check }: { check(body: BlockBody): unknown }) => check(block.body),
      }
      const rules = { parameters: freeOfCharge, networkId: 0, slots, bridge }
      return adoptBlock(place, { peers, rules } as unknown as AdoptionMeans, block, true)
    }
    const [first, second] = genesis.map(({ reference }) => reference)
    const five = signed(user, { inputs: [first!], outputs: [5n * ada], fee: 5n * ada })
    const one = signed(user, { inputs: [second!], outputs: [9n * ada], fee: ada })
    const spending = signed(user, { inputs: [fees], outputs: [5n * ada] })
    expect(await adopt(await blockOf(five))).toBeUndefined()
    await accept(store, [spending])
    await undoBlocks(place, 1n, 'layer 1 no longer has it')
    expect(await store.ledger.outputs([fees])).toEqual([undefined])
    await expect(accept(store, [spending])).rejects.toThrow()
    expect(await adopt(await blockOf(one))).toBeUndefined()
  })
})

test('a large block is taken apart into the same, of which only ids and bytes are kept', async () => {
  const transactions = ['one read each', 'outputs of nothing', 'many inputs'].flatMap((shape) =>
    transactionsOf(shape, 0.003, randomOf(1)),
  )
  const [one, other] = [await takeApart(transactions, undefined), await takeApart(transactions, undefined, 0)]
  expect(transactions.length).toBeGreaterThan(100)
  expect(other.identified).toEqual(one.identified.map(({ id, cbor }) => ({ id, cbor })))
  expect(await other.all()).toEqual(await one.all())
  for (const place of transactions.keys()) expect(other.at(place)).toEqual(one.at(place))
})

test.each([undefined, 0])('of a block, nothing is taken apart that does not decode', async (mostBytes) => {
  const transactions = transactionsOf('mixed', 0.001, randomOf(1))
  const { identified, at, all } = await takeApart(
    [...transactions, Uint8Array.of(0x80)],
    undefined,
    mostBytes,
  )
  expect(identified).toHaveLength(transactions.length + 1)
  expect(at(transactions.length)).toBeUndefined()
  expect(await all()).toHaveLength(transactions.length)
})
