import archivist from '@ratatosk/archivist'
import {
  blockVersion,
  createDerivation,
  encodeBlockBody,
  encodeHeader,
  genesisHeaderHash,
  headerHash,
} from '@ratatosk/block'
import { fromHex } from '@ratatosk/cbor'
import { createPeers } from '@ratatosk/follower'
import { movedParts } from '@ratatosk/fraud'
import { decodeOutputReference, decodeTransactionOutput } from '@ratatosk/ledger'
import { freeOfCharge, slots } from '@ratatosk/test-kit'
import { emptyRoot } from '@ratatosk/trie'
import fastify from 'fastify'
import { expect, type TestContext, test } from 'vitest'
import { blockOf, type Committed, outputsBefore } from '../../../fraud/dist/test/lying-blocks.js'
import { signedTheft, theft } from '../../../fraud/dist/test/theft.js'
import { undecodedOf } from '../../../fraud/dist/test/undecoded.js'
import { Cache } from '../cache.js'
import { openRoots } from '../roots/index.js'
import { alignRoots } from '../state/ledger-state.js'
import { accept } from '../test/accept.js'
import { openers } from '../test/services.js'
import { checkBody } from './adopt-block.js'
import { fetchBody } from './fetch.js'

const rules = { parameters: freeOfCharge, networkId: 0, slots }

/** As the scripts read what does not decode, or as if it moved nothing. */
const readings = [movedParts, undefined]

/**
 * A store with the outputs before the blocks, and an honest peer, which serves what it is given; or no peer
 * but the archive of this process.
 */
async function openPeer(context: TestContext, isOwn = false) {
  const { store } = await openers['PostgreSQL and Redis'](context)
  await store.applyGenesis(
    Array.from(outputsBefore(), ([key, output]) => ({
      reference: decodeOutputReference(fromHex(key)),
      output,
      address: decodeTransactionOutput(output).address.bytes,
    })),
  )
  const server = fastify({ forceCloseConnections: true })
  context.onTestFinished(() => server.close())
  await server.register(archivist, { archive: store.archive, prefix: '/archivist' })
  const url = `${await server.listen({ host: '127.0.0.1', port: 0 })}/archivist`
  const blamed: unknown[] = []
  const log = { info: () => undefined, error: () => undefined, warn: (what: unknown) => blamed.push(what) }
  const peers = isOwn ? createPeers([], {}, log, store.archive) : createPeers([url], {}, log)
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
