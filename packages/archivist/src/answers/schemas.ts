import { errorBody, internalErrorBody } from '@ratatosk/http'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { BlockParams, HeightRange } from '../parameters.js'

// Parameters are described as they are sent and typed as the handler sees them: `readBy` stands between the two.

const hex = (description: string, bytes?: number) =>
  Type.String({ description, pattern: bytes === undefined ? '^([0-9a-f]{2})*$' : `^[0-9a-f]{${2 * bytes}}$` })

const root = (of: string) => hex(`Merkle root ${of}`, 32)
const milliseconds = (description: string) =>
  Type.Integer({ description: `${description}, POSIX milliseconds` })

/** The ten fields of a header. */
export const HeaderFields = Type.Object(
  {
    prev_utxos_root: root('of the unspent outputs before the block'),
    utxos_root: root('of the unspent outputs after the block'),
    transactions_root: root('of the transactions'),
    deposits_root: root('of the deposits'),
    withdrawals_root: root('of the withdrawals'),
    start_time: milliseconds('Start of the block'),
    end_time: milliseconds('End of the block'),
    prev_header_hash: hex('Hash of the header before; zeros for the first', 28),
    operator_vkey: hex('Hash of the verification key of who made the block', 28),
    protocol_version: Type.Integer(),
  },
  { title: 'Header' },
)
export type HeaderFields = Static<typeof HeaderFields>

/** A body as JSON shows it; `docs/block-body.md` describes its CBOR. */
export const BodyFields = Type.Object(
  {
    transactions: Type.Array(hex('CBOR of a transaction'), { description: 'In block order' }),
    spent: Type.Array(hex('CBOR of an output reference'), {
      description: 'Unspent before the block, spent after it',
    }),
    produced: Type.Array(
      Type.Object({ outref: hex('CBOR of the output reference'), output: hex('CBOR of the output') }),
      { description: 'Made by the block and unspent after it' },
    ),
    deposits: Type.Array(Type.Never(), { description: 'There are none yet' }),
    withdrawals: Type.Array(Type.Never(), { description: 'There are none yet' }),
  },
  { title: 'Body' },
)
export type BodyFields = Static<typeof BodyFields>

const identity = { hash: hex('Hash of the header', 28), height: Type.Integer({ minimum: 1 }) }

/** Body of `GET /block/{id}`. */
export const BlockAnswer = Type.Object(
  { ...identity, header: HeaderFields, body: BodyFields },
  { title: 'Block' },
)
export type BlockAnswer = Static<typeof BlockAnswer>

/** Body of `GET /block/{id}/header`. */
export const BlockHeaderAnswer = Type.Object({ ...identity, header: HeaderFields }, { title: 'BlockHeader' })
export type BlockHeaderAnswer = Static<typeof BlockHeaderAnswer>

/** Body of `GET /block/{id}/body`. */
export const BlockBodyAnswer = Type.Object({ ...identity, body: BodyFields }, { title: 'BlockBody' })
export type BlockBodyAnswer = Static<typeof BlockBodyAnswer>

/** Body of `GET /blocks`. */
export const BlocksAnswer = Type.Object({ blocks: Type.Array(BlockAnswer) }, { title: 'Blocks' })
export type BlocksAnswer = Static<typeof BlocksAnswer>

const inBoth = (answer: TSchema) => ({
  description: String(answer.title),
  content: {
    'application/json': { schema: answer },
    'application/cbor': {
      schema: Type.Unknown({ description: 'The same as a map in CBOR, hex as byte strings' }),
    },
  },
})

const notModified = { 304: Type.Null({ description: 'It has the entity tag of If-None-Match' }) }

function oneBlock(operationId: string, summary: string, answer: TSchema) {
  return {
    operationId,
    summary,
    tags: ['archivist'],
    params: Type.Unsafe<BlockParams>(
      Type.Object({
        id: Type.String({ description: 'A height in decimal digits, or the 56 hex digits of a hash' }),
      }),
    ),
    response: {
      200: inBoth(answer),
      ...notModified,
      400: errorBody('Neither a height nor a hash'),
      404: errorBody('No such block'),
      500: internalErrorBody(),
    },
  }
}

export const archivedBlockSchema = oneBlock('archivedBlock', 'Block by height or hash', BlockAnswer)
export const archivedHeaderSchema = oneBlock('archivedHeader', 'Header by height or hash', BlockHeaderAnswer)
export const archivedBodySchema = oneBlock('archivedBody', 'Body by height or hash', BlockBodyAnswer)

export const archivedBlocksSchema = {
  operationId: 'archivedBlocks',
  summary: 'Blocks of a range of heights',
  tags: ['archivist'],
  querystring: Type.Unsafe<HeightRange>(
    Type.Object({
      from: Type.String({ description: 'The first height', pattern: '^[0-9]+$' }),
      to: Type.String({ description: 'The last height, 99 above the first at most', pattern: '^[0-9]+$' }),
    }),
  ),
  response: {
    200: inBoth(BlocksAnswer),
    400: errorBody(
      'A bound is missing or no height, the bounds are inverted, or the range is over 100 blocks',
    ),
    500: internalErrorBody(),
  },
}
