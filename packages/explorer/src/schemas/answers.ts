import { errorBody, internalErrorBody, limitResponses, pathResponses } from '@ratatosk/http'
import { type Static, Type } from '@sinclair/typebox'

const hash = (description: string) => Type.String({ description, pattern: '^[0-9a-f]{64}$' })
const headerHash = Type.String({ description: 'Header hash', pattern: '^[0-9a-f]{56}$' })
const time = (description: string) => Type.String({ format: 'date-time', description })
const count = (description: string) => Type.Integer({ minimum: 0, description })
const lovelace = (description: string) =>
  Type.String({ pattern: '^[0-9]+$', description: `${description}, in lovelace` })
const hex = (description: string) => Type.String({ description, pattern: '^([0-9a-f]{2})*$' })
const outref = Type.String({
  description: 'Output reference: transaction hash and index',
  pattern: '^[0-9a-f]{64}#[0-9]+$',
})

/** The answers of every route beside 200. */
export const refusals = { ...limitResponses(), 500: internalErrorBody() }

/** The same for routes with parameters. */
export const parameterRefusals = {
  ...refusals,
  400: errorBody('A parameter is invalid; the message says what to send instead'),
}

/** The same for routes that name one thing in their path. */
export const pathRefusals = {
  ...parameterRefusals,
  ...pathResponses(),
  404: errorBody('This node does not have it; the message says where it may be'),
}

const states = ['built', 'submitted', 'committed', 'mature', 'merged', 'removed'] as const

/** When a block entered its states; a state that it has not entered is absent. */
const BlockTimes = Type.Object(
  {
    built: time('When the block was built'),
    submitted: Type.Optional(time('When layer 1 accepted its transaction')),
    committed: Type.Optional(time('When it was in the state queue')),
    mature: Type.Optional(time('When its maturity window was over')),
    merged: Type.Optional(time('When it was in the confirmed state')),
    removed: Type.Optional(time('When it was no longer in the state queue')),
  },
  {
    title: 'ExplorerBlockTimes',
    description: 'When a block entered its states, by the clock of the database; newest entry of each',
  },
)

/** A block in a list. */
export const ExplorerBlock = Type.Object(
  {
    height: Type.Integer({ minimum: 1 }),
    headerHash,
    state: Type.Unsafe<(typeof states)[number]>({ type: 'string', enum: states, description: 'Where it is' }),
    transactions: count('How many transactions it has'),
    bytes: Type.Optional(count('Size of its transactions in bytes; absent until the node has counted them')),
    fees: Type.Optional(lovelace('Fees of its transactions; absent until the node has counted them')),
    endTime: time('End of the block'),
    maturesAt: Type.Optional(time('From when on it may be merged')),
    times: BlockTimes,
    commitTxHash: Type.Optional(hash('Layer-1 transaction that commits it; absent if another operator did')),
    commitFee: Type.Optional(lovelace('Fee of that transaction')),
    mergeTxHash: Type.Optional(hash('Layer-1 transaction that merges it, once it is signed')),
  },
  { title: 'ExplorerBlock', description: 'A block with its times' },
)
export type ExplorerBlock = Static<typeof ExplorerBlock>

/** Body of `GET /explorer/blocks`. */
export const BlocksAnswer = Type.Object(
  {
    blocks: Type.Array(ExplorerBlock, { description: 'From the newest down; without removed blocks' }),
    next: Type.Optional(
      Type.Integer({ minimum: 1, description: '`before` of the next part, if there is one' }),
    ),
  },
  { title: 'ExplorerBlocks', description: 'A part of the list of blocks' },
)
export type BlocksAnswer = Static<typeof BlocksAnswer>

const BlockTransaction = Type.Object(
  {
    hash: hash('Transaction hash'),
    bytes: count('Size in bytes'),
    fee: lovelace('Its fee'),
    inputs: count('How many outputs it spends'),
    outputs: count('How many outputs it makes'),
    redeemers: count('How many scripts it runs with a redeemer'),
    valid: Type.Boolean({ description: 'False if its scripts failed and it spent its collateral' }),
  },
  { title: 'ExplorerBlockTransaction', description: 'A transaction in a block' },
)

