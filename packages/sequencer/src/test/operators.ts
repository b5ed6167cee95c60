import archivist, { archiveOfBlocks } from '@ratatosk/archivist'
import { createPeers } from '@ratatosk/follower'
import type { Layer1 } from '@ratatosk/layer1'
import type { Store } from '@ratatosk/store'
import { collect, freeOfCharge, logOf } from '@ratatosk/test-kit'
import fastify from 'fastify'
import { expect, type TestContext, vi } from 'vitest'
import type { AdoptionMeans, SequencerOptions } from '../types.js'
import { openers, openRollup, type Rollup, user } from './rollup.js'

export interface TestOperator extends Rollup {
  readonly store: Store
  /** Of the store. */
  readonly name: string
  readonly url: string
}

/** Serves the blocks of a store until the test ends. Returns the base URL. */
export async function serveBlocks(context: TestContext, store: Store, bridge?: Uint8Array): Promise<string> {
  const server = fastify({ forceCloseConnections: true })
  context.onTestFinished(() => server.close())
  await server.register(archivist, {
    archive: archiveOfBlocks(store.blocks, { bridge }),
    prefix: '/archivist',
  })
  return `${await server.listen({ host: '127.0.0.1', port: 0 })}/archivist`
}

/** The means to adopt the blocks of these peers. */
export async function adoptionFrom(
  context: TestContext,
  layer1: Layer1,
  urls: readonly string[],
  bridge?: Uint8Array,
): Promise<AdoptionMeans> {
  const log = logOf('peers') ?? { info: () => undefined, warn: () => undefined, error: () => undefined }
  const peers = createPeers(urls, { backoffMs: 20, mayCredit: bridge !== undefined }, log)
  context.onTestFinished(() => peers.close())
  return { peers, rules: { parameters: freeOfCharge, networkId: 0, slots: await layer1.slots(), bridge } }
}

/** Stores with their blocks served, for operators that adopt each other's. */
export async function openStores(context: TestContext, count: number, bridge?: Uint8Array) {
  const opened = []
  for (let n = 0; n < count; n++) {
    const services = await openers['PostgreSQL and Redis'](context)
    opened.push({ ...services, url: await serveBlocks(context, services.store, bridge) })
  }
  return opened
}

/** A sequencer that commits, merges, and adopts the blocks of the others. */
export async function openOperator(
  context: TestContext,
  layer1: Layer1,
  stores: readonly Pick<TestOperator, 'store' | 'name' | 'url'>[],
  own: number,
  options: Partial<SequencerOptions> = {},
): Promise<TestOperator> {
  const { store, name, url } = stores[own]!
  const others = stores.filter((_, place) => place !== own).map((other) => other.url)
  const rollup = await openRollup(context, store, layer1, {
    holder: `operator ${own}`,
    autoCommit: true,
    autoMerge: true,
    adoption: await adoptionFrom(context, layer1, others, options.contracts?.bridge?.place.script.hash),
    ...options,
  })
  return { ...rollup, store, name, url }
}

export async function idsInBlocks({ blocks }: Store): Promise<readonly string[]> {
  const newest = await blocks.newest()
  const ids: string[] = []
  for (const { headerHash } of await blocks.range(1n, newest?.height ?? 0n))
    ids.push(...(await blocks.transactionsOf(headerHash)).map(({ id }) => Buffer.from(id).toString('hex')))
  return ids
}

/** Everything of a ledger but accept sequences, times, and layer-1 transactions. */
async function ledgerOf({ store, name }: Pick<TestOperator, 'store' | 'name'>) {
  const rows = async (text: string) => (await store.database.run(text, [])).rows
  return {
    blocks: await rows(
      `SELECT height::text, header_hash, header, state::text, transactions FROM ${name}.blocks
      WHERE state <> 'removed' ORDER BY height`,
    ),
    transactions: await rows(
      `SELECT height::text, position, transaction_id, cbor FROM ${name}.block_transactions
      JOIN ${name}.blocks ON blocks.id = block_id ORDER BY blocks.height, position`,
    ),
    outputs: await rows(
      `SELECT transaction_id, output_index, output, address FROM ${name}.mempool_ledger
      ORDER BY transaction_id, output_index`,
    ),
    history: await collect(store.historyPages(user.address, { limit: 10_000, offset: 0 })),
  }
}

type Operators = readonly Pick<TestOperator, 'store' | 'name'>[]

export const expectSameBlocks = (operators: Operators): Promise<void> =>
  expectSame(operators, ({ blocks, transactions }) => ({ blocks, transactions }))

/** Expects that operators without a mempool have the same ledger. */
export const expectSameLedgers = (operators: Operators): Promise<void> =>
  expectSame(operators, (ledger) => ledger)

type Ledger = Awaited<ReturnType<typeof ledgerOf>>

/** Waits for states, because each operator finds mature blocks at its own pace. */
const expectSame = (operators: Operators, part: (ledger: Ledger) => Partial<Ledger>): Promise<void> =>
  vi.waitFor(
    async () => {
      const [first, ...others] = (await Promise.all(operators.map(ledgerOf))).map(part)
      for (const other of others) expect(other).toEqual(first)
    },
    { timeout: 30_000, interval: 200 },
  )
