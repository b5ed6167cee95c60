import { createHash } from 'node:crypto'
import { types } from 'node:util'
import { fromHex, toHex } from '@ratatosk/cbor'
import { type Static, type StaticDecode, type TSchema, Type } from '@sinclair/typebox'
import { TransformEncode, TransformEncodeError } from '@sinclair/typebox/value'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { faultOf, wrongResult } from './port-results.js'

type ReadonlyAll<Value> = Value extends Uint8Array | Date | ReadonlyMap<unknown, unknown>
  ? Value
  : { readonly [Key in keyof Value]: ReadonlyAll<Value[Key]> }

/**
 * An answer as programs have it: bytes, `bigint` and `Date` where JSON has text. Ports return it, so that the
 * schema of the answer is the only description of both.
 */
export type Decoded<Schema extends TSchema> = ReadonlyAll<StaticDecode<Schema>>

/**
 * The JSON of an answer.
 *
 * @param method of the port that gave the answer
 * @throws {TypeError} for an answer that does not fit the schema, as `portResult`
 *
 * @example
 * ```ts
 * const Block = Type.Object({ hash: hexText('^[0-9a-f]{56}$', 'Header hash') }, { title: 'Block' })
 * encoded(Block, { hash: new Uint8Array(28) }, 'blocks.find') // { hash: '0000…' }
 * ```
 */
export function encoded<Schema extends TSchema>(
  schema: Schema,
  answer: Decoded<Schema>,
  method: string,
): Static<Schema> {
  const json = jsonOf(schema, answer, method)
  const fault = faultOf(schema, json)
  if (fault === undefined) return json as Static<Schema>
  throw wrongResult(method, schema, fault)
}

function jsonOf(schema: TSchema, answer: unknown, method: string): unknown {
  try {
    return TransformEncode(schema, [], answer)
  } catch (error) {
    throw error instanceof TransformEncodeError ? wrongResult(method, schema, error) : error
  }
}

const expected = (type: string): TypeError => new TypeError(`Expected ${type}`)

/** Schema of bytes, which JSON has in hex. */
export const hexText = (pattern: string, description: string) =>
  Type.Transform(Type.String({ pattern, description }))
    .Decode(fromHex)
    .Encode((bytes) => {
      if (!types.isUint8Array(bytes)) throw expected('Uint8Array')
      return toHex(bytes)
    })

/** Schema of an amount without sign, which JSON has in decimal digits. */
export const decimalText = (description: string) =>
  Type.Transform(Type.String({ pattern: '^[0-9]+$', description }))
    .Decode((text) => BigInt(text))
    .Encode((amount) => {
      if (typeof amount !== 'bigint') throw expected('bigint')
      return String(amount)
    })

/** Schema of a `bigint` that is a number in JSON. */
export const integer = (options: { readonly minimum: number; readonly description?: string }) =>
  Type.Transform(Type.Integer(options))
    .Decode((number) => BigInt(number))
    .Encode(Number)

/** Schema of a `Date`. */
export const dateText = (description: string) =>
  Type.Transform(Type.String({ format: 'date-time', description }))
    .Decode((text) => new Date(text))
    .Encode((date) => {
      if (!types.isDate(date) || Number.isNaN(date.getTime())) throw expected('Date')
      return date.toISOString()
    })

/** 9999-12-31T23:59:59.999Z, the last time of ISO 8601 with a year of four digits. */
const lastTime = 253_402_300_799_999n

/** Schema of a time of layer 1, any number of POSIX milliseconds; JSON has the nearest with four digits. */
export const timeText = (description: string) =>
  Type.Transform(Type.String({ format: 'date-time', description }))
    .Decode((text) => BigInt(Date.parse(text)))
    .Encode((time) => {
      if (typeof time !== 'bigint') throw expected('bigint')
      return new Date(Number(time < 0n ? 0n : time > lastTime ? lastTime : time)).toISOString()
    })

/** Schema of one of some texts. */
export const enumText = <Text extends string>(texts: readonly Text[], description: string) =>
  Type.Transform(Type.Unsafe<Text>(Type.String({ enum: [...texts], description })))
    .Decode((text) => text)
    .Encode((text) => {
      if (!texts.includes(text)) throw expected(`one of ${texts.join(', ')}`)
      return text
    })

/**
 * The entity tag of an answer with these bytes, in quotes (RFC 9110, section 8.8.3).
 *
 * @example
 * ```ts
 * const tag = entityTag(body)
 * if (hasEntityTag(request, tag)) return reply.code(304).send()
 * return reply.header('etag', tag).send(body)
 * ```
 */
export function entityTag(bytes: string | Uint8Array): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`
}

/**
 * Whether the client has the answer with this tag: whether `If-None-Match` contains it, by weak comparison
 * (RFC 9110, section 13.1.2).
 */
export function hasEntityTag({ headers }: FastifyRequest, tag: string): boolean {
  const listed = headers['if-none-match']?.split(',').map((item) => item.trim().replace(/^W\//, '')) ?? []
  return listed.includes(tag) || listed.includes('*')
}

/**
 * Adds a request header to the response's `Vary`, and keeps what other hooks and plugins have put there.
 *
 * @example
 * ```ts
 * addVary(reply, 'accept').send(answer)
 * ```
 */
export function addVary(reply: FastifyReply, field: string): FastifyReply {
  const fields = [reply.getHeader('vary') ?? []].flat().join(', ')
  const has = fields
    .split(/\s*,\s*/)
    .some((each) => each === '*' || each.toLowerCase() === field.toLowerCase())
  return has ? reply : reply.header('vary', fields === '' ? field : `${fields}, ${field}`)
}

/**
 * The milliseconds after which an error of a port says to try again: its `retryAfterMs`. Undefined if that is
 * not a positive number.
 */
export function retryAfterMsOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('retryAfterMs' in error)) return undefined
  const { retryAfterMs } = error
  return typeof retryAfterMs === 'number' && retryAfterMs > 0 ? retryAfterMs : undefined
}

/** {@link retryAfterMsOf} in seconds, rounded up, as in the header `Retry-After`. */
export function retryAfterSeconds(error: unknown): number | undefined {
  const milliseconds = retryAfterMsOf(error)
  return milliseconds === undefined ? undefined : Math.ceil(milliseconds / 1000)
}

/**
 * A signal that is aborted when the client leaves before its answer is complete. Fastify's `request.signal`
 * follows the body of the request instead: it is aborted, or never will be, once the body has been read.
 *
 * @example
 * ```ts
 * fastify.post('/pay', async ({ body }, reply) => payments.add(body, clientSignal(reply)))
 * ```
 */
export function clientSignal({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController()
  const check = () => {
    if (!raw.writableFinished) left.abort()
  }
  if (raw.destroyed) check()
  else raw.once('close', check)
  return left.signal
}
