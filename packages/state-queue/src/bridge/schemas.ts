import {
  bodyResponses,
  connectionResponses,
  enumText,
  errorBody,
  forbiddenBody,
  internalErrorBody,
  layer1FailureBody,
  limitResponses,
  orBusy,
  unauthorizedBody,
} from '@ratatosk/http'
import { Type } from '@sinclair/typebox'
import { defaultLimit, maxLimit, maxOffset } from '../list-parameters.js'
import {
  BridgeAnswer,
  BridgeSubmitAnswer,
  DepositsAnswer,
  DraftAnswer,
  depositStates,
  PayoutAnswer,
  WithdrawalsAnswer,
  withdrawalStates,
} from './answers.js'
import type { DepositsPart, PayoutRequest, WithdrawalsPart } from './ports.js'
import { type DraftBody, draftKinds, maxOutrefs, maxPayouts, maxUtxos } from './requests.js'

const tags = ['bridge']
const noBridge = { 404: errorBody('This deployment has no bridge') }
/** The responses of a read that is not answered 200. */
const failures = {
  ...limitResponses(),
  ...noBridge,
  500: internalErrorBody(),
  503: orBusy(layer1FailureBody()),
}
const refusals = { ...failures, 400: errorBody('A parameter is malformed or unknown; the message names it') }

// `Type.Unsafe` describes parameters as sent and types them as the handler sees them, after `readBy`.

const limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: maxLimit, default: defaultLimit, description: 'The most to answer' }),
)
const offset = Type.Optional(
  Type.Integer({ minimum: 0, maximum: maxOffset, default: 0, description: 'How many to skip' }),
)
const outrefParameter = (description: string) =>
  Type.Optional(Type.String({ pattern: '^[0-9a-fA-F]{64}#[0-9]+$', description }))
const addressParameter = (description: string) => Type.Optional(Type.String({ description }))

/** Route schema of `GET /bridge`, for OpenAPI documents. */
export const bridgeSchema = {
  operationId: 'getBridge',
  summary: 'The bridge: its terms, its treasury and what it owes',
  tags,
  querystring: Type.Unsafe<Record<string, never>>(Type.Object({})),
  response: { 200: BridgeAnswer, ...refusals },
}

/** Route schema of `GET /deposits`, for OpenAPI documents. */
export const depositsSchema = {
  operationId: 'listDeposits',
  summary: 'Deposits, and how far they are',
  description: 'Those whose output is at the bridge; with `id`, also one whose output there is spent.',
  tags,
  querystring: Type.Unsafe<DepositsPart>(
    Type.Object({
      id: Type.Optional(Type.String({ pattern: '^[0-9a-fA-F]{64}$', description: 'Only this one' })),
      outref: outrefParameter('Only the one with this output, on layer 1 or on layer 2'),
      address: addressParameter('Only those of this address on layer 2'),
      state: Type.Optional(enumText(depositStates, 'Only those in this state')),
      limit,
      offset,
    }),
  ),
  response: { 200: DepositsAnswer, ...refusals },
}

/** Route schema of `GET /withdrawals`, for OpenAPI documents. */
export const withdrawalsSchema = {
  operationId: 'listWithdrawals',
  summary: 'Withdrawals, and how far they are',
  tags,
  querystring: Type.Unsafe<WithdrawalsPart>(
    Type.Object({
      outref: outrefParameter('Only this one'),
      address: addressParameter('Only those to this address on layer 1'),
      header_hash: Type.Optional(
        Type.String({ pattern: '^[0-9a-fA-F]{56}$', description: 'Only those of this block' }),
      ),
      state: Type.Optional(enumText(withdrawalStates, 'Only those in this state')),
      limit,
      offset,
    }),
  ),
  response: { 200: WithdrawalsAnswer, ...refusals },
}

