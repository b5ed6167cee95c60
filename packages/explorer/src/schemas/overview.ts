import { type Static, Type } from '@sinclair/typebox'
import { count, lovelace, time } from './common.js'

const stateTotal = Type.Object(
  { blocks: count('Blocks'), transactions: count('Their transactions') },
  { title: 'ExplorerTotal', description: 'Blocks of a state' },
)

/** Body of `GET /explorer/overview`. */
export const OverviewAnswer = Type.Object(
  {
    at: time('When this was read, by the clock of the node'),
    version: Type.String({ description: 'Version of the node' }),
    role: Type.String({ description: 'Role of this process' }),
    network: Type.String({ description: 'Name of the network' }),
    maturityWindowMs: Type.Optional(count("From a block's end until it may be merged, in milliseconds")),
    queue: Type.Optional(
      Type.Object(
        {
          transactions: count('Submissions that wait for validation'),
          bytes: count('Their size in bytes'),
          oldestAt: Type.Optional(time('When the oldest one without a first delivery came')),
        },
        {
          title: 'ExplorerQueue',
          description: 'The queue before validation; absent if the queue does not respond',
        },
      ),
    ),
    mempool: Type.Object(
      {
        transactions: count('Accepted transactions in no block'),
        bytes: count('Their size in bytes'),
        more: Type.Boolean({ description: 'Whether there are more than were counted' }),
      },
      { title: 'ExplorerMempool', description: 'Accepted transactions in no block' },
    ),
    blocks: Type.Object(
      {
        built: stateTotal,
        submitted: stateTotal,
        committed: stateTotal,
        mature: stateTotal,
        merged: stateTotal,
      },
      { title: 'ExplorerTotals', description: 'Blocks by state, each in one; without removed blocks' },
    ),
    newestHeight: Type.Optional(Type.Integer({ minimum: 1, description: 'Height of the newest block' })),
    lastCommitAt: Type.Optional(time('When the newest committed block was committed')),
    lastMergeAt: Type.Optional(time('When the newest merged block was merged')),
    sequencer: Type.Optional(
      Type.Object(
        {
          holder: Type.String({ description: 'Name of the process, which changes with each start' }),
          expiresAt: time('When its lease ends unless it is renewed'),
        },
        { title: 'ExplorerSequencer', description: 'The process that commits blocks; absent if none does' },
      ),
    ),
    layer1: Type.Optional(
      Type.Object(
        {
          height: count('Height of the newest block of layer 1'),
          slot: Type.String({ pattern: '^[0-9]+$', description: 'Its slot' }),
          at: time('Time of its slot'),
        },
        { title: 'ExplorerTip', description: 'The tip of layer 1; absent if layer 1 does not respond' },
      ),
    ),
    wallet: Type.Optional(
      Type.Object(
        { address: Type.String({ description: 'Bech32 address' }), lovelace: lovelace('Its balance') },
        {
          title: 'ExplorerWallet',
          description: 'The wallet that pays for commitments; absent if unknown or layer 1 does not respond',
        },
      ),
    ),
  },
  { title: 'ExplorerOverview', description: 'What the node does now' },
)
export type OverviewAnswer = Static<typeof OverviewAnswer>

const delay = (description: string) =>
  Type.Optional(
    Type.Object(
      {
        p50: count('Half of the transactions took at most so long, in milliseconds'),
        p95: count('95 of 100 transactions took at most so long, in milliseconds'),
        transactions: count('How many transactions were measured'),
      },
      { title: 'ExplorerDelay', description },
    ),
  )

/** Body of `GET /explorer/rates`. */
export const RatesAnswer = Type.Object(
  {
    since: time('From here on, acceptances and rejections are counted completely'),
    minutes: Type.Array(
      Type.Object(
        {
          at: time('Begin of the minute'),
          accepted: Type.Optional(count('Accepted transactions; absent if not counted completely')),
          rejected: Type.Optional(count('Rejected submissions; absent if not counted completely')),
          committed: count('Transactions whose block was committed'),
          merged: count('Transactions whose block was merged'),
        },
        { title: 'ExplorerMinute', description: 'A minute; the newest one is not over' },
      ),
      { description: 'The oldest first' },
    ),
    acceptedToCommitted: delay('From acceptance to the commit; of the newest blocks of the last 60 minutes'),
    committedToMerged: delay('From the commit to the merge; of the newest blocks of the last 60 minutes'),
  },
  { title: 'ExplorerRates', description: 'What happened in each of the last minutes' },
)
export type RatesAnswer = Static<typeof RatesAnswer>

const risks = [
  'state-validation',
  'data-availability',
  'exit',
  'sequencer-failure',
  'proposer-failure',
] as const

/** One of the five answers. */
export const TrustAnswer = Type.Object(
  {
    risk: Type.Unsafe<(typeof risks)[number]>({ type: 'string', enum: risks, description: 'The question' }),
    answer: Type.String({ description: 'What protects users here, and what does not' }),
    facts: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'Setting, or fact of the chain' }),
          value: Type.String({ description: 'Its value in this deployment' }),
        },
        { title: 'ExplorerFact', description: 'What an answer comes from' },
      ),
    ),
  },
  { title: 'ExplorerTrustAnswer', description: 'An answer, and what it comes from' },
)
export type TrustAnswer = Static<typeof TrustAnswer>

/** Body of `GET /explorer/trust`. */
export const TrustAnswers = Type.Object(
  { answers: Type.Array(TrustAnswer) },
  { title: 'ExplorerTrust', description: 'What users of this deployment have to trust' },
)
