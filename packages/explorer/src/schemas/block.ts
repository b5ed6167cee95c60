import { type Static, Type } from '@sinclair/typebox'
import { count, hash, headerHash, lovelace, time } from './common.js'

const states = ['built', 'submitted', 'committed', 'mature', 'merged', 'removed'] as const

/** When a block entered its states; a state that it has not entered is absent. */
const BlockTimes = Type.Object(
  {
    built: time('When the block was built'),
    submitted: Type.Optional(time('When layer 1 accepted its transaction')),
    committed: Type.Optional(time('When it was in the state queue')),
    mature: Type.Optional(time('When its maturity window was over')),
    merged: Type.Optional(time('When it was in the confirmed state')),
    removed: Type.Optional(time('When it was no longer in the state queue')),
  },
  {
    title: 'ExplorerBlockTimes',
    description: 'When a block entered its states, by the clock of the database; newest entry of each',
  },
)

/** A block in a list. */
export const ExplorerBlock = Type.Object(
  {
    height: Type.Integer({ minimum: 1 }),
    headerHash,
    state: Type.Unsafe<(typeof states)[number]>({ type: 'string', enum: states, description: 'Where it is' }),
    transactions: count('How many transactions it has'),
    bytes: Type.Optional(count('Size of its transactions in bytes; absent until the node has counted them')),
    fees: Type.Optional(lovelace('Fees of its transactions; absent until the node has counted them')),
    endTime: time('End of the block'),
    maturesAt: Type.Optional(time('From when on it may be merged')),
    times: BlockTimes,
    commitTxHash: Type.Optional(hash('Layer-1 transaction that commits it; absent if another operator did')),
    commitFee: Type.Optional(lovelace('Fee of that transaction')),
    mergeTxHash: Type.Optional(hash('Layer-1 transaction that merges it, once it is signed')),
  },
  { title: 'ExplorerBlock', description: 'A block with its times' },
)
export type ExplorerBlock = Static<typeof ExplorerBlock>

/** Body of `GET /explorer/blocks`. */
export const BlocksAnswer = Type.Object(
  {
    blocks: Type.Array(ExplorerBlock, { description: 'From the newest down; without removed blocks' }),
    next: Type.Optional(
      Type.Integer({ minimum: 1, description: '`before` of the next part, if there is one' }),
    ),
  },
  { title: 'ExplorerBlocks', description: 'A part of the list of blocks' },
)
export type BlocksAnswer = Static<typeof BlocksAnswer>

const BlockTransaction = Type.Object(
  {
    hash: hash('Transaction hash'),
    bytes: count('Size in bytes'),
    fee: lovelace('Its fee'),
    inputs: count('How many outputs it spends'),
    outputs: count('How many outputs it makes'),
    redeemers: count('How many scripts it runs with a redeemer'),
    valid: Type.Boolean({ description: 'False if its scripts failed and it spent its collateral' }),
  },
  { title: 'ExplorerBlockTransaction', description: 'A transaction in a block' },
)

/** Body of `GET /explorer/block/{id}`. */
export const ExplorerBlockAnswer = Type.Object(
  {
    block: ExplorerBlock,
    header: Type.Object(
      {
        utxosRootBefore: hash('Root of the unspent outputs before the block'),
        utxosRootAfter: hash('Root of the unspent outputs after the block'),
        transactionsRoot: hash('Root of the transactions'),
        depositsRoot: hash('Root of the deposits'),
        withdrawalsRoot: hash('Root of the withdrawals'),
        startTime: time('Start of the block'),
        endTime: time('End of the block'),
        previousHeaderHash: Type.String({
          description: 'Hash of the previous header; zeros for the first block',
          pattern: '^[0-9a-f]{56}$',
        }),
        operator: Type.String({ description: "Hash of the operator's key", pattern: '^[0-9a-f]{56}$' }),
        blockVersion: count('Version of the block format'),
      },
      { title: 'ExplorerHeader', description: 'The ten fields of the header' },
    ),
    transactions: Type.Array(BlockTransaction, {
      description: 'A part of its transactions, in order; none if the block is removed',
    }),
    offset: count('How many transactions are before this part'),
  },
  { title: 'ExplorerBlockDetails', description: 'A block with its header and a part of its transactions' },
)
export type ExplorerBlockAnswer = Static<typeof ExplorerBlockAnswer>
