import type { OperationResult } from '@ratatosk/ports'
import { OptionalKind, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value'
import { StoreUnavailableError } from './errors.js'

/**
 * The result of a port's method, if it fits its schema. A port in JavaScript may give another.
 *
 * @param method such as `queue.read`
 * @param schema its `title` names it
 * @throws {TypeError} names the method, and the first field that does not fit
 *
 * @example
 * ```ts
 * const count = portResult('stock.count', Type.Integer({ title: 'a number' }), await stock.count())
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

/**
 * The result of a port's method that may never come.
 *
 * @throws {StoreUnavailableError} if it does not come in time, which is milliseconds
 *
 * @example
 * ```ts
 * const count = await inTime('stock.count', 2000, stock.count())
 * ```
 */
export async function inTime<Result>(
  method: string,
  milliseconds: number,
  result: Result | Promise<Result>,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const cause = new Error(`${method}() did not answer within ${milliseconds} ms`)
    timer = setTimeout(() => reject(new StoreUnavailableError(cause)), milliseconds).unref()
  })
  return Promise.race([result, late]).finally(() => clearTimeout(timer))
}

/** How long a call of a port may take where others wait for it, in milliseconds. */
export const portLimitMs = 30_000

/**
 * The result of a call of a port, in time and checked; one in JavaScript may give it at once.
 *
 * @param schema as of {@link portResult}; the result may be undefined if it is wrapped in `Type.Optional`
 * @throws {StoreUnavailableError} if it does not come within 30 seconds
 */
export async function portCall<Result>(
  method: string,
  schema: TSchema,
  call: () => Result | Promise<Result>,
): Promise<Result> {
  const result = await inTime(method, portLimitMs, call())
  return result === undefined && OptionalKind in schema ? result : portResult(method, schema, result)
}

type Results<Port> = { readonly [Method in keyof Port]: TSchema }

/**
 * A port of which each method is a {@link portCall}.
 *
 * @param name of the port
 * @param results a schema for each method
 *
 * @example
 * ```ts
 * const stock = checkedPort('stock', options.stock, { count: Type.Integer({ title: 'a number' }) })
 * ```
 */
export function checkedPort<Port extends object>(name: string, port: Port, results: Results<Port>): Port {
  const methods = port as Readonly<Record<string, (...given: unknown[]) => unknown>>
  const checked = Object.entries<TSchema>(results).map(([method, schema]) => [
    method,
    (...given: unknown[]) => portCall(`${name}.${method}`, schema, () => methods[method]?.(...given)),
  ])
  return Object.fromEntries(checked) as Port
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

const hex = (bytes: number) => Type.String({ pattern: `^[0-9a-f]{${2 * bytes}}$` })
const text = Type.String({ minLength: 1 })
const [transactionId, headerHash, operatorKey] = [hex(32), hex(28), hex(28)]
const rootUnit = Type.String({ pattern: '^[0-9a-f]{56,}$' })
const lovelace = Type.String({ pattern: '^[0-9]+$' })
const count = Type.Integer({ minimum: 0 })
const time = Type.Integer({ minimum: 0, maximum: 8.64e15 })
const change = (fields: TProperties) => ({ transactionId: Type.Optional(transactionId), ...fields })

/** The fields of results that answers have. */
const shapes: { readonly [Kind in OperationResult['kind']]: TProperties } = {
  initiated: { transactionId, rootUnit },
  'root-exists': { rootUnit: text, stateQueueAddress: text, count, outRefs: Type.Array(Type.String()) },
  committed: { headerHash, transactionId, transactions: count },
  'nothing-to-commit': {},
  merged: { headerHash, transactionId },
  'nothing-to-merge': {},
  reset: {},
  removed: { headerHash, transactionId, removed: Type.Array(headerHash) },
  repaired: {},
  registered: change({ operatorKey, bond: lovelace, activeFrom: time }),
  retired: change({ operatorKey, activeUntil: time, releaseAt: time }),
  released: change({ operatorKey, bond: lovelace }),
  busy: { operation: text },
  refused: { code: text, message: text },
  'layer1-failed': { cause: text, code: text },
  'timed-out': { message: text },
}

/**
 * The result of an operation, checked by `portOutcome`.
 *
 * @param method of the port
 *
 * @example
 * ```ts
 * const result = operationResult('runner.run', await runner.run('reset'))
 * ```
 */
export function operationResult(method: string, result: OperationResult): OperationResult {
  return portOutcome(method, shapes, result)
}
