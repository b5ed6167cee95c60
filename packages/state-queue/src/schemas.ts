import { errorBody, internalErrorBody, layer1FailureBody, operationResponses } from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'

/** Body of `GET /stateQueue`. */
export const StateQueueAnswer = Type.Object(
  {
    headers: Type.Array(Type.String({ pattern: '^[0-9a-f]{56}$' }), {
      description: 'Header hashes of the blocks in the state queue, the oldest first',
    }),
  },
  { title: 'StateQueue', description: 'The committed blocks that are not merged yet' },
)
export type StateQueueAnswer = Static<typeof StateQueueAnswer>

/** Body of `GET /stateQueue/root-unit-diagnostics`. */
export const RootUnitDiagnostics = Type.Object(
  {
    status: Type.Unsafe<'ok' | 'invalid'>(
      Type.String({ enum: ['ok', 'invalid'], description: 'ok when count is 1, otherwise invalid' }),
    ),
    resetInProgress: Type.Boolean({ description: 'Whether a reset is running' }),
    stateQueueAddress: Type.String({ description: 'Bech32 address of the state queue' }),
    rootUnit: Type.String({ description: 'Policy id and asset name of the root unit, in hex' }),
    count: Type.Integer({ minimum: 0, description: 'Root units found' }),
    outRefs: Type.Array(Type.String({ pattern: '^[0-9a-f]{64}#[0-9]+$' }), {
      description: 'Where they are: <tx_hash>#<output_index>',
    }),
  },
  { title: 'RootUnitDiagnostics', description: 'The root units on layer 1' },
)
export type RootUnitDiagnostics = Static<typeof RootUnitDiagnostics>

/** Body of `GET /stateQueue/repair-root-units`. */
export const Repaired = Type.Object(
  { message: Type.Literal('State-queue root-unit repair completed successfully!') },
  { title: 'Repaired', description: 'No duplicate root units are left' },
)
export type Repaired = Static<typeof Repaired>

/** Body of `GET /commitment-wallet/balance`. */
export const WalletBalance = Type.Object(
  { lovelaceBalance: Type.String({ pattern: '^[0-9]+$', description: 'Lovelace, in decimal digits' }) },
  { title: 'WalletBalance', description: 'What the wallet that pays for commitments holds' },
)
export type WalletBalance = Static<typeof WalletBalance>

export const stateQueueSchema = {
  operationId: 'stateQueue',
  summary: 'Committed block headers on layer 1',
  description: 'Draws the state queue in the log of the server',
  tags: ['state queue'],
  response: { 200: StateQueueAnswer, 500: internalErrorBody(), 503: layer1FailureBody() },
}

export const rootUnitDiagnosticsSchema = {
  operationId: 'rootUnitDiagnostics',
  summary: 'Health of the root unit',
  tags: ['state queue'],
  response: { 200: RootUnitDiagnostics, 500: internalErrorBody(), 503: layer1FailureBody() },
}

export const repairSchema = {
  operationId: 'repairRootUnits',
  summary: 'Burn duplicate root units',
  description: 'Run /init once afterwards. HEAD is not served',
  tags: ['operator'],
  response: operationResponses(
    Repaired,
    errorBody('A reset or init runs, or the repair cannot be done as things stand'),
  ),
}

export const walletBalanceSchema = {
  operationId: 'commitmentWalletBalance',
  summary: 'Balance of the commitment wallet',
  tags: ['state queue'],
  response: { 200: WalletBalance, 500: internalErrorBody(), 503: layer1FailureBody() },
}
