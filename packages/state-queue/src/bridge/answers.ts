import { type Decoded, decimalText, enumText, hexText, integer, timeText } from '@ratatosk/http'
import { Type } from '@sinclair/typebox'

const hash = (description: string) => hexText('^[0-9a-f]{64}$', description)
const hash28 = (description: string) => hexText('^[0-9a-f]{56}$', description)
const cbor = (description: string) => hexText('^([0-9a-f]{2})+$', description)
const headerHash = (description: string) => Type.Optional(hash28(description))
const outref = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}#[0-9]+$', description })
const hasMore = Type.Boolean({ description: 'Whether there is another page' })
const txHash = hash('Transaction hash on layer 1')

export const depositStates = ['waiting', 'credited', 'committed', 'merged'] as const
export const withdrawalStates = ['accepted', 'committed', 'mature', 'owed', 'paid'] as const

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
    eventWaitMs: integer({
      minimum: 0,
      description: "Milliseconds from the end of a deposit's validity until it is credited",
    }),
    payoutFee: decimalText('Lovelace of each withdrawal that go to who pays it out'),
    reserveMin: decimalText('Lovelace that a reserve has at least'),
    creditedUntil: Type.Optional(
      timeText('End of the newest block: deposits of an earlier time are credited'),
    ),
    confirmedUntil: Type.Optional(timeText('End of the newest merged block')),
    treasury: Type.Object({
      lovelace: decimalText('Lovelace of reserves and deposits'),
      assets: Type.Array(
        Type.Object({
          unit: Type.String({ description: 'Policy id and asset name in hex, joined' }),
          quantity: decimalText('Decimal'),
        }),
        { description: 'Tokens of reserves and deposits' },
      ),
      outputs: Type.Integer({ minimum: 0, description: 'How many outputs hold it' }),
      owed: Type.Optional(decimalText('Lovelace of all settlements; absent while the node does not know')),
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
        lovelace: Type.Optional(decimalText('Lovelace of these withdrawals; absent with `remaining`')),
      }),
      { description: 'Merged blocks whose withdrawals are not all paid, oldest first' },
    ),
  },
  {
    title: 'Bridge',
    description: 'How ada and tokens come to layer 2 and leave it, and what layer 1 holds for it',
  },
)
export type BridgeAnswer = Decoded<typeof BridgeAnswer>

export const DepositAnswer = Type.Object(
  {
    id: hash('Names the deposit on both layers'),
    layer1Outref: Type.Optional(outref('Its output at the bridge; absent once that is spent')),
    outref: outref('The output that it becomes on layer 2'),
    output: cbor('CBOR of that output'),
    time: Type.Optional(
      timeText('The block of this time credits it; absent once the output at the bridge is spent'),
    ),
    state: enumText(
      depositStates,
      'waiting: on layer 1, in no block; credited: in a block that is not on layer 1 yet; committed, ' +
        'merged: as its block',
    ),
    headerHash: headerHash('Of the block that credits it'),
    height: Type.Optional(integer({ minimum: 1, description: 'Of that block' })),
  },
  { title: 'BridgeDeposit', description: 'Money on its way from layer 1 to layer 2' },
)
export type DepositAnswer = Decoded<typeof DepositAnswer>

/** Body of `GET /deposits`. */
export const DepositsAnswer = Type.Object(
  { deposits: Type.Array(DepositAnswer, { description: 'By time' }), hasMore },
  { title: 'BridgeDeposits', description: 'A page of deposits' },
)

export const WithdrawalAnswer = Type.Object(
  {
    outref: outref('The output on layer 2 that left it'),
    output: cbor('CBOR of that output'),
    payTo: Type.Optional(
      Type.String({ description: 'Who gets it on layer 1, in bech32; absent if no one can pay it' }),
    ),
    kind: Type.Literal('transaction', { description: 'A transaction of layer 2 made it' }),
    state: enumText(
      withdrawalStates,
      'accepted: on layer 2 only; committed, mature: as its block; owed: a settlement on layer 1 holds it; ' +
        'paid: on layer 1',
    ),
    headerHash: headerHash('Of its block'),
    payoutTxHash: Type.Optional(hash('The layer-1 transaction that paid it')),
  },
  { title: 'BridgeWithdrawal', description: 'Money on its way from layer 2 to layer 1' },
)
export type WithdrawalAnswer = Decoded<typeof WithdrawalAnswer>

/** Body of `GET /withdrawals`. */
export const WithdrawalsAnswer = Type.Object(
  { withdrawals: Type.Array(WithdrawalAnswer, { description: 'In order of acceptance' }), hasMore },
  { title: 'BridgeWithdrawals', description: 'A page of withdrawals' },
)

/** Body of a 200 of `POST /bridge/draft`. */
export const DraftAnswer = Type.Object(
  {
    transaction: cbor('CBOR of the transaction of layer 1, without signatures'),
    txHash,
    fee: decimalText('Fee in lovelace'),
    id: Type.Optional(hash('Of a deposit: its id')),
    creditedFrom: Type.Optional(
      timeText('Of a deposit: the block of this time credits it, some seconds earlier or later'),
    ),
  },
  { title: 'BridgeDraft', description: 'A transaction of layer 1 that its user checks, signs and submits' },
)

/** Body of a 200 of `POST /bridge/submit`. */
export const BridgeSubmitAnswer = Type.Object(
  { txHash },
  { title: 'BridgeSubmitted', description: 'A transaction that layer 1 has taken' },
)

/** Body of a 200 of `POST /payout`. */
export const PayoutAnswer = Type.Object(
  {
    txHashes: Type.Array(txHash, { description: 'In the order in which they were sent' }),
    paid: Type.Integer({ minimum: 0, description: 'How many withdrawals they pay' }),
    remaining: Type.Integer({ minimum: 0, description: 'How many are owed still' }),
  },
  { title: 'Payout', description: 'Withdrawals that were paid' },
)
