import {
  bodyResponses,
  connectionResponses,
  errorBody,
  forbiddenBody,
  internalErrorBody,
  layer1FailureBody,
  limitResponses,
  orBusy,
  unauthorizedBody,
} from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'
import { defaultLimit, maxLimit, maxOffset } from '../list-parameters.js'
import { type DraftBody, draftKinds, maxOutrefs, maxPayouts, maxUtxos } from './bodies.js'
import { depositStates, withdrawalStates } from './parameters.js'
import type { DepositsPart, PayoutRequest, WithdrawalsPart } from './ports.js'

const hash = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description })
const hash28 = (description: string) => Type.String({ pattern: '^[0-9a-f]{56}$', description })
const headerHash = (description: string) => Type.Optional(hash28(description))
const outref = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}#[0-9]+$', description })
const cbor = (description: string) => Type.String({ pattern: '^([0-9a-f]{2})+$', description })
const time = (description: string) => Type.String({ format: 'date-time', description })
const lovelace = (description: string) => Type.String({ pattern: '^[0-9]+$', description })
const oneOf = <Text extends string>(texts: readonly Text[], description: string) =>
  Type.Unsafe<Text>(Type.String({ enum: [...texts], description }))
const hasMore = Type.Boolean({ description: 'Whether there is another page' })
const txHash = hash('Transaction hash on layer 1')

/** Body of `GET /bridge`. */
export const BridgeAnswer = Type.Object(
  {
    address: Type.String({
      description:
        'Of deposits on layer 1; a payment to it on layer 2 with a withdrawal datum leaves layer 2',
    }),
    policies: Type.Object({
      bridge: hash28('Script that holds the treasury; policy of settlements'),
      events: hash28('Policy of deposits'),
    }),
    assets: Type.Array(hash28('Policy'), { description: 'Policies that the bridge takes besides ada' }),
    eventWaitMs: Type.Integer({
      minimum: 0,
      description: "Milliseconds from the end of a deposit's validity until it is credited",
    }),
    payoutFee: lovelace('Lovelace of each withdrawal that go to who pays it out'),
    reserveMin: lovelace('Lovelace that a reserve has at least'),
    creditedUntil: Type.Optional(time('End of the newest block: deposits of an earlier time are credited')),
    confirmedUntil: Type.Optional(time('End of the newest merged block')),
    treasury: Type.Object({
      lovelace: lovelace('Lovelace of reserves and deposits'),
      assets: Type.Array(
        Type.Object({
          unit: Type.String({ description: 'Policy id and asset name in hex, joined' }),
          quantity: Type.String({ pattern: '^[0-9]+$', description: 'Decimal' }),
        }),
        { description: 'Tokens of reserves and deposits' },
      ),
      outputs: Type.Integer({ minimum: 0, description: 'How many outputs hold it' }),
      owed: Type.Optional(lovelace('Lovelace of all settlements; absent while the node does not know')),
      backed: Type.Optional(
        Type.Boolean({
          description: 'Whether the treasury has what the settlements owe; absent with `owed`',
        }),
      ),
    }),
    settlements: Type.Array(
      Type.Object({
        headerHash: hash28('Header hash of the merged block'),
        outref: outref('Output on layer 1 that says what is owed'),
        remaining: Type.Optional(
          Type.Integer({
            minimum: 0,
            description: 'Withdrawals to pay; absent while the node does not know',
          }),
        ),
        lovelace: Type.Optional(lovelace('Lovelace of these withdrawals; absent with `remaining`')),
      }),
      { description: 'Merged blocks whose withdrawals are not all paid, oldest first' },
    ),
  },
  {
    title: 'Bridge',
    description: 'How ada and tokens come to layer 2 and leave it, and what layer 1 holds for it',
  },
)
export type BridgeAnswer = Static<typeof BridgeAnswer>

