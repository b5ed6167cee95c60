import { isObject, type JsonObject } from '../json.js'
import { maxRequestDepth } from '../limits.js'

/** A JSON-RPC 2.0 request. Ogmios accepts any JSON as the `id` and returns it with the response. */
export interface RpcRequest {
  readonly method: string
  readonly params: JsonObject
  readonly id: unknown
}

export interface RpcResponse {
  readonly jsonrpc: '2.0'
  readonly method?: string
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
  ) {
    super(message)
  }
}

/** There is no answer yet; the request may be repeated. In the range that JSON-RPC leaves to servers. */
export const unavailable = -32_000

export function invalidParams(message: string): RpcError {
  return new RpcError(-32602, message)
}

/** @throws {RpcError} -32602 if a parameter is not an array of at most `max` entries */
export function checkList(name: string, list: unknown, max: number): asserts list is readonly unknown[] {
  if (!Array.isArray(list)) throw invalidParams(`"${name}" must be an array.`)
  if (list.length > max) throw invalidParams(`"${name}" may have at most ${max} entries.`)
}

/** @throws {RpcError} -32700 if the text is not JSON, -32600 if it is not a request */
export function readRequest(text: string): RpcRequest {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new RpcError(-32700, 'Invalid JSON.')
  }
  if (!isObject(json) || json.jsonrpc !== '2.0' || typeof json.method !== 'string') {
    throw new RpcError(-32600, 'Invalid request: expected { "jsonrpc": "2.0", "method": "…" }.')
  }
  if (nestsDeeper(json, maxRequestDepth)) {
    throw new RpcError(-32600, `Invalid request: it nests deeper than ${maxRequestDepth} levels.`)
  }
  return { method: json.method, params: isObject(json.params) ? json.params : {}, id: json.id ?? null }
}

function nestsDeeper(json: unknown, levels: number): boolean {
  if (typeof json !== 'object' || json === null) return false
  return levels === 0 || Object.values(json).some((member) => nestsDeeper(member, levels - 1))
}

export function success({ method, id }: RpcRequest, result: unknown): RpcResponse {
  return { jsonrpc: '2.0', method, result, id }
}

export function failure(
  request: RpcRequest | undefined,
  { code, message, data }: RpcErrorObject,
): RpcResponse {
  const error = data === undefined ? { code, message } : { code, message, data }
  return { jsonrpc: '2.0', ...(request && { method: request.method }), error, id: request?.id ?? null }
}
