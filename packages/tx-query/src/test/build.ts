import fastify from 'fastify'
import type { Test } from 'tap'
import txQuery, { type TxQueryOptions } from '../index.js'
import { MemoryLedger } from './memory-ledger.js'

export interface LogLine {
  level: number
  msg: string
  reqId?: string
  err?: { message: string }
}

/** A server with nothing but the plugin, over a ledger in memory unless the options name another. */
export async function build(t: Test, options: Partial<TxQueryOptions> = {}) {
  const ledger = new MemoryLedger()
  const log: LogLine[] = []
  const server = fastify({
    logger: { level: 'info', stream: { write: (line: string) => void log.push(JSON.parse(line)) } },
  })
  t.teardown(() => server.close())
  await server.register(txQuery, { ledger, network: 'testnet', ...options })
  const get = async (url: string) => {
    const response = await server.inject(url)
    return { status: response.statusCode, body: response.body, type: response.headers['content-type'] }
  }
  return { server, ledger, log, get }
}
