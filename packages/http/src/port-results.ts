import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value'

/**
 * The result of a port's method, if it fits its schema. A port in JavaScript may give another.
 *
 * @param method such as `queue.read`
 * @param schema its `title` names it
 * @throws {TypeError} names the method, and the first field that does not fit
 *
 * @example
 * ```ts
 * const stock = portResult('stock.count', Type.Integer({ title: 'a number' }), await stock.count())
 * // TypeError: stock.count() must resolve to a number: Expected integer
 * ```
 */
export function portResult<Result>(method: string, schema: TSchema, result: Result): Result {
  const fault = Value.Check(schema, result) ? undefined : faultOf(schema, result)
  if (fault === undefined) return result
  throw wrongResult(method, schema, fault)
}

/**
 * As {@link portResult}, of a result that has a `kind`.
 *
 * @param shapes the other fields of each kind
 */
export function portOutcome<Outcome extends { readonly kind: string }>(
  method: string,
  shapes: { readonly [Kind in Outcome['kind']]: TProperties },
  outcome: Outcome,
): Outcome {
  const kind = (outcome as Outcome | undefined | null)?.kind as Outcome['kind']
  if (!Object.hasOwn(shapes, kind))
    throw wrong(`${method}() must resolve to { kind: ${Object.keys(shapes).join(' | ')} }`)
  return portResult(method, Type.Object(shapes[kind], { title: `{ kind: ${kind} }` }), outcome)
}

/** @throws {TypeError} if a port gives more than it was asked for */
export function atMost<Rows extends { readonly length: number }>(
  method: string,
  limit: number,
  rows: Rows,
): Rows {
  if (rows.length <= limit) return rows
  throw wrong(`${method}() must resolve to at most ${limit} entries`)
}

const wrongResults = new WeakSet<object>()

/** Whether an error says that the result of a port does not fit; an error of the port does not. */
export const isWrongResult = (error: unknown): boolean => wrongResults.has(Object(error))

function wrong(message: string): TypeError {
  const error = new TypeError(message)
  wrongResults.add(error)
  return error
}

/** The error of a result that does not fit. */
export function wrongResult(
  method: string,
  { title }: TSchema,
  { path, message }: { readonly path: string; readonly message: string },
): TypeError {
  const where = path === '' ? '' : `${path.slice(1).replaceAll('/', '.')}: `
  return wrong(`${method}() must resolve to ${title}: ${where}${message}`)
}

/** The first field that does not fit. Formats, which TypeBox does not know, are not checked. */
export function faultOf(schema: TSchema, value: unknown): ValueError | undefined {
  for (const error of Value.Errors(schema, value))
    if (error.type !== ValueErrorType.StringFormatUnknown) return error
  return undefined
}