const bodyFailures = {
  ...bodyResponses(),
  ...connectionResponses(),
  ...noBridge,
  413: errorBody('The body is too large'),
  415: errorBody('The content type is not application/json'),
  500: internalErrorBody(),
  503: orBusy(layer1FailureBody()),
}
const openFailures = { ...bodyFailures, ...limitResponses(), 503: orBusy(layer1FailureBody()) }

/** Route schema of `POST /bridge/draft`, for OpenAPI documents. */
export const draftSchema = {
  operationId: 'draftBridgeTransaction',
  summary: 'Draft a deposit, or a payout of withdrawals, for any wallet to sign',
  description:
    'The wallet signs what it gets, so check it first. A deposit is valid for a short time only: the block ' +
    'of the time `eventWaitMs` after the end of its validity credits it.',
  tags,
  body: Type.Unsafe<DraftBody>(
    Type.Object({
      kind: enumText(draftKinds, 'A deposit has `to` and `lovelace`; a payout has `outrefs`'),
      utxos: Type.Array(Type.String(), {
        minItems: 1,
        maxItems: maxUtxos,
        description:
          'Outputs that the transaction may spend, as `getUtxos` of CIP-30 answers them: CBOR in hex of ' +
          'pairs of reference and output',
      }),
      changeAddress: Type.String({ description: 'Bech32, or hex as `getChangeAddress` of CIP-30 answers' }),
      to: Type.Optional(Type.String({ description: 'Who gets it on layer 2, in bech32' })),
      lovelace: Type.Optional(Type.String({ pattern: '^[1-9][0-9]*$', description: 'Decimal' })),
      assets: Type.Optional(
        Type.Object(
          {},
          {
            additionalProperties: Type.String({ pattern: '^[1-9][0-9]*$' }),
            description: 'Amounts by unit: policy id and asset name in hex, joined',
          },
        ),
      ),
      datum: Type.Optional(
        Type.Union([Type.Object({ inline: Type.String() }), Type.Object({ hash: Type.String() })], {
          description: 'Datum of the output on layer 2: CBOR in hex, or the hash of one',
        }),
      ),
      outrefs: Type.Optional(
        Type.Array(Type.String(), {
          minItems: 1,
          maxItems: maxOutrefs,
          description: 'Withdrawals of one block, as `GET /withdrawals` names them',
        }),
      ),
    }),
  ),
  response: {
    ...openFailures,
    200: DraftAnswer,
    400: errorBody('The body is malformed, or layer 1 would refuse the transaction; the message says why'),
    409: errorBody('Nothing of it is owed now'),
  },
}

/** Route schema of `POST /bridge/submit`, for OpenAPI documents. */
export const bridgeSubmitSchema = {
  operationId: 'submitBridgeTransaction',
  summary: 'Send a signed transaction of the bridge to layer 1',
  tags,
  body: Type.Unsafe<{ readonly transaction: Uint8Array }>(
    Type.Object({ transaction: Type.String({ description: 'CBOR in hex' }) }),
  ),
  response: {
    ...openFailures,
    200: BridgeSubmitAnswer,
    400: errorBody('The body is malformed; Not a transaction of the bridge; or layer 1 refuses it, and why'),
    409: errorBody('An input of the transaction is spent'),
  },
}

/** Route schema of `POST /payout`, for OpenAPI documents. */
export const payoutSchema = {
  operationId: 'payWithdrawals',
  summary: 'Pay withdrawals of merged blocks now',
  description: 'The node pays unasked too, unless AUTO_PAY is false.',
  tags,
  body: Type.Unsafe<PayoutRequest>(
    Type.Object({
      headerHash: Type.Optional(
        Type.String({ pattern: '^[0-9a-f]{56}$', description: 'Only withdrawals of this block' }),
      ),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: maxPayouts, description: 'The most withdrawals to pay' }),
      ),
    }),
  ),
  response: {
    ...bodyFailures,
    200: PayoutAnswer,
    400: errorBody('The body is malformed; the message says what to send instead'),
    401: unauthorizedBody(),
    403: forbiddenBody(),
    409: errorBody('Nothing is owed, or another payout runs'),
  },
}
