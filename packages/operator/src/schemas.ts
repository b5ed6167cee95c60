import { errorBody, internalErrorBody, operationResponses, unauthorizedBody } from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'

// Described in words, not by patterns: these stand in unions, where a pattern would judge what the port says.
const transactionHash = (description: string) => Type.String({ description: `${description}: 64 hex digits` })
const headerHash = Type.String({ description: "Hash of the block's header: 56 hex digits" })
const rootUnit = Type.String({ description: 'Policy id and asset name of the root unit, in hex' })

/** Body of `GET /init`. */
export const Initiated = Type.Object(
  {
    message: Type.String({ description: 'Initiation successful: <txHash>' }),
    txHash: transactionHash('The transaction that minted the root unit'),
    rootUnit,
  },
  { title: 'Initiated', description: 'The root unit is minted, and the genesis is applied' },
)
export type Initiated = Static<typeof Initiated>

/** Body of a 409 of `GET /init`: another operation runs, or there is a root unit, and then where. */
export const InitConflict = Type.Object(
  {
    error: Type.String(),
    rootUnit: Type.Optional(rootUnit),
    stateQueueAddress: Type.Optional(Type.String({ description: 'Bech32 address of the state queue' })),
    count: Type.Optional(Type.Integer({ description: 'Root units found' })),
    outRefs: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9a-f]{64}#[0-9]+$' }), {
        description: 'Where they are: <tx_hash>#<output_index>',
      }),
    ),
  },
  {
    title: 'InitConflict',
    description:
      'A root unit exists (then all fields are there), or a reset or init runs, or init cannot be done as things stand',
  },
)
export type InitConflict = Static<typeof InitConflict>

/** Body of `GET /commit`. */
export const Committed = Type.Union(
  [
    Type.Object({
      message: Type.String({ description: 'Block commitment successful: <headerHash>' }),
      headerHash,
      txHash: transactionHash('The transaction of layer 1 that committed it'),
      transactions: Type.Integer({ minimum: 0, description: 'Transactions in the block' }),
    }),
    Type.Object({ message: Type.Literal('Nothing to commit'), transactions: Type.Literal(0) }),
  ],
  { title: 'Committed', description: 'A block is committed, or there was nothing to commit' },
)
export type Committed = Static<typeof Committed>

/** Body of `GET /merge`. */
export const Merged = Type.Union(
  [
    Type.Object({
      message: Type.String({ description: 'Merging confirmed state successful: <headerHash>' }),
      headerHash,
      txHash: transactionHash('The transaction of layer 1 that merged it'),
    }),
    Type.Object({ message: Type.Literal('Nothing to merge') }),
  ],
  { title: 'Merged', description: 'The oldest block is merged, or it is not mature' },
)
export type Merged = Static<typeof Merged>

/** Body of `GET /reset`. */
export const Reset = Type.Object(
  { message: Type.Literal('Collected all UTxOs successfully!') },
  { title: 'Reset', description: 'The state queue and the state of the node are gone' },
)
export type Reset = Static<typeof Reset>

/** Body of `GET /logBlocksTxsDB`. */
export const BlocksLogged = Type.Object(
  { message: Type.Literal('BlocksTxsDB drawn in server logs!') },
  { title: 'BlocksLogged', description: 'The table is in the log of the server' },
)
export type BlocksLogged = Static<typeof BlocksLogged>

/** Body of `GET /logGlobals`. */
export const GlobalsLogged = Type.Object(
  { message: Type.Literal('Global variables logged!') },
  { title: 'GlobalsLogged', description: 'The state in memory is in the log of the server' },
)
export type GlobalsLogged = Static<typeof GlobalsLogged>

const unauthorized = unauthorizedBody()

const description = 'Changes state, though it is a GET; HEAD is not served'

export const initSchema = {
  operationId: 'init',
  summary: 'Mint the root unit and run the genesis programs',
  description,
  tags: ['operator'],
  response: operationResponses(Initiated, InitConflict),
}

export const commitSchema = {
  operationId: 'commit',
  summary: 'Run one block-commitment cycle',
  description,
  tags: ['operator'],
  response: operationResponses(
    Committed,
    errorBody('A cycle, init or reset runs, or nothing can be committed as things stand'),
  ),
}

export const mergeSchema = {
  operationId: 'merge',
  summary: 'Merge the oldest block into the confirmed state',
  description,
  tags: ['operator'],
  response: operationResponses(
    Merged,
    errorBody('A cycle, init or reset runs, or nothing can be merged as things stand'),
  ),
}

export const resetSchema = {
  operationId: 'reset',
  summary: 'Reset the state of chain and node: destructive',
  description,
  tags: ['operator'],
  response: operationResponses(Reset, errorBody('A reset runs, or it cannot be done as things stand')),
}

export const logBlocksSchema = {
  operationId: 'logBlocksTxsDB',
  summary: 'Log how many transactions each block has',
  tags: ['operator'],
  response: { 200: BlocksLogged, 401: unauthorized, 500: internalErrorBody() },
}

export const logGlobalsSchema = {
  operationId: 'logGlobals',
  summary: 'Log the state in memory',
  tags: ['operator'],
  response: { 200: GlobalsLogged, 401: unauthorized, 500: internalErrorBody() },
}
