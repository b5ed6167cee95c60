import { recordedLog } from '@ratatosk/test-kit/http'
import fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import txQuery, { type TxQueryOptions } from '../index.js'
import { MemoryLedger } from './memory-ledger.js'

/** A server with the plugin only, over an in-memory ledger by default; `prepare` adds hooks first. */
export async function build(
  t: Test,
  options: Partial<TxQueryOptions> = {},
  prepare: (server: FastifyInstance) => void = () => undefined,
) {
  const ledger = new MemoryLedger()
  const log = recordedLog()
  const server = fastify({ logger: { level: 'info', stream: log.stream } })
  t.teardown(() => server.close())
  prepare(server)
  await server.register(txQuery, { ledger, network: 'testnet', ...options })
  const get = async (url: string) => {
    const response = await server.inject(url)
    return { status: response.statusCode, body: response.body, type: response.headers['content-type'] }
  }
  return { server, ledger, log, get }
}
