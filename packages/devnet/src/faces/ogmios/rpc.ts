/** A JSON-RPC request as Ogmios takes it; whatever `id` is comes back with the answer. */
export interface RpcRequest {
  readonly method: string
  readonly params: { readonly [key: string]: unknown }
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

/** An answer that is an error; the codes are JSON-RPC's below zero and Ogmios's above. */
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

export function invalidParams(message: string): RpcError {
  return new RpcError(-32602, message)
}

/** @throws {RpcError} -32700 on what is no JSON, -32600 on what is no request */
export function readRequest(text: string): RpcRequest {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new RpcError(-32700, 'Invalid JSON.')
  }
  if (!isObject(json) || json.jsonrpc !== '2.0' || typeof json.method !== 'string') {
    throw new RpcError(-32600, 'Invalid request: { "jsonrpc": "2.0", "method": "…" } is expected.')
  }
  return { method: json.method, params: isObject(json.params) ? json.params : {}, id: json.id ?? null }
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

export function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
