import { busyBody, errorBody, internalErrorBody, limitResponses } from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'
import type { AddressQuery, BlockQuery, HistoryQuery, TransactionQuery } from './queries.js'

// A query is described as it is sent and typed as the handler receives it; `readBy` converts it.

const hex = (description: string) => Type.String({ description, pattern: '^([0-9a-f]{2})*$' })

const address = Type.String({
  description:
    'Bech32 address of this network with a payment key; the APIs under `/l2` list those of scripts',
  examples: ['addr_test1vpu5vlrf4xkxv2qpwngf6cjhtw542ayty80v8dyr49rf5eg57c2qv'],
})

const badRequest = errorBody('A parameter is invalid; the message repeats it')
const listResponses = {
  ...limitResponses(),
  400: badRequest,
  500: internalErrorBody(),
  503: busyBody('too many large answers are being sent'),
}

/** Body of `GET /tx`. */
export const TransactionAnswer = Type.Object(
  { tx: hex('CBOR of the transaction') },
  { title: 'Transaction', description: 'A transaction as it was submitted' },
)
export type TransactionAnswer = Static<typeof TransactionAnswer>

/** Body of `GET /txs`. */
export const HistoryAnswer = Type.Object(
  {
    txs: Type.Array(hex('CBOR of a transaction'), { description: 'Oldest first' }),
    limit: Type.Integer(),
    offset: Type.Integer(),
    hasMore: Type.Boolean({
      description: 'Whether exactly limit transactions were returned; the next page is at offset + limit',
    }),
  },
  { title: 'History', description: 'A page of the transactions of an address' },
)
export type HistoryAnswer = Static<typeof HistoryAnswer>

/** Body of `GET /utxos`. */
export const UtxosAnswer = Type.Object(
  {
    utxos: Type.Array(
      Type.Object(
        {
          outref: hex('CBOR of the output reference: [transaction id, index]'),
          value: hex('CBOR of the whole output'),
        },
        { title: 'Utxo', description: 'An unspent output' },
      ),
    ),
  },
  { title: 'Utxos', description: 'The unspent outputs of an address' },
)
export type UtxosAnswer = Static<typeof UtxosAnswer>

/** Body of `GET /block`. */
export const BlockAnswer = Type.Object(
  {
    hashes: Type.Array(hex('Transaction hash'), {
      description: 'In block order; empty for an unknown block',
    }),
  },
  { title: 'BlockTransactions', description: 'The transactions of a block' },
)
export type BlockAnswer = Static<typeof BlockAnswer>

/** Route schema of `GET /tx`, for OpenAPI documents. */
export const transactionSchema = {
  operationId: 'getTransaction',
  summary: 'Transaction by hash',
  description: 'Searches the mempool first, then blocks.',
  tags: ['ledger'],
  querystring: Type.Unsafe<TransactionQuery>(
    Type.Object({
      tx_hash: Type.String({
        description: '64 hex digits',
        pattern: '^[0-9a-fA-F]{64}$',
        examples: ['6ad4a1f5e7d2c3b4958677685a4b3c2d1e0f9081726354453627181900aabbcc'],
      }),
    }),
  ),
  response: {
    ...limitResponses(),
    200: TransactionAnswer,
    400: badRequest,
    404: errorBody('Neither the mempool nor a block contains the transaction'),
    500: internalErrorBody(),
  },
}

/** Route schema of `GET /txs`, for OpenAPI documents. */
export const historySchema = {
  operationId: 'listTransactions',
  summary: 'Transactions of an address',
  description:
    'Every transaction that spends from or pays to the address, once, the oldest first. Pages do ' +
    'not shift while new transactions arrive.',
  tags: ['ledger'],
  querystring: Type.Unsafe<HistoryQuery>(
    Type.Object({
      address,
      limit: Type.Optional(
        Type.Integer({ default: 100, minimum: 1, description: 'Values above 500 are clamped to 500' }),
      ),
      offset: Type.Optional(Type.Integer({ default: 0, minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    }),
  ),
  response: { 200: HistoryAnswer, ...listResponses },
}

/** Route schema of `GET /utxos`, for OpenAPI documents. */
export const utxosSchema = {
  operationId: 'listUtxos',
  summary: 'Unspent outputs of an address with a payment key',
  description:
    'As the mempool ledger has them: confirmed outputs, without those that pending transactions ' +
    'spend, with those that they produce.',
  tags: ['ledger'],
  querystring: Type.Unsafe<AddressQuery>(Type.Object({ address })),
  response: { 200: UtxosAnswer, ...listResponses },
}

/** Route schema of `GET /block`, for OpenAPI documents. */
export const blockSchema = {
  operationId: 'listBlockTransactions',
  summary: 'Transaction hashes of a block',
  description:
    'Of a block in the state queue or the confirmed state. An unknown header hash, and that of a ' +
    'removed block, has no transactions.',
  tags: ['ledger'],
  querystring: Type.Unsafe<BlockQuery>(
    Type.Object({
      header_hash: Type.String({
        description: '56 hex digits',
        pattern: '^[0-9a-fA-F]{56}$',
        examples: ['9f1c5d2ab37e4860c1d2e3f405162738495a6b7c8d9e0fa1b2c3d4e5'],
      }),
    }),
  ),
  response: { 200: BlockAnswer, ...listResponses },
}
