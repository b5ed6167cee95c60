import type { InvalidBlockReport } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { busyBody, errorBody, internalErrorBody, limitResponses, pathResponses } from '@ratatosk/http'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { BlockParams, HeightRange } from './parameters.js'

// `Type.Unsafe` describes parameters as sent and types them as the handler sees them, after `readBy`.

const hex = (description: string, bytes?: number) =>
  Type.String({ description, pattern: bytes === undefined ? '^([0-9a-f]{2})*$' : `^[0-9a-f]{${2 * bytes}}$` })

const root = (of: string) => hex(`Merkle root ${of}`, 32)
const milliseconds = (description: string) =>
  Type.Integer({ description: `${description}, POSIX milliseconds` })

/** The JSON form of a header: its ten fields. */
export const HeaderFields = Type.Object(
  {
    prev_utxos_root: root('of the unspent outputs before the block'),
    utxos_root: root('of the unspent outputs after the block'),
    transactions_root: root('of the transactions'),
    deposits_root: root('of the deposits'),
    withdrawals_root: root('of the withdrawals'),
    start_time: milliseconds('Start of the block'),
    end_time: milliseconds('End of the block'),
    prev_header_hash: hex('Hash of the previous header; zeros for the first block', 28),
    operator_vkey: hex('Hash of the verification key of the operator that made the block', 28),
    protocol_version: Type.Integer(),
  },
  { title: 'Header', description: 'The ten fields of a block header' },
)
export type HeaderFields = Static<typeof HeaderFields>

/** The JSON form of a block body; `docs/block-body.md` describes its CBOR. */
export const BodyFields = Type.Object(
  {
    transactions: Type.Array(hex('CBOR of a transaction'), { description: 'In block order' }),
    spent: Type.Array(hex('CBOR of an output reference'), {
      description: 'Outputs that the block spends and did not bring',
    }),
    produced: Type.Array(
      Type.Object({ outref: hex('CBOR of the output reference'), output: hex('CBOR of the output') }),
      { description: 'Outputs that the block brings and does not spend' },
    ),
    deposits: Type.Array(
      Type.Object({
        id: hex('Id of the deposit or of the fee output', 32),
        output: hex('CBOR of the output that it becomes'),
      }),
      { description: 'Deposits on layer 1 that the block credits, and its fee output' },
    ),
    withdrawals: Type.Array(Type.Never(), { description: 'Always empty' }),
  },
  {
    title: 'BlockBody',
    description: 'What is kept off layer 1: the transactions of a block and their effect',
  },
)
export type BodyFields = Static<typeof BodyFields>

const identity = { hash: hex('Hash of the header', 28), height: Type.Integer({ minimum: 1 }) }

/** Body of `GET /block/{id}`. */
export const ArchivedBlockAnswer = Type.Object(
  { ...identity, header: HeaderFields, body: BodyFields },
  { title: 'ArchivedBlock', description: 'A block with header and body' },
)
export type ArchivedBlockAnswer = Static<typeof ArchivedBlockAnswer>

/** Body of `GET /block/{id}/header`. */
export const ArchivedHeaderAnswer = Type.Object(
  { ...identity, header: HeaderFields },
  { title: 'ArchivedHeader', description: 'The header of a block' },
)
export type ArchivedHeaderAnswer = Static<typeof ArchivedHeaderAnswer>

/** Body of `GET /block/{id}/body`. */
export const ArchivedBodyAnswer = Type.Object(
  { ...identity, body: BodyFields },
  { title: 'ArchivedBody', description: 'The body of a block' },
)
export type ArchivedBodyAnswer = Static<typeof ArchivedBodyAnswer>

/** Body of `GET /blocks`. */
export const ArchivedBlocksAnswer = Type.Object(
  { blocks: Type.Array(ArchivedBlockAnswer) },
  { title: 'ArchivedBlocks', description: 'Blocks by ascending height' },
)
export type ArchivedBlocksAnswer = Static<typeof ArchivedBlocksAnswer>

const inBoth = (answer: TSchema) => ({
  description: String(answer.title),
  content: {
    'application/json': { schema: answer },
    'application/cbor': {
      schema: Type.Unknown({ description: 'The same map in CBOR, with byte strings instead of hex' }),
    },
  },
})

