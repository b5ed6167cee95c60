import { blockVersion, encodeHeader } from '@ratatosk/block'
import type { TimedBlock } from '@ratatosk/ports'
import { keyOf } from '@ratatosk/test-kit'
import type { ExplorerOptions } from '../index.js'

export { keyOf }

const time = new Date('2026-03-04T05:06:07.891Z')

export function timedBlock(height: bigint, transactions: number): TimedBlock {
  const root = new Uint8Array(32)
  const hash = new Uint8Array(28)
  return {
    height,
    state: 'committed',
    headerHash: new Uint8Array(28).fill(Number(height)),
    header: encodeHeader({
      prevUtxosRoot: root,
      utxosRoot: root,
      transactionsRoot: root,
      depositsRoot: root,
      withdrawalsRoot: root,
      startTime: 1_767_225_540_000n,
      endTime: 1_767_225_600_000n,
      prevHeaderHash: hash,
      operatorVkey: hash,
      blockVersion,
    }),
    endTime: 1_767_225_600_000n,
    transactions,
    commitTransactionId: new Uint8Array(32),
    commitTransaction: Uint8Array.of(0),
    mergeTransactionId: null,
    builtAt: time,
    submittedAt: time,
    committedAt: time,
    maturedAt: null,
    mergedAt: null,
    removedAt: null,
  }
}

const nothing = { minutes: [], last: undefined }

/** The ports of a node on which nothing happened. */
export const options: ExplorerOptions & Required<Pick<ExplorerOptions, 'index'>> = {
  reads: {
    blocks: async () => [],
    block: async () => undefined,
    totals: async () => [],
    accepted: async () => nothing,
    acceptedBefore: async () => 0n,
    rejected: async () => nothing,
    moved: async () => [],
    delay: async () => undefined,
  },
  ledger: {
    transaction: async () => undefined,
    placeOf: async () => undefined,
    transactionsOf: async () => [],
    mempool: async () => ({ transactions: 0, bytes: 0 }),
    head: async () => ({ accepted: 0n, rejected: 0n }),
  },
  queue: { waiting: async () => ({ transactions: 0, bytes: 0, oldestAt: undefined }) },
  index: {
    outputs: async () => [],
    knowsAddress: async () => false,
    assets: async () => [],
    asset: async () => undefined,
  },
  layer1: {
    tip: async () => ({ height: 5, slot: 9n, at: time }),
    wallet: async () => ({ address: 'addr', lovelace: 7n }),
  },
  node: { version: '1.0.0', role: 'all', network: 'devnet' },
  trust: [],
}
