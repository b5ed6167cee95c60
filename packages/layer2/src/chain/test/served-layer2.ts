import { randomBytes } from 'node:crypto'
import { fromHex } from '@ratatosk/cbor'
import { apis, routerOptions } from '@ratatosk/chain-apis'
import { decodeTransactionOutput, timeToSlot } from '@ratatosk/ledger'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { createSubmissionQueue, openQueueBackend } from '@ratatosk/queue'
import { type LedgerEntry, openStore } from '@ratatosk/store'
import { databaseUrl, inDatabase, randomName, redisUrl, removeKeys } from '@ratatosk/test-kit'
import {
  aliceGenesis,
  devnetParameters,
  draft,
  genesisOf,
  type OpenLedger,
  testKey,
} from '@ratatosk/test-kit/ledger-apis'
import { createValidationWorker, openTurns } from '@ratatosk/workers'
import fastify from 'fastify'
import { openIndex } from '../../ledger-index/index.js'
import { blockHash, type Finality, finalities, genesisHash } from '../finality.js'
import { openLayer2Chain } from '../open-layer2-chain.js'

/** Pays itself, so that every block has a transaction. */
const filler = testKey(9)
const fillerSource = `${'99'.repeat(32)}#0`

const slots = { zeroTime: BigInt(aliceGenesis.startTime), zeroSlot: 0n, slotLength: 1000 }

/** The genesis of `aliceGenesis`, and an output of the filler's. */
const genesis: readonly LedgerEntry[] = [
  ...aliceGenesis.utxos,
  ...genesisOf([filler.addressBytes], 1_000_000_000n).utxos.map(({ output }) => ({
    outref: fillerSource,
    output,
  })),
].map(({ outref, output }) => {
  const [id = '', index] = outref.split('#')
  const { address, bytes } = decodeTransactionOutput(fromHex(output))
  return {
    reference: { transactionId: fromHex(id), index: Number(index) },
    output: bytes,
    address: address.bytes,
  }
})

/** A served layer 2 without layer 1: PostgreSQL, Redis, validation and index. The test makes the blocks. */
export interface ServedLayer2 {
  /** A ledger for the suites of `@ratatosk/test-kit/ledger-apis`; begins again for each test. */
  openLedger(finality: Finality): OpenLedger
  close(): Promise<void>
}

export async function serveLayer2(): Promise<ServedLayer2> {
  const schema = randomName()
  const prefix = schema
  const parameters = devnetParameters()
  const store = await openStore({ url: databaseUrl, schema, maxConnections: 6 })
  const queue = await openQueueBackend({ kind: 'redis', url: redisUrl, prefix })
  const evaluator = createEvaluator({ threads: 1 })
  await store.applyGenesis(genesis)
  const worker = createValidationWorker({
    queue,
    store,
    parameters,
    networkId: 0,
    slots,
    evaluator,
    // Rejects at once what time could change.
    maxAttempts: 1,
  })
  await worker.ready()
  const index = await openIndex({
    database: store.database,
    schema: `${schema}_index`,
    source: store.changes,
    genesis,
  })
  const layer2 = openLayer2Chain({
    store,
    index,
    queue: createSubmissionQueue(queue),
    evaluator,
    turns: openTurns(),
    maxTransactionSize: parameters.maxTransactionSize,
    submitTimeoutMs: 20_000,
    log: { warn: (...args: unknown[]) => console.warn(...args) },
    parameters,
    slots,
    networkMagic: aliceGenesis.networkMagic,
    networkId: 0,
    maxBlockSize: 90_112,
    securityParameter: 2_160,
    now: Date.now,
  })
  const server = fastify({ forceCloseConnections: true, routerOptions })
  for (const finality of finalities) {
    await server.register(apis, { chain: layer2.view(finality), prefix: `/${finality}` })
  }
  // As a node does: by default the system resets some of more than 511 connections that come at once.
  const url = await server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 })
  const lease = await store.leases.acquire('sequencer', 'a test', 3_600_000)
  if (lease === undefined) throw new Error('The lease is held')
  let fillerOutput = fillerSource
  let fillerFunds = 1_000_000_000n

  async function submit(cbor: Uint8Array): Promise<void> {
    const result = await layer2.view('accepted').submit(cbor)
    if (result.kind !== 'accepted') throw new Error(`Not accepted: ${JSON.stringify(result, undefined, 1)}`)
  }

  async function fill(): Promise<void> {
    fillerFunds -= 200_000n
    const { cbor, hash } = draft({
      inputs: [fillerOutput],
      outputs: [{ address: filler.addressBytes, lovelace: fillerFunds }],
      fee: 200_000n,
      signers: [filler],
    })
    await submit(cbor)
    fillerOutput = `${hash}#0`
  }

  async function produceBlock() {
    if ((await store.blocks.waiting(1)) === 0) await fill()
    const transactions = await store.blocks.oldest(10_000)
    const newest = await store.blocks.newest()
    const endTime = BigInt(Date.now())
    const headerHash = Uint8Array.from(randomBytes(28))
    await store.blocks.build(
      {
        headerHash,
        header: Uint8Array.of(0),
        previousHeaderHash: newest?.headerHash ?? new Uint8Array(28),
        utxosRoot: new Uint8Array(32),
        startTime: newest?.endTime ?? endTime - 1n,
        endTime,
        firstSequence: transactions.at(0)?.sequence ?? 0n,
        lastSequence: transactions.at(-1)?.sequence ?? 0n,
        transactions: transactions.length,
        commitTransaction: { id: Uint8Array.from(randomBytes(32)), cbor: Uint8Array.of(0) },
      },
      lease!,
    )
    await store.blocks.setState([headerHash], 'committed', lease!)
    return { slot: timeToSlot(slots, endTime), hash: blockHash(headerHash) }
  }

  async function reset(): Promise<void> {
    await store.blocks.reset(lease!)
    await store.applyGenesis(genesis)
    fillerOutput = fillerSource
    fillerFunds = 1_000_000_000n
  }

  return {
    openLedger: (finality) => async () => {
      await reset()
      const base = `${url}/${finality}`
      return {
        layer: 2,
        blockfrost: `${base}/blockfrost/api/v0`,
        ogmios: `${base}/ogmios`,
        parameters,
        genesisHash,
        currentSlot: () => timeToSlot(slots, BigInt(Date.now())),
        submit,
        produceBlock,
        async rollBack(blocks) {
          const newest = await store.blocks.newest()
          if (newest === undefined) throw new Error('There is no block')
          await store.blocks.returnToMempool(newest.height - BigInt(blocks - 1), lease!)
        },
        reset,
        isConfirmed: async (hash) => (await store.chain.transaction(fromHex(hash)))?.place !== undefined,
      }
    },
    async close() {
      layer2.close()
      await server.close()
      await worker.close()
      await index.close()
      await queue.close()
      await store.close()
      await evaluator.close()
      await inDatabase(`DROP SCHEMA "${schema}" CASCADE; DROP SCHEMA "${schema}_index" CASCADE`)
      await removeKeys(prefix)
    },
  }
}
