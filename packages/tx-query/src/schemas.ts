import { errorBody, internalErrorBody } from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'
import type { AddressQuery, BlockQuery, HistoryQuery, TransactionQuery } from './queries.js'

// A query is described as it is sent and typed as the handler sees it: `readBy` stands between the two.

const hex = (description: string) => Type.String({ description, pattern: '^([0-9a-f]{2})*$' })

const address = Type.String({ description: 'Bech32 address with a payment key credential, of this network' })

const badRequest = errorBody('A parameter breaks its rule')

/** Body of `GET /tx`. */
export const TransactionAnswer = Type.Object({ tx: hex('CBOR of the transaction') }, { title: 'Transaction' })
export type TransactionAnswer = Static<typeof TransactionAnswer>

/** Body of `GET /txs`. */
export const HistoryAnswer = Type.Object(
  {
    txs: Type.Array(hex('CBOR of a transaction'), { description: 'Oldest first' }),
    limit: Type.Integer(),
    offset: Type.Integer(),
    hasMore: Type.Boolean({ description: 'The page is full: the next is at offset + limit' }),
  },
  { title: 'History' },
)
export type HistoryAnswer = Static<typeof HistoryAnswer>

/** Body of `GET /utxos`. */
export const UtxosAnswer = Type.Object(
  {
    utxos: Type.Array(
      Type.Object({
        outref: hex('CBOR of the output reference: [transaction id, index]'),
        value: hex('CBOR of the whole output'),
      }),
    ),
  },
  { title: 'Utxos' },
)
export type UtxosAnswer = Static<typeof UtxosAnswer>

/** Body of `GET /block`. */
export const BlockAnswer = Type.Object(
  {
    hashes: Type.Array(hex('Transaction hash'), {
      description: 'In block order; empty for an unknown block',
    }),
  },
  { title: 'Block' },
)
export type BlockAnswer = Static<typeof BlockAnswer>

export const transactionSchema = {
  operationId: 'transaction',
  summary: 'Transaction by hash',
  tags: ['ledger'],
  querystring: Type.Unsafe<TransactionQuery>(
    Type.Object({ tx_hash: Type.String({ description: '64 hex digits', pattern: '^[0-9a-fA-F]{64}$' }) }),
  ),
  response: {
    200: TransactionAnswer,
    400: badRequest,
    404: errorBody('Neither in the mempool nor in a block'),
    500: internalErrorBody(),
  },
}

export const historySchema = {
  operationId: 'history',
  summary: 'Transactions of an address',
  tags: ['ledger'],
  querystring: Type.Unsafe<HistoryQuery>(
    Type.Object({
      address,
      limit: Type.Optional(Type.Integer({ default: 100, minimum: 1, description: 'Above 500: 500' })),
      offset: Type.Optional(Type.Integer({ default: 0, minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    }),
  ),
  response: { 200: HistoryAnswer, 400: badRequest, 500: internalErrorBody() },
}

export const utxosSchema = {
  operationId: 'utxos',
  summary: 'Unspent outputs of an address',
  tags: ['ledger'],
  querystring: Type.Unsafe<AddressQuery>(Type.Object({ address })),
  response: { 200: UtxosAnswer, 400: badRequest, 500: internalErrorBody() },
}

export const blockSchema = {
  operationId: 'block',
  summary: 'Transaction hashes of a block',
  tags: ['ledger'],
  querystring: Type.Unsafe<BlockQuery>(
    Type.Object({ header_hash: Type.String({ description: '56 hex digits', pattern: '^[0-9a-fA-F]{56}$' }) }),
  ),
  response: { 200: BlockAnswer, 400: badRequest, 500: internalErrorBody() },
}