const DepositAnswer = Type.Object(
  {
    id: hash('Names the deposit on both layers'),
    layer1Outref: Type.Optional(outref('Its output at the bridge; absent once that is spent')),
    outref: outref('The output that it becomes on layer 2'),
    output: cbor('CBOR of that output'),
    time: Type.Optional(
      time('The block of this time credits it; absent once the output at the bridge is spent'),
    ),
    state: oneOf(
      depositStates,
      'waiting: on layer 1, in no block; credited: in a block that is not on layer 1 yet; committed, ' +
        'merged: as its block',
    ),
    headerHash: headerHash('Of the block that credits it'),
    height: Type.Optional(Type.Integer({ minimum: 1, description: 'Of that block' })),
  },
  { title: 'BridgeDeposit', description: 'Money on its way from layer 1 to layer 2' },
)
export type DepositAnswer = Static<typeof DepositAnswer>

/** Body of `GET /deposits`. */
export const DepositsAnswer = Type.Object(
  { deposits: Type.Array(DepositAnswer, { description: 'By time' }), hasMore },
  { title: 'BridgeDeposits', description: 'A page of deposits' },
)
export type DepositsAnswer = Static<typeof DepositsAnswer>

const WithdrawalAnswer = Type.Object(
  {
    outref: outref('The output on layer 2 that left it'),
    output: cbor('CBOR of that output'),
    payTo: Type.Optional(
      Type.String({ description: 'Who gets it on layer 1, in bech32; absent if no one can pay it' }),
    ),
    kind: Type.Literal('transaction', { description: 'A transaction of layer 2 made it' }),
    state: oneOf(
      withdrawalStates,
      'accepted: on layer 2 only; committed, mature: as its block; owed: a settlement on layer 1 holds it; ' +
        'paid: on layer 1',
    ),
    headerHash: headerHash('Of its block'),
    payoutTxHash: Type.Optional(hash('The layer-1 transaction that paid it, if the node knows it')),
  },
  { title: 'BridgeWithdrawal', description: 'Money on its way from layer 2 to layer 1' },
)
export type WithdrawalAnswer = Static<typeof WithdrawalAnswer>

/** Body of `GET /withdrawals`. */
export const WithdrawalsAnswer = Type.Object(
  { withdrawals: Type.Array(WithdrawalAnswer, { description: 'In order of acceptance' }), hasMore },
  { title: 'BridgeWithdrawals', description: 'A page of withdrawals' },
)
export type WithdrawalsAnswer = Static<typeof WithdrawalsAnswer>

/** Body of a 200 of `POST /bridge/draft`. */
export const DraftAnswer = Type.Object(
  {
    transaction: cbor('CBOR of the transaction of layer 1, without signatures'),
    txHash,
    fee: lovelace('Fee in lovelace'),
    id: Type.Optional(hash('Of a deposit: its id')),
    creditedFrom: Type.Optional(
      time('Of a deposit: the block of this time credits it, some seconds earlier or later'),
    ),
  },
  { title: 'BridgeDraft', description: 'A transaction of layer 1 that its user checks, signs and submits' },
)
export type DraftAnswer = Static<typeof DraftAnswer>

/** Body of a 200 of `POST /bridge/submit`. */
export const BridgeSubmitAnswer = Type.Object(
  { txHash },
  { title: 'BridgeSubmitted', description: 'A transaction that layer 1 has taken' },
)
export type BridgeSubmitAnswer = Static<typeof BridgeSubmitAnswer>

/** Body of a 200 of `POST /payout`. */
export const PayoutAnswer = Type.Object(
  {
    txHashes: Type.Array(txHash, { description: 'In the order in which they were sent' }),
    paid: Type.Integer({ minimum: 0, description: 'How many withdrawals they pay' }),
    remaining: Type.Integer({ minimum: 0, description: 'How many are owed still' }),
  },
  { title: 'Payout', description: 'Withdrawals that were paid' },
)
export type PayoutAnswer = Static<typeof PayoutAnswer>

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
      state: Type.Optional(oneOf(depositStates, 'Only those in this state')),
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
      state: Type.Optional(oneOf(withdrawalStates, 'Only those in this state')),
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
      kind: oneOf(draftKinds, 'A deposit has `to` and `lovelace`; a payout has `outrefs`'),
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
      headerHash: headerHash('Only withdrawals of this block'),
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
