import { httpErrorOptions, httpErrors } from '@ratatosk/http'
import type { OperationResult } from '@ratatosk/ports'
import { CannedPorts, listening, recordedLog } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import type { Test } from 'tap'
import stateQueue, {
  type QueuedBlock,
  type RootUnits,
  type StateQueueOptions,
  type StateQueueRoot,
  type StateQueueView,
} from '../index.js'

/** 2026-01-01T00:00:00Z. */
export const now = 1_767_225_600_000

const maturityWindow = 60_000

export const outRef = (byte: number, index = 0) => `${Buffer.alloc(32, byte).toString('hex')}#${index}`

/** A root whose confirmed block ended that many seconds ago; without a number, at genesis. */
export function root(byte: number, secondsAgo?: number): StateQueueRoot {
  return {
    outRef: outRef(byte),
    headerHash: Buffer.alloc(28, secondsAgo === undefined ? 0 : byte),
    endTime: secondsAgo === undefined ? 0n : BigInt(now - secondsAgo * 1000),
  }
}

/** A block that ended that many seconds ago and matures a minute after its end. */
export function block(byte: number, secondsAgo: number, height?: bigint): QueuedBlock {
  const endTime = now - secondsAgo * 1000
  return {
    headerHash: Buffer.alloc(28, byte),
    startTime: BigInt(endTime - 1000),
    endTime: BigInt(endTime),
    maturesAt: BigInt(endTime + maturityWindow),
    ...(height !== undefined && { height }),
  }
}

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