const notModified = { 304: Type.Null({ description: 'If-None-Match contains the entity tag' }) }

const limited = () => ({
  ...limitResponses(),
  500: internalErrorBody(),
  503: busyBody('too many block bodies are being sent'),
})

function oneBlock(
  operationId: string,
  summary: string,
  answer: TSchema,
  id = 'A height in decimal digits, or a header hash in 56 hex digits',
) {
  return {
    operationId,
    summary,
    description: 'JSON, or CBOR if `Accept` prefers `application/cbor`.',
    tags: ['archivist'],
    params: Type.Unsafe<BlockParams>(
      Type.Object({
        id: Type.String({ description: id }),
      }),
    ),
    response: {
      200: inBoth(answer),
      ...notModified,
      400: errorBody('The id is malformed'),
      404: errorBody('The archive does not have the block'),
      ...pathResponses(),
      ...limited(),
    },
  }
}

/** Route schema of `GET /block/{id}`. */
export const archivedBlockSchema = oneBlock(
  'getArchivedBlock',
  'Block by height or hash',
  ArchivedBlockAnswer,
)

/** Route schema of `GET /block/{id}/header`. */
export const archivedHeaderSchema = oneBlock(
  'getArchivedHeader',
  'Header by height or hash',
  ArchivedHeaderAnswer,
)

/** Route schema of `GET /block/{id}/body`. */
export const archivedBodySchema = oneBlock('getArchivedBody', 'Body by height or hash', ArchivedBodyAnswer)

/** Route schema of `GET /blocks`. */
export const archivedBlocksSchema = {
  operationId: 'listArchivedBlocks',
  summary: 'Blocks of a range of heights',
  description: 'At most 100 blocks. JSON, or CBOR if `Accept` prefers `application/cbor`.',
  tags: ['archivist'],
  querystring: Type.Unsafe<HeightRange>(
    Type.Object({
      from: Type.String({ description: 'The first height', pattern: '^[0-9]+$' }),
      to: Type.String({ description: 'The last height, at most 99 above the first', pattern: '^[0-9]+$' }),
    }),
  ),
  response: {
    200: inBoth(ArchivedBlocksAnswer),
    400: errorBody(
      'A bound is missing or not a height, the bounds are inverted, or the range is over 100 blocks',
    ),
    ...limited(),
  },
}

/** Maximum number of blocks that `GET /invalid-blocks` lists. */
export const maxReports = 100

/** Body of `GET /invalid-blocks`. */
export const InvalidBlocksAnswer = Type.Object(
  {
    blocks: Type.Array(
      Type.Object({
        ...identity,
        reason: Type.String({ description: 'The broken rule' }),
        position: Type.Optional(
          Type.Integer({
            minimum: 0,
            description: 'Position of the transaction that breaks it; absent when the block as a whole does',
          }),
        ),
        foundAt: Type.String({ format: 'date-time', description: 'When this node found it, ISO 8601' }),
      }),
      { description: 'The newest first' },
    ),
  },
  { title: 'InvalidBlocks' },
)
export type InvalidBlocksAnswer = Static<typeof InvalidBlocksAnswer>

export function reportFields(report: InvalidBlockReport): InvalidBlocksAnswer['blocks'][number] {
  const { headerHash, height, reason, position, foundAt } = report
  return {
    hash: toHex(headerHash),
    height: Number(height),
    reason,
    ...(position !== undefined && { position }),
    foundAt: foundAt.toISOString(),
  }
}

/** Route schema of `GET /invalid-blocks`. */
export const invalidBlocksSchema = {
  operationId: 'listInvalidBlocks',
  summary: 'Invalid blocks that are kept as evidence, newest first, at most 100',
  tags: ['archivist'],
  response: { 200: InvalidBlocksAnswer, ...limitResponses(), 500: internalErrorBody() },
}

/** Route schema of `GET /invalid-blocks/{hash}`. */
export const invalidBlockSchema = oneBlock(
  'getInvalidBlock',
  'An invalid block that is kept as evidence',
  ArchivedBlockAnswer,
  'A header hash in 56 hex digits',
)
