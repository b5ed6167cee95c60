import { httpErrorOptions, httpErrors } from '@ratatosk/http'
import { listening } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import type { Test } from 'tap'
import txStatus, {
  type FoundSubmission,
  type RejectedSubmission,
  type RemovedTransaction,
  type TransactionPlace,
  type TxStatusOptions,
  type WaitingSubmission,
} from '../index.js'

export const time = new Date('2026-03-04T05:06:07.891Z')
export const id = new Uint8Array(32).fill(0xab)
export const txHash = 'ab'.repeat(32)

export const accepted: TransactionPlace = { acceptedAt: time }

export function inBlock(state: NonNullable<TransactionPlace['block']>['state']): TransactionPlace {
  return {
    ...accepted,
    position: 3,
    block: {
      height: 7n,
      state,
      headerHash: new Uint8Array(28).fill(1),
      endTime: 1_767_225_600_000n,
      commitTransactionId: new Uint8Array(32).fill(2),
      ...(state === 'merged' && { mergeTransactionId: new Uint8Array(32).fill(3) }),
    },
  }
}

export const rejection: RejectedSubmission = {
  submissionId: 's-1',
  transactionId: id,
  code: 'FeeTooSmallUTxO',
  message: 'The fee is 1 lovelace, at least 155381 are required.',
  details: [
    { predicate: 'FeeTooSmallUTxO', message: 'The fee is too small.', details: { given: '1' } },
    { predicate: 'BadInputsUTxO', message: 'An input is not known.' },
  ],
  attempts: 5,
  count: 2,
  submittedAt: time,
  firstRejectedAt: time,
  rejectedAt: time,
}

interface World {
  place?: TransactionPlace
  submission?: FoundSubmission
  /** Of the transaction, in the queue. */
  waiting?: WaitingSubmission
  /** Of the submission asked for. */
  rejection?: RejectedSubmission
  /** Of the transaction. */
  transactionRejection?: RejectedSubmission
  removals?: RemovedTransaction[]
}

export async function build(t: Test, world: World, options: Partial<TxStatusOptions> = {}) {
  const server = fastify(httpErrorOptions)
  t.teardown(() => server.close())
  await server.register(httpErrors)
  await server.register(txStatus, {
    ledger: { placeOf: async () => world.place, placesOf: async (ids) => ids.map(() => world.place) },
    rejections: {
      find: async () => world.rejection,
      findTransaction: async () => world.transactionRejection,
    },
    queue: { find: async () => world.submission, findTransaction: async () => world.waiting },
    removals: { ofTransaction: async () => world.removals ?? [] },
    maturityWindowMs: 30_000,
    ...options,
  })
  const { get } = await listening(server)
  return {
    server,
    get,
    async transaction() {
      const { status, body } = await get(`/tx/status?tx_hash=${txHash}`)
      t.equal(status, 200)
      return JSON.parse(body)
    },
    async submission() {
      const { status, body } = await get('/submission?id=s-1')
      t.equal(status, 200)
      return JSON.parse(body)
    },
  }
}
