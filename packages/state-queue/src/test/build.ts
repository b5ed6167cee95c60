import { httpErrorOptions, httpErrors } from '@ratatosk/http'
import type { OperationResult } from '@ratatosk/ports'
import { CannedPorts, listening, recordedLog } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import type { Test } from 'tap'
import stateQueue, { type RootUnits, type StateQueueOptions, type StateQueueView } from '../index.js'

/** A layer 1 with canned answers; records what it is asked. */
export class Chain extends CannedPorts {
  view: StateQueueView = { roots: [], blocks: [] }
  units: RootUnits = {
    resetInProgress: false,
    stateQueueAddress: 'addr_test1wq',
    rootUnit: 'ab',
    outRefs: [],
  }
  result: OperationResult = { kind: 'repaired' }
  balance = 0n

  readonly ports = {
    queue: { read: () => this.answer('queue', this.view) },
    rootUnits: { read: () => this.answer('rootUnits', this.units) },
    repair: { repair: () => this.answer('repair', this.result) },
    wallet: { lovelace: () => this.answer('wallet', this.balance) },
  }
}

/** A listening server with the plugin over a chain of its own; its log is recorded. */
export async function build(t: Test, options?: Partial<StateQueueOptions>) {
  const chain = new Chain()
  const { stream, lines, records: log } = recordedLog()
  const server = fastify({ ...httpErrorOptions, logger: { level: 'debug', stream } })
  t.teardown(() => server.close())
  await server.register(httpErrors)
  await server.register(stateQueue, { ...chain.ports, ...options })
  return { server, chain, lines, log, ...(await listening(server)) }
}

export const paths = [
  '/stateQueue',
  '/stateQueue/root-unit-diagnostics',
  '/stateQueue/repair-root-units',
  '/commitment-wallet/balance',
] as const

/** Routes that change nothing. */
export const reads = [
  '/stateQueue',
  '/stateQueue/root-unit-diagnostics',
  '/commitment-wallet/balance',
] as const
