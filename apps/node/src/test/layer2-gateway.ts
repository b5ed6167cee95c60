import { apis } from '@ratatosk/chain-apis'
import { openLayer2Chain } from '@ratatosk/layer2/chain'
import { openIndex } from '@ratatosk/layer2/ledger-index'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { createSubmissionQueue, openQueueBackend } from '@ratatosk/queue'
import { openStore } from '@ratatosk/store'
import { databaseUrl, redisUrl } from '@ratatosk/test-kit'
import { devnetParameters } from '@ratatosk/test-kit/ledger-apis'
import { openTurns } from '@ratatosk/workers'
import fastify from 'fastify'
import type { Test } from 'tap'

/** Serves `/l2` on a node's database and queue, without validation. `name`: schema and prefix. */
export async function serveGateway(t: Test, name: string, submitTimeoutMs: number) {
  const parameters = devnetParameters()
  const store = await openStore({ url: databaseUrl, schema: name, maxConnections: 6 })
  const queue = await openQueueBackend({ kind: 'redis', url: redisUrl, prefix: name })
  const evaluator = createEvaluator({ threads: 1 })
  const index = await openIndex({
    database: store.database,
    schema: `${name}_index`,
    source: store.changes,
    genesis: [],
  })
  const layer2 = openLayer2Chain({
    store,
    index,
    queue: createSubmissionQueue(queue),
    evaluator,
    turns: openTurns(),
    maxTransactionSize: parameters.maxTransactionSize,
    submitTimeoutMs,
    log: { warn: (...args: unknown[]) => console.warn(...args) },
    parameters,
    slots: { zeroTime: BigInt(Date.UTC(2025, 0, 1)), zeroSlot: 0n, slotLength: 1000 },
    networkMagic: 42,
    networkId: 0,
    maxBlockSize: 90_112,
    securityParameter: 2_160,
    now: Date.now,
  })
  const server = fastify({ forceCloseConnections: true })
  await server.register(apis, { chain: layer2.view('accepted'), prefix: '/l2' })
  // As a node does: by default the system resets some of more than 511 connections that come at once.
  const url = await server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 })
  t.teardown(async () => {
    layer2.close()
    await server.close()
    await index.close()
    await queue.close()
    await store.close()
    await evaluator.close()
  })
  return { url, store }
}