/** Body of `GET /explorer/block/{id}`. */
export const ExplorerBlockAnswer = Type.Object(
  {
    block: ExplorerBlock,
    header: Type.Object(
      {
        utxosRootBefore: hash('Root of the unspent outputs before the block'),
        utxosRootAfter: hash('Root of the unspent outputs after the block'),
        transactionsRoot: hash('Root of the transactions'),
        depositsRoot: hash('Root of the deposits'),
        withdrawalsRoot: hash('Root of the withdrawals'),
        startTime: time('Start of the block'),
        endTime: time('End of the block'),
        previousHeaderHash: Type.String({
          description: 'Hash of the previous header; zeros for the first block',
          pattern: '^[0-9a-f]{56}$',
        }),
        operator: Type.String({ description: "Hash of the operator's key", pattern: '^[0-9a-f]{56}$' }),
        blockVersion: count('Version of the block format'),
      },
      { title: 'ExplorerHeader', description: 'The ten fields of the header' },
    ),
    transactions: Type.Array(BlockTransaction, {
      description: 'A part of its transactions, in order; none if the block is removed',
    }),
    offset: count('How many transactions are before this part'),
  },
  { title: 'ExplorerBlockDetails', description: 'A block with its header and a part of its transactions' },
)
export type ExplorerBlockAnswer = Static<typeof ExplorerBlockAnswer>

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

const json = (description: string) => Type.Unknown({ description })

const Amount = Type.Object(
  {
    unit: Type.String({ description: '`lovelace`, or policy id and asset name in hex' }),
    quantity: Type.String({ pattern: '^-?[0-9]+$', description: 'Quantity; negative if burnt' }),
  },
  { title: 'ExplorerAmount', description: 'A quantity of an asset' },
)

const Script = Type.Object(
  {
    hash: Type.String({ pattern: '^[0-9a-f]{56}$', description: 'Script hash' }),
    language: Type.String({ description: '`native`, or `PlutusV1` to `PlutusV3`' }),
    bytes: count('Size in bytes'),
  },
  { title: 'ExplorerScript', description: 'A script' },
)

/** An output. */
export const ExplorerOutputAnswer = Type.Object(
  {
    outref,
    address: Type.String({ description: 'Bech32, or base58 for Byron addresses' }),
    amount: Type.Array(Amount, { description: 'Lovelace first' }),
    datumHash: Type.Optional(hash('Hash of its datum')),
    datum: Type.Optional(
      json("Its inline datum in cardano-cli's detailed schema, with integers as text; absent if too large"),
    ),
    referenceScript: Type.Optional(Script),
    spentBy: Type.Optional(
      Type.Object(
        {
          txHash: hash('Transaction hash'),
          valid: Type.Boolean({ description: 'False if it is spent as collateral' }),
        },
        { title: 'ExplorerSpender', description: 'The transaction that spends it' },
      ),
    ),
  },
  { title: 'ExplorerOutput', description: 'An output' },
)
export type ExplorerOutputAnswer = Static<typeof ExplorerOutputAnswer>

const madeBy = Type.Optional(hash('Transaction or deposit that made it; absent for an output of the genesis'))

const Input = Type.Object(
  { outref, output: Type.Optional(ExplorerOutputAnswer), madeBy },
  { title: 'ExplorerInput', description: 'An input; without output and maker if it is not resolved here' },
)

const units = (description: string) => Type.String({ pattern: '^[0-9]+$', description })

