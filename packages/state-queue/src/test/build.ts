import type { AddressInfo } from 'node:net'
import { httpErrorOptions, httpErrors, type Operation, type OperationResult } from '@ratatosk/http'
import fastify from 'fastify'
import type { Test } from 'tap'
import stateQueue, { type RootUnits, type StateQueueOptions, type StateQueueView } from '../index.js'
import { ask } from './ask.js'

export interface LogLine {
  level: number
  msg: string
  reqId?: string
  err?: { message: string; code?: string }
}

/** What a layer 1 has to say, by whatever port it is asked; notes each question. */
export class Chain {
  readonly asked: string[] = []
  view: StateQueueView = { roots: [], blocks: [] }
  units: RootUnits = {
    resetInProgress: false,
    stateQueueAddress: 'addr_test1wq',
    rootUnit: 'ab',
    outRefs: [],
  }
  result: OperationResult = { kind: 'repaired' }
  balance = 0n
  failure: unknown

  readonly ports = {
    queue: { read: () => this.#answer('queue', this.view) },
    rootUnits: { look: () => this.#answer('rootUnits', this.units) },
    repair: { repair: () => this.#answer('repair', this.result) },
    wallet: { lovelace: () => this.#answer('wallet', this.balance) },
  }

  async #answer<T>(port: string, answer: T): Promise<T> {
    this.asked.push(port)
    if (this.failure !== undefined) throw this.failure
    return answer
  }
}

/** A listening server with the plugin over a chain of its own; its log is kept, line by line. */
export async function build(t: Test, options?: Partial<StateQueueOptions>) {
  const chain = new Chain()
  const lines: string[] = []
  const server = fastify({
    ...httpErrorOptions,
    logger: { level: 'info', stream: { write: (line: string) => void lines.push(line) } },
  })
  t.teardown(() => server.close())
  await server.register(httpErrors)
  await server.register(stateQueue, { ...chain.ports, ...options })
  await server.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`
  const get = (path: string, headers: Record<string, string> = {}) => ask(url + path, { headers })
  const head = (path: string) => ask(url + path, { method: 'HEAD' })
  /** The log without what Fastify says of each request. */
  const log = () =>
    lines
      .map((line): LogLine => JSON.parse(line))
      .filter(({ msg }) => !/^(Server listening|incoming request|request completed)/.test(msg))
  return { server, chain, lines, log, url, get, head }
}

export const paths = [
  '/stateQueue',
  '/stateQueue/root-unit-diagnostics',
  '/stateQueue/repair-root-units',
  '/commitment-wallet/balance',
] as const

/** What changes nothing. */
export const reads = [
  '/stateQueue',
  '/stateQueue/root-unit-diagnostics',
  '/commitment-wallet/balance',
] as const

export const operations: readonly Operation[] = ['init', 'commit', 'merge', 'reset', 'repair']
