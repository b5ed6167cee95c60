import { httpErrorOptions, httpErrors } from '@ratatosk/http'
import type { OperationDetails, OperationResult } from '@ratatosk/ports'
import { CannedPorts, listening, recordedLog } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import type { Test } from 'tap'
import operator, { type BlockCount, type OperatorOperation, type OperatorOptions } from '../index.js'

const transactionId = '11'.repeat(32)
export const headerHash = 'ab'.repeat(28)
export const operatorKey = 'ef'.repeat(28)
const rootUnit = `${'cd'.repeat(28)}00`

/** A node with canned answers; records what it is asked. */
export class Node extends CannedPorts {
  readonly results: Record<OperatorOperation, OperationResult> = {
    init: { kind: 'initiated', transactionId, rootUnit },
    commit: { kind: 'committed', headerHash, transactionId, transactions: 3 },
    merge: { kind: 'merged', headerHash, transactionId },
    reset: { kind: 'reset' },
    remove: { kind: 'removed', headerHash, transactionId, removed: [headerHash] },
    register: { kind: 'registered', operatorKey, transactionId, bond: '5', activeFrom: 0 },
    retire: { kind: 'retired', operatorKey, transactionId, activeUntil: 1000, releaseAt: 2000 },
    release: { kind: 'released', operatorKey, transactionId, bond: '5' },
  }
  blocks: readonly BlockCount[] = []
  globals: unknown = {}

  readonly ports = {
    operations: {
      run: (operation: OperatorOperation, { headerHash = '' }: OperationDetails = {}) =>
        this.answer(`${operation} ${headerHash}`.trim(), this.results[operation]),
    },
    blocks: { counts: (limit: number) => this.answer(`blocks ${limit}`, this.blocks) },
    globals: { snapshot: () => this.answer('globals', this.globals) },
  }

  /** Makes every operation end with this result. */
  end(result: OperationResult): void {
    for (const operation of Object.keys(this.results) as OperatorOperation[]) this.results[operation] = result
  }
}

/** A listening server with the plugin over a node of its own; its log is recorded. */
export async function build(t: Test, options?: Partial<OperatorOptions>) {
  const node = new Node()
  const { stream, lines, records: log } = recordedLog()
  const server = fastify({ ...httpErrorOptions, logger: { level: 'info', stream } })
  t.teardown(() => server.close())
  await server.register(httpErrors)
  await server.register(operator, { ...node.ports, ...options })
  return { server, node, lines, log, ...(await listening(server)) }
}

export const requests = ['/init', '/commit', '/merge', '/reset', `/remove?header_hash=${headerHash}`] as const
/** Those that change the operator's entry in the registry; each is a POST. */
export const changes = ['/operator/register', '/operator/retire', '/operator/release'] as const
export const logs = ['/logBlocksTxsDB', '/logGlobals'] as const
export const paths = [...requests, ...logs] as const
