import {
  bodyResponses,
  connectionResponses,
  errorBody,
  forbiddenBody,
  internalErrorBody,
  operationResponses,
  unauthorizedBody,
} from '@ratatosk/http'
import { type Static, type TSchema, Type } from '@sinclair/typebox'

// Described in words instead of patterns: in a union, a pattern would validate the port's result.
const transactionHash = (description: string) => Type.String({ description: `${description}: 64 hex digits` })
const headerHash = Type.String({ description: 'Header hash of the block: 56 hex digits' })
const rootUnit = Type.String({ description: 'Policy id and asset name of the root unit, in hex' })

/** Body of `GET /init`. */
export const Initiated = Type.Object(
  {
    message: Type.String({ description: 'Initiation successful: <txHash>' }),
    txHash: transactionHash('The transaction that minted the root unit'),
    rootUnit,
  },
  { title: 'Initiated', description: 'The root unit is minted and the genesis is applied' },
)
export type Initiated = Static<typeof Initiated>

/** Body of a 409 of `GET /init`: another operation is running, or root units exist and where. */
export const InitConflict = Type.Object(
  {
    error: Type.String(),
    rootUnit: Type.Optional(rootUnit),
    stateQueueAddress: Type.Optional(Type.String({ description: 'Bech32 address of the state queue' })),
    count: Type.Optional(Type.Integer({ description: 'Number of root units' })),
    outRefs: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9a-f]{64}#[0-9]+$' }), {
        description: 'Their outputs: <tx_hash>#<output_index>',
      }),
    ),
  },
  {
    title: 'InitConflict',
    description:
      'A root unit exists (all fields are present), a reset or init is running, or init is not ' +
      'possible in the present state',
  },
)
export type InitConflict = Static<typeof InitConflict>

/** Body of `GET /commit`. */
export const Committed = Type.Union(
  [
    Type.Object({
      message: Type.String({ description: 'Block commitment successful: <headerHash>' }),
      headerHash,
      txHash: transactionHash('The layer-1 transaction that committed the block'),
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
      txHash: transactionHash('The layer-1 transaction that merged the block'),
    }),
    Type.Object({ message: Type.Literal('Nothing to merge') }),
  ],
  { title: 'Merged', description: 'The oldest block is merged, or it is not mature yet' },
)
export type Merged = Static<typeof Merged>

/** Body of `GET /reset`. */
export const Reset = Type.Object(
  { message: Type.Literal('Collected all UTxOs successfully!') },
  { title: 'Reset', description: 'The state queue and the state of the node are deleted' },
)
export type Reset = Static<typeof Reset>

/** Query of `GET /remove`. It documents the route; `readRemoval` checks it. */
const RemoveQuery = Type.Object({
  header_hash: Type.String({ description: 'Header hash of the block: 56 hex digits' }),
})

/** Body of `GET /remove`. */
export const Removed = Type.Object(
  {
    message: Type.String({ description: 'Block removal successful: <headerHash>' }),
    headerHash,
    txHash: transactionHash('The latest of the layer-1 transactions that removed blocks'),
    removed: Type.Array(Type.String(), {
      description: 'Header hashes of all blocks that were removed: the block and those behind it',
    }),
  },
  { title: 'Removed', description: 'The block is removed from the state queue' },
)
export type Removed = Static<typeof Removed>

const time = (description: string) => Type.String({ format: 'date-time', description })
const ofChange = {
  message: Type.String({ description: 'What is the case now' }),
  txHash: Type.Optional(
    transactionHash('The layer-1 transaction that changed the registry; absent if it was the case before'),
  ),
}
const bond = Type.String({ description: 'Lovelace of the bond, in decimal digits' })
const operatorKey = Type.String({ description: 'Key hash of the operator: 56 hex digits' })

/** Body of `POST /operator/register`. */
export const Registered = Type.Object(
  {
    ...ofChange,
    operatorKey,
    bond,
    activeFrom: time('Start of the first turn in which the operator counts'),
  },
  { title: 'Registered', description: "The registry has the operator of the node, with the operator's bond" },
)
export type Registered = Static<typeof Registered>

/** Body of `POST /operator/retire`. */
export const Retired = Type.Object(
  {
    ...ofChange,
    operatorKey,
    activeUntil: time('Start of the first turn without the operator'),
    releaseAt: time('From when on the bond may be withdrawn, unless a verdict slashes it before'),
  },
  { title: 'Retired', description: 'The operator of the node gets no further turns' },
)
export type Retired = Static<typeof Retired>

/** Body of `POST /operator/release`. */
export const Released = Type.Object(
  { ...ofChange, operatorKey, bond },
  {
    title: 'Released',
    description: "The bond is in the operator's wallet; 0: the registry has no bond of the operator",
  },
)
export type Released = Static<typeof Released>

