import { InvalidInputError, isObject, quoted } from '../input.js'
import { parseJson } from '../json.js'

/** A JSON-RPC 2.0 request. Ogmios accepts any JSON as the `id` and returns it with the response. */
export interface RpcRequest {
  readonly method: string
  /** Any JSON; null and undefined mean none. */
  readonly params: unknown
  readonly id: unknown
}

export interface RpcResponse {
  readonly jsonrpc: '2.0'
  readonly method?: string | undefined
  readonly result?: unknown
  readonly error?: RpcErrorObject
  readonly id: unknown
}

export interface RpcErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** An error response. Negative codes are JSON-RPC's, positive ones Ogmios's. */
export class RpcError extends Error {
  override readonly name = 'RpcError'

  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
    /** The id of the request, if it was no request otherwise. */
    readonly id?: unknown,
  ) {
    super(message)
  }
}

/** There is no answer yet; the request may be repeated. In the range that JSON-RPC leaves to servers. */
export const unavailable = -32_000

/** Mesh still sends those of Ogmios 5, the last four. */
const members = ['jsonrpc', 'method', 'params', 'id', 'type', 'version', 'servicename', 'mirror']

/** @throws {RpcError} -32700 if the text is not JSON, -32600 if it is not a request */
export function readRequest(text: string): RpcRequest {
  const json = parsed(text)
  if (!isObject(json) || json.jsonrpc !== '2.0' || typeof json.method !== 'string') {
    throw invalidRequest('expected { "jsonrpc": "2.0", "method": "…" }.')
  }
  const { method, params, id = null } = json
  const unknown = Object.keys(json).find((name) => !members.includes(name))
  // The client may need the id for its answer.
  if (unknown !== undefined) throw invalidRequest(`it has an unknown field ${quoted(unknown)}.`, id)
  return { method, params, id }
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof InvalidInputError) throw invalidRequest(`${error.message}.`)
    throw new RpcError(-32700, 'Invalid JSON.')
  }
}

function invalidRequest(reason: string, id?: unknown): RpcError {
  return new RpcError(-32600, `Invalid request: ${reason}`, undefined, id)
}

export function success({ method, id }: RpcRequest, result: unknown): RpcResponse {
  return { jsonrpc: '2.0', method, result, id }
}

/** Ogmios's client knows the answers of these by their `method`. */
const transactionMethods: ReadonlySet<string> = new Set(['submitTransaction', 'evaluateTransaction'])

/** As in Ogmios, errors of JSON-RPC have no `method`: for an answer that has it, the client sees no error. */
export function failure(
  request: RpcRequest | undefined,
  { code, message, data, id = null }: RpcErrorObject & { readonly id?: unknown },
): RpcResponse {
  const error = data === undefined ? { code, message } : { code, message, data }
  const method = request?.method
  const isNamed = method !== undefined && (code > 0 || transactionMethods.has(method))
  return { jsonrpc: '2.0', ...(isNamed && { method }), error, id: request?.id ?? id }
}