/** Body of `GET /explorer/tx/{hash}`. */
export const ExplorerTransactionAnswer = Type.Object(
  {
    hash: hash('Transaction hash'),
    acceptedAt: time('When validation accepted it'),
    block: Type.Optional(ExplorerBlock),
    position: Type.Optional(count('Its position in the block, from 0')),
    bytes: count('Size in bytes'),
    fee: lovelace('Its fee'),
    valid: Type.Boolean({ description: 'False if its scripts failed and it spent its collateral' }),
    inputs: Type.Array(Input, { description: 'What it spends if it is valid' }),
    referenceInputs: Type.Array(Input, { description: 'What it only reads' }),
    collateralInputs: Type.Array(Input, { description: 'What it spends if its scripts fail' }),
    outputs: Type.Array(ExplorerOutputAnswer, {
      description: 'What it makes; if its scripts failed, at most the return of its collateral',
    }),
    spendersKnown: Type.Boolean({
      description: 'Whether an output without a spender is unspent; false without an index of outputs',
    }),
    mint: Type.Array(Amount, { description: 'What it mints, or burns; nothing if its scripts failed' }),
    validFromSlot: Type.Optional(Type.String({ pattern: '^[0-9]+$', description: 'First slot, inclusive' })),
    validUntilSlot: Type.Optional(Type.String({ pattern: '^[0-9]+$', description: 'Last slot, exclusive' })),
    metadata: Type.Array(
      Type.Object(
        {
          label: Type.String({ description: 'Label' }),
          json: Type.Optional(
            json("cardano-cli's JSON without schema, integers beyond ±2^53 as text; absent if too large"),
          ),
        },
        { title: 'ExplorerMetadata', description: 'Metadata under a label' },
      ),
    ),
    datums: Type.Array(
      Type.Object(
        { hash: hash('Datum hash'), json: Type.Optional(json('As in an output; absent if too large')) },
        { title: 'ExplorerDatum', description: 'A datum among the witnesses' },
      ),
    ),
    scripts: Type.Array(Script, { description: 'Scripts among the witnesses' }),
    redeemers: Type.Array(
      Type.Object(
        {
          purpose: Type.String({ description: '`spend`, `mint`, `cert`, `reward`, `vote` or `propose`' }),
          index: count('Which item of this purpose it is for'),
          memory: units('Declared memory units'),
          steps: units('Declared CPU steps'),
          used: Type.Optional(
            Type.Object(
              { memory: units('Used memory units'), steps: units('Used CPU steps') },
              {
                title: 'ExplorerUsedUnits',
                description: 'What its script used; absent if it failed, or while it is not measured',
              },
            ),
          ),
          json: Type.Optional(json('As in an output; absent if too large')),
        },
        { title: 'ExplorerRedeemer', description: 'A redeemer' },
      ),
    ),
    fields: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'Name of the field, such as `body.fee`' }),
          offset: count('Where its value starts, in bytes'),
          length: count('Length of its value in bytes'),
        },
        { title: 'ExplorerField', description: 'A field of the transaction in its CBOR' },
      ),
    ),
    cbor: hex('The transaction as submitted'),
  },
  { title: 'ExplorerTransaction', description: 'An accepted transaction' },
)
export type ExplorerTransactionAnswer = Static<typeof ExplorerTransactionAnswer>

/** Body of `GET /explorer/output/{ref}`. */
export const OutputAnswer = Type.Object(
  {
    output: ExplorerOutputAnswer,
    madeBy,
  },
  { title: 'ExplorerLineage', description: 'An output, who made it and who spent it' },
)
export type OutputAnswer = Static<typeof OutputAnswer>

const kinds = ['transaction', 'block', 'output', 'address', 'asset', 'policy', 'submission'] as const
const kind = Type.Unsafe<(typeof kinds)[number]>({ type: 'string', enum: kinds, description: 'What it is' })

/** Body of `GET /explorer/search`. */
export const SearchAnswer = Type.Object(
  {
    matches: Type.Array(
      Type.Object(
        {
          kind,
          id: Type.String({ description: 'Its full name' }),
          path: Type.String({ description: 'Where this node answers about it' }),
        },
        { title: 'ExplorerMatch', description: 'Something that this node has' },
      ),
    ),
    couldBe: Type.Array(kind, { description: 'What a text of this form can name; all of it was searched' }),
  },
  { title: 'ExplorerSearch', description: 'What a text names on this node' },
)
export type SearchAnswer = Static<typeof SearchAnswer>
export type Kind = (typeof kinds)[number]
