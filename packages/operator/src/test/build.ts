import type { AddressInfo } from 'node:net'
import { httpErrorOptions, httpErrors, type OperationResult } from '@ratatosk/http'
import fastify from 'fastify'
import type { Test } from 'tap'
import operator, { type BlockCount, type OperatorOperation, type OperatorOptions } from '../index.js'
import { ask } from './ask.js'

export interface LogLine {
  level: number
  msg: string
  reqId?: string
  globals?: unknown
  err?: { message: string; code?: string }
}

export const transactionId = '11'.repeat(32)
export const headerHash = 'ab'.repeat(28)
export const rootUnit = `${'cd'.repeat(28)}00`

/** A node whose answers are given; notes what it is asked. */
export class Node {
  readonly asked: string[] = []
  results: Record<OperatorOperation, OperationResult> = {
    init: { kind: 'initiated', transactionId, rootUnit },
    commit: { kind: 'committed', headerHash, transactionId, transactions: 3 },
    merge: { kind: 'merged', headerHash, transactionId },
    reset: { kind: 'reset' },
  }
  blocks: readonly BlockCount[] = []
  globals: unknown = {}
  failure: unknown

  readonly ports = {
    operations: {
      run: (operation: OperatorOperation) => this.#answer(operation, this.results[operation]),
    },
    blocks: { counts: (limit: number) => this.#answer(`blocks ${limit}`, this.blocks) },
    globals: { snapshot: () => this.#answer('globals', this.globals) },
  }

  /** The same result for every operation. */
  end(result: OperationResult): void {
    this.results = { init: result, commit: result, merge: result, reset: result }
  }

  async #answer<T>(port: string, answer: T): Promise<T> {
    this.asked.push(port)
    if (this.failure !== undefined) throw this.failure
    return answer
  }
}

/** A listening server with the plugin over a node of its own; its log is kept, line by line. */
export async function build(t: Test, options?: Partial<OperatorOptions>) {
  const node = new Node()
  const lines: string[] = []
  const server = fastify({
    ...httpErrorOptions,
    logger: { level: 'info', stream: { write: (line: string) => void lines.push(line) } },
  })
  t.teardown(() => server.close())
  await server.register(httpErrors)
  await server.register(operator, { ...node.ports, ...options })
  await server.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`
  const get = (path: string, headers: Record<string, string> = {}) => ask(url + path, { headers })
  const head = (path: string) => ask(url + path, { method: 'HEAD' })
  /** The log without what Fastify says of each request. */
  const log = () =>
    lines
      .map((line): LogLine => JSON.parse(line))
      .filter(({ msg }) => !/^(Server listening|incoming request|request completed)/.test(msg))
  return { server, node, lines, log, url, get, head }
}

export const operations = ['init', 'commit', 'merge', 'reset'] as const
export const logs = ['/logBlocksTxsDB', '/logGlobals'] as const
export const paths = ['/init', '/commit', '/merge', '/reset', ...logs] as const
