import {
  errorBody,
  internalErrorBody,
  layer1FailureBody,
  limitResponses,
  operationResponses,
  orBusy,
} from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'

/** Body of `GET /stateQueue`. */
export const StateQueueAnswer = Type.Object(
  {
    headers: Type.Array(Type.String({ pattern: '^[0-9a-f]{56}$' }), {
      description: 'Header hashes of the blocks in the state queue, oldest first',
    }),
  },
  { title: 'StateQueue', description: 'The committed blocks that are not merged yet' },
)
export type StateQueueAnswer = Static<typeof StateQueueAnswer>

/** Body of `GET /stateQueue/root-unit-diagnostics`. */
export const RootUnitDiagnostics = Type.Object(
  {
    status: Type.Unsafe<'ok' | 'invalid'>(
      Type.String({ enum: ['ok', 'invalid'], description: 'ok if count is 1, otherwise invalid' }),
    ),
    resetInProgress: Type.Boolean({ description: 'Whether an operation that changes the root is running' }),
    stateQueueAddress: Type.String({ description: 'Bech32 address of the state queue' }),
    rootUnit: Type.String({ description: 'Policy id and asset name of the root unit, in hex' }),
    count: Type.Integer({ minimum: 0, description: 'Number of root units' }),
    outRefs: Type.Array(Type.String({ pattern: '^[0-9a-f]{64}#[0-9]+$' }), {
      description: 'Their outputs: <tx_hash>#<output_index>',
    }),
  },
  { title: 'RootUnitDiagnostics', description: 'The root units on layer 1' },
)
export type RootUnitDiagnostics = Static<typeof RootUnitDiagnostics>

/** Body of `GET /stateQueue/repair-root-units`. */
export const Repaired = Type.Object(
  { message: Type.Literal('State-queue root-unit repair completed successfully!') },
  { title: 'Repaired', description: 'The duplicate root units are burned' },
)
export type Repaired = Static<typeof Repaired>

/** Body of `GET /commitment-wallet/balance`. */
export const WalletBalance = Type.Object(
  { lovelaceBalance: Type.String({ pattern: '^[0-9]+$', description: 'Lovelace in decimal digits' }) },
  {
    title: 'WalletBalance',
    description: 'The funds of the wallet that pays for commitments',
    examples: [{ lovelaceBalance: '4998312045' }],
  },
)
export type WalletBalance = Static<typeof WalletBalance>

/** The responses of a read of layer 1 that is not answered 200. */
const failures = { ...limitResponses(), 500: internalErrorBody(), 503: orBusy(layer1FailureBody()) }

/** Route schema of `GET /stateQueue`, for OpenAPI documents. */
export const stateQueueSchema = {
  operationId: 'getStateQueue',
  summary: 'Committed block headers on layer 1',
  description:
    'Also draws the state queue in the log of the server: at debug, and at info when it has changed.',
  tags: ['state queue'],
  response: { 200: StateQueueAnswer, ...failures },
}

/** Route schema of `GET /stateQueue/root-unit-diagnostics`, for OpenAPI documents. */
export const rootUnitDiagnosticsSchema = {
  operationId: 'getRootUnitDiagnostics',
  summary: 'Health of the root unit',
  description: 'A healthy state queue has exactly one root unit.',
  tags: ['state queue'],
  response: { 200: RootUnitDiagnostics, ...failures },
}

/** Route schema of `GET /stateQueue/repair-root-units`, for OpenAPI documents. */
export const repairSchema = {
  operationId: 'repairRootUnits',
  summary: 'Burn duplicate root units',
  description: 'Changes state although it is a GET. Run /init once afterwards. HEAD is not served.',
  tags: ['operator'],
  response: operationResponses(
    Repaired,
    errorBody('Another operation is running, or a repair is not possible in the present state'),
  ),
}

/** Route schema of `GET /commitment-wallet/balance`, for OpenAPI documents. */
export const walletBalanceSchema = {
  operationId: 'getCommitmentWalletBalance',
  summary: 'Balance of the commitment wallet',
  description: 'The wallet pays the layer-1 transactions that commit and merge blocks.',
  tags: ['state queue'],
  response: { 200: WalletBalance, ...failures },
}
