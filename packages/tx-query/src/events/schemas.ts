import { busyBody, errorBody, internalErrorBody, limitResponses } from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'

/** The types of events. */
export const eventTypes = ['accepted', 'rejected', 'block', 'verdict'] as const

const hash = (description: string) => Type.String({ description, pattern: '^[0-9a-f]{64}$' })
const time = (description: string) => Type.String({ format: 'date-time', description })

/** `data` of an event `accepted`. */
export const AcceptedData = Type.Object(
  { txHash: hash('Transaction hash'), at: time('When it was accepted') },
  { title: 'AcceptedEvent', description: 'A transaction was accepted into the mempool' },
)
export type AcceptedData = Static<typeof AcceptedData>

/** `data` of an event `rejected`. */
export const RejectedData = Type.Object(
  {
    id: Type.String({
      description: 'Submission id; `dropped-<txHash>…` if an accepted transaction was dropped',
    }),
    txHash: Type.Optional(hash('Transaction hash; absent if the submission does not decode')),
    code: Type.String({ description: 'Name of the first failed predicate, such as FeeTooSmallUTxO' }),
    reason: Type.String({ description: 'The reason, for people' }),
    at: time('When it was rejected'),
  },
  {
    title: 'RejectedEvent',
    description: 'A submission was rejected for good; `GET /submission` has all reasons',
  },
)
export type RejectedData = Static<typeof RejectedData>

/** `data` of an event `block`. */
export const BlockData = Type.Object(
  {
    state: Type.Unsafe<'built' | 'submitted' | 'committed' | 'mature' | 'merged' | 'removed'>({
      type: 'string',
      enum: ['built', 'submitted', 'committed', 'mature', 'merged', 'removed'],
      description: 'The state that the block has entered; an earlier one after a roll-back of layer 1',
    }),
    height: Type.Integer({ minimum: 1 }),
    headerHash: Type.String({ description: 'Header hash', pattern: '^[0-9a-f]{56}$' }),
    transactions: Type.Integer({ minimum: 0, description: 'How many transactions the block has' }),
    commitTxHash: Type.Optional(
      hash('Layer-1 transaction that commits the block; absent if another operator did'),
    ),
    mergeTxHash: Type.Optional(hash('Layer-1 transaction that merges the block, once it is signed')),
    endTime: time('End of the block'),
    maturesAt: Type.Optional(time('From when on the block may be merged')),
    at: time('When it entered the state'),
  },
  { title: 'BlockEvent', description: 'A block has entered a state' },
)
export type BlockData = Static<typeof BlockData>

const verdictStates = ['unavailable', 'valid', 'invalid', 'unprovable', 'removing', 'removed'] as const

/** `data` of an event `verdict`. */
export const VerdictData = Type.Object(
  {
    state: Type.Unsafe<(typeof verdictStates)[number]>({
      type: 'string',
      enum: [...verdictStates],
      description: 'The state that the verdict has entered, as in `GET /verdicts`',
    }),
    height: Type.Integer({ minimum: 0 }),
    headerHash: Type.String({ description: 'Header hash', pattern: '^[0-9a-f]{56}$' }),
    operatorKey: Type.String({
      description: "Hash of the operator's verification key",
      pattern: '^[0-9a-f]{56}$',
    }),
    reason: Type.String({ description: 'The broken rule, or what is missing, for people' }),
    policy: Type.Optional(Type.String({ description: 'Verdict policy that proves the fraud' })),
    fraud: Type.Optional(Type.String({ description: 'Name of the fraud in that policy' })),
    at: time('When it entered the state'),
  },
  { title: 'VerdictEvent', description: 'What the watcher found about a block has changed' },
)
export type VerdictData = Static<typeof VerdictData>

const position = Type.String({
  pattern: '^[0-9]{1,18}\\.[0-9]{1,18}\\.[0-9]{1,18}(\\.[0-9]{1,18})?$',
  description: 'Id of the last event that the client has; `0.0.0` for all events that the node has kept',
})

/** The query of `GET /events`, as it is sent. */
export const EventsParameters = Type.Object({
  type: Type.Optional(
    Type.String({
      description: 'Types of events, separated by commas; default all',
      examples: ['accepted,block'],
    }),
  ),
  tx_hash: Type.Optional(
    Type.String({
      description: 'Up to 50 transaction hashes, separated by commas: their events and those of their blocks',
    }),
  ),
  address: Type.Optional(
    Type.String({
      description:
        'Bech32 address: transactions that spend from or pay to it, and their blocks; nothing else',
    }),
  ),
  block: Type.Optional(
    Type.String({
      pattern: '^[0-9a-fA-F]{56}$',
      description: 'Header hash: events and verdicts of this block',
    }),
  ),
  after: Type.Optional(position),
})

/** Route schema of `GET /events`, for OpenAPI documents. */
export const eventsSchema = {
  operationId: 'streamEvents',
  summary: 'Server-sent events of transactions and blocks',
  description: [
    'A stream in the format of the HTML standard, section "Server-sent events". Events are named `accepted`,',
    '`rejected`, `block` and `verdict`; `data` is one line of JSON. The `id` of an event is where the stream',
    'resumes:',
    '`EventSource` sends it as `Last-Event-ID` when it reconnects; others send the header, or `after`.',
    'Without either, the stream starts with the next event. At most one of `tx_hash`, `address` and `block`.',
  ].join(' '),
  tags: ['ledger'],
  headers: Type.Object({ 'last-event-id': Type.Optional(position) }),
  querystring: EventsParameters,
  response: {
    ...limitResponses(),
    200: {
      description: 'The stream',
      content: {
        'text/event-stream': {
          schema: Type.Union([AcceptedData, RejectedData, BlockData, VerdictData], {
            title: 'EventData',
            description: '`data` of an event, by its name',
          }),
        },
      },
    },
    400: errorBody('A parameter is invalid; the message says what to send instead'),
    500: internalErrorBody(),
    503: busyBody('too many clients read events, or the event log cannot be read'),
  },
}