/** Body of `GET /logBlocksTxsDB`. */
export const BlocksLogged = Type.Object(
  { message: Type.Literal('BlocksTxsDB drawn in server logs!') },
  { title: 'BlocksLogged', description: 'The table is in the log of the server' },
)
export type BlocksLogged = Static<typeof BlocksLogged>

/** Body of `GET /logGlobals`. */
export const GlobalsLogged = Type.Object(
  { message: Type.Literal('Global variables logged!') },
  { title: 'GlobalsLogged', description: 'The in-memory state is in the log of the server' },
)
export type GlobalsLogged = Static<typeof GlobalsLogged>

const description = 'Changes state although it is a GET. HEAD is not served.'

/** `response` of a route that writes to the log. */
const logResponses = <Done extends TSchema>(done: Done) => ({
  ...connectionResponses(),
  200: done,
  401: unauthorizedBody(),
  403: forbiddenBody(),
  500: internalErrorBody(),
})

/** Route schema of `GET /init`, for OpenAPI documents. */
export const initSchema = {
  operationId: 'init',
  summary: 'Mint the root unit and run the genesis programs',
  description,
  tags: ['operator'],
  response: operationResponses(Initiated, InitConflict),
}

/** Route schema of `GET /commit`, for OpenAPI documents. */
export const commitSchema = {
  operationId: 'commit',
  summary: 'Run one block-commitment cycle',
  description,
  tags: ['operator'],
  response: operationResponses(
    Committed,
    errorBody('Another operation is running, or a commit is not possible in the present state'),
  ),
}

/** Route schema of `GET /merge`, for OpenAPI documents. */
export const mergeSchema = {
  operationId: 'merge',
  summary: 'Merge the oldest block into the confirmed state',
  description,
  tags: ['operator'],
  response: operationResponses(
    Merged,
    errorBody('Another operation is running, or a merge is not possible in the present state'),
  ),
}

/** Route schema of `GET /reset`, for OpenAPI documents. */
export const resetSchema = {
  operationId: 'reset',
  summary: 'Delete the state queue and the state of the node',
  description,
  tags: ['operator'],
  response: operationResponses(
    Reset,
    errorBody('Another operation is running, or a reset is not possible in the present state'),
  ),
}

/** Route schema of `GET /remove`, for OpenAPI documents. */
export const removeSchema = {
  operationId: 'remove',
  summary: 'Remove an unmerged block, and those behind it, from the state queue',
  description,
  tags: ['operator'],
  querystring: RemoveQuery,
  response: {
    ...operationResponses(
      Removed,
      errorBody('Another operation is running, the block is not in the state queue, or it cannot be removed'),
    ),
    400: errorBody('The header hash is malformed'),
  },
}

/** `response` of a route that changes the bond. Its body is not read. */
const changeResponses = <Done extends TSchema>(done: Done, conflict: string) => ({
  ...operationResponses(done, errorBody(conflict)),
  ...bodyResponses(),
})

/** Route schema of `POST /operator/register`, for OpenAPI documents. */
export const registerSchema = {
  operationId: 'registerOperator',
  summary: 'Deposit the bond and register the operator of the node',
  description: 'The administrator of a permissioned registry signs as well: the node needs its keys.',
  tags: ['operator'],
  response: changeResponses(
    Registered,
    'Another operation is running, or the operator cannot be registered now',
  ),
}

/** Route schema of `POST /operator/retire`, for OpenAPI documents. */
export const retireSchema = {
  operationId: 'retireOperator',
  summary: 'End the turns of the operator of the node',
  description: 'The turn in progress and the next stay as they are.',
  tags: ['operator'],
  response: changeResponses(Retired, 'Another operation is running, or the operator is not registered'),
}

/** Route schema of `POST /operator/release`, for OpenAPI documents. */
export const releaseSchema = {
  operationId: 'releaseBond',
  summary: 'Withdraw the bond of the retired operator to its wallet',
  description: '`releaseAt` of `GET /operators` says from when on.',
  tags: ['operator'],
  response: changeResponses(Released, 'Another operation is running, or the bond is not free yet'),
}

/** Route schema of `GET /logBlocksTxsDB`, for OpenAPI documents. */
export const logBlocksSchema = {
  operationId: 'logBlocksTxsDB',
  summary: 'Log the number of transactions of each block',
  description: 'The answer does not contain the table.',
  tags: ['operator'],
  response: logResponses(BlocksLogged),
}

/** Route schema of `GET /logGlobals`, for OpenAPI documents. */
export const logGlobalsSchema = {
  operationId: 'logGlobals',
  summary: 'Log the in-memory state',
  description: 'The answer does not contain the state. Secrets are not logged.',
  tags: ['operator'],
  response: logResponses(GlobalsLogged),
}
