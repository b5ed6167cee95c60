import archivist from '@ratatosk/archivist'
import {
  blockVersion,
  createDerivation,
  encodeBlockBody,
  encodeHeader,
  genesisHeaderHash,
  headerHash,
  judgeBlock,
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
import { signedTheft } from '../../../fraud/dist/test/theft.js'
import { undecodedOf } from '../../../fraud/dist/test/undecoded.js'
import { openers } from '../test/services.js'
import { fetchBody } from './fetch.js'

const rules = { parameters: freeOfCharge, networkId: 0, slots }

/** As the scripts read what does not decode, or as if it moved nothing. */
const readings = [movedParts, undefined]

/** A store with the outputs before the blocks, and an honest peer, which serves the blocks that it is given. */
async function openPeer(context: TestContext) {
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
  const peers = createPeers([url], {}, log)
  context.onTestFinished(() => peers.close())
  const { signal: ends } = new AbortController()
  let height = 0n
  return {
    blamed,
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
      const derivation = createDerivation(read)
      for (const transaction of transactions) derivation.add(transaction)
      const body = encodeBlockBody({ transactions, ...derivation.diff() })
      await store.archive.put([{ ...block, height, merged: false, body }])
      return fetchBody({ store, ends }, { peers, rules }, block)
    },
  }
}

test.for(Object.entries(undecodedOf(9_500_000n)))(
  'a block with %s that does not decode is invalid, and whoever serves it is not blamed',
  async ([_kind, harmless], context) => {
    const { blamed, fetch } = await openPeer(context)
    const transactions = [signedTheft({ inputs: [20, 21], ...harmless })]
    for (const committed of readings) {
      const block = blockOf(transactions, committed && { read: committed })
      for (const served of readings) {
        const { error, body, before } = (await fetch(block, served))!
        expect(blamed).toEqual([])
        const times = { startTime: 1n, endTime: 60_000n }
        const judged = error
          ? Promise.reject(error)
          : judgeBlock(body.transactions, times, before.utxos, rules)
        await expect(judged).rejects.toMatchObject({
          code: 'BLOCK_INVALID',
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
