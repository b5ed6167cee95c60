import { Type } from '@sinclair/typebox'
import type { BlocksPart, OutputId, RequestedBlock, TransactionsPart } from '../parameters.js'
import { maxBlocks, maxMinutes, maxSearch, maxTransactions } from '../parameters.js'
import {
  BlocksAnswer,
  ExplorerBlockAnswer,
  ExplorerTransactionAnswer,
  OutputAnswer,
  OverviewAnswer,
  parameterRefusals,
  pathRefusals,
  RatesAnswer,
  refusals,
  SearchAnswer,
  TrustAnswers,
} from './answers.js'

// `Type.Unsafe` describes parameters as sent and types them as the handler sees them, after `readBy`.

const tags = ['explorer']
const number = (minimum: number, maximum: number, byDefault: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum, default: byDefault, description }))

/** Route schema of `GET /explorer/overview`. */
export const overviewSchema = {
  operationId: 'getOverview',
  summary: 'What the node does now',
  description:
    'Queue, mempool, blocks by state, the newest commit and merge, the sequencer, layer 1 and the wallet. ' +
    'All readers share an answer for half a second. What could not be measured is absent.',
  tags,
  response: { 200: OverviewAnswer, ...refusals },
}

/** Route schema of `GET /explorer/rates`. */
export const ratesSchema = {
  operationId: 'getRates',
  summary: 'Transactions per minute, and how long they took',
  description:
    'Acceptances and rejections are counted by this process, from the newest 20,000 at its start; a ' +
    'minute that is not counted completely has no number. The oldest minute comes first.',
  tags,
  querystring: Type.Unsafe<{ readonly minutes: number }>(
    Type.Object({ minutes: number(1, maxMinutes, maxMinutes, 'How many minutes, with the current one') }),
  ),
  response: { 200: RatesAnswer, ...parameterRefusals },
}

/** Route schema of `GET /explorer/blocks`. */
export const blocksSchema = {
  operationId: 'listBlocks',
  summary: 'Blocks with their times, the newest first',
  description:
    'Without removed blocks. Bytes and fees of a block are absent until the node has summed them: an ' +
    'answer sums 10,000 transactions at most, and the next one goes on.',
  tags,
  querystring: Type.Unsafe<BlocksPart>(
    Type.Object({
      before: Type.Optional(Type.Integer({ minimum: 1, description: 'Only blocks with a lower height' })),
      limit: number(1, maxBlocks, 20, 'The most blocks to answer'),
    }),
  ),
  response: { 200: BlocksAnswer, ...parameterRefusals },
}

/** Route schema of `GET /explorer/block/{id}`. */
export const blockSchema = {
  operationId: 'getBlockDetails',
  summary: 'A block with its times, header and transactions',
  description:
    'By its header hash in any state, by its height unless it is removed. A removed block has no ' +
    'transactions.',
  tags,
  params: Type.Unsafe<RequestedBlock>(
    Type.Object({
      id: Type.String({ description: 'Header hash of 56 hex digits, or height', examples: ['1'] }),
    }),
  ),
  querystring: Type.Unsafe<TransactionsPart>(
    Type.Object({
      offset: number(0, 10_000_000, 0, 'How many transactions to skip'),
      limit: number(1, maxTransactions, 100, 'The most transactions to answer'),
    }),
  ),
  response: { 200: ExplorerBlockAnswer, ...pathRefusals },
}

/** Route schema of `GET /explorer/tx/{hash}`. */
export const transactionSchema = {
  operationId: 'getTransactionDetails',
  summary: 'An accepted transaction, decoded',
  description:
    'The first 100 inputs are resolved, as far as their outputs have 256 KiB of CBOR together. Datums, ' +
    'redeemers and metadata are JSON up to 64 KiB of CBOR together.',
  tags,
  params: Type.Unsafe<{ readonly hash: Uint8Array }>(
    Type.Object({
      hash: Type.String({ description: 'Transaction hash, 64 hex digits', pattern: '^[0-9a-fA-F]{64}$' }),
    }),
  ),
  response: { 200: ExplorerTransactionAnswer, ...pathRefusals },
}

/** Route schema of `GET /explorer/output/{ref}`. */
export const outputSchema = {
  operationId: 'getOutput',
  summary: 'An output, who made it and who spent it',
  description:
    'One step of the lineage in each direction. An output of the genesis has no maker, an unspent ' +
    'one no spender.',
  tags,
  params: Type.Unsafe<{ readonly ref: OutputId }>(
    Type.Object({
      ref: Type.String({ description: '`<transaction hash>#<index>`, with `#` as `%23`' }),
    }),
  ),
  response: { 200: OutputAnswer, ...pathRefusals },
}

/** Route schema of `GET /explorer/search`. */
export const searchSchema = {
  operationId: 'search',
  summary: 'What a text names on this node',
  description:
    'Searches what a text of this form can name. Without matches, `couldBe` says what was searched.',
  tags,
  querystring: Type.Unsafe<{ readonly text: string }>(
    Type.Object({
      q: Type.String({
        minLength: 1,
        maxLength: maxSearch,
        description: 'Hash, height, output reference, address, unit, policy id or submission id',
        examples: ['1'],
      }),
    }),
  ),
  response: { 200: SearchAnswer, ...parameterRefusals },
}

/** Route schema of `GET /explorer/trust`. */
export const trustSchema = {
  operationId: 'getTrust',
  summary: 'What users of this deployment have to trust',
  description:
    'Five answers, each with the settings and facts that it comes from; none if this process does not know ' +
    'the contracts.',
  tags,
  response: { 200: TrustAnswers, ...refusals },
}
