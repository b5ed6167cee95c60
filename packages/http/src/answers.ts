import { types } from 'node:util'
import { fromHex, toHex } from '@ratatosk/cbor'
import { type Static, type StaticDecode, type TSchema, Type } from '@sinclair/typebox'
import { TransformEncode, TransformEncodeError } from '@sinclair/typebox/value'
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
