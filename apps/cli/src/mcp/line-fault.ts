import {
  CallToolRequestSchema,
  ErrorCode,
  InitializeRequestSchema,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  ListToolsRequestSchema,
  PingRequestSchema,
  RequestIdSchema,
} from '@modelcontextprotocol/sdk/types.js'

/** Why a line is not answered by the server, as JSON-RPC 2.0 and the Model Context Protocol say it. */
export interface LineFault {
  readonly id: string | number | null
  readonly error: { readonly code: number; readonly message: string }
}

/** The requests that the server answers. It refuses methods that it does not have. */
const requests = {
  initialize: InitializeRequestSchema,
  ping: PingRequestSchema,
  'tools/list': ListToolsRequestSchema,
  'tools/call': CallToolRequestSchema,
}

export const faultWith = (code: ErrorCode, message: string, id: LineFault['id'] = null): LineFault => ({
  id,
  error: { code, message },
})

/** The message of a line, or what is wrong with it. */
export function readLine(line: string): JSONRPCMessage | LineFault {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return faultWith(ErrorCode.ParseError, 'The line is not JSON')
  }
  const { success, data } = JSONRPCMessageSchema.safeParse(value)
  return success ? (paramsFault(data) ?? data) : shapeFault(value)
}

function shapeFault(value: unknown): LineFault {
  if (Array.isArray(value)) return faultWith(ErrorCode.InvalidRequest, 'Send one message a line, not a batch')
  const fields = typeof value === 'object' && value !== null ? value : {}
  const { data: id = null } = RequestIdSchema.safeParse('id' in fields ? fields.id : undefined)
  const isSound = JSONRPCMessageSchema.safeParse({ ...fields, params: undefined }).success
  return 'params' in fields && isSound
    ? faultWith(ErrorCode.InvalidParams, 'params must be an object', id)
    : faultWith(ErrorCode.InvalidRequest, 'The line is not a message of JSON-RPC 2.0', id)
}

function paramsFault(message: JSONRPCMessage): LineFault | undefined {
  if (!('method' in message && 'id' in message && Object.hasOwn(requests, message.method))) return undefined
  const { error } = requests[message.method as keyof typeof requests].safeParse(message)
  const [issue] = error?.issues ?? []
  if (issue === undefined) return undefined
  return faultWith(ErrorCode.InvalidParams, `${issue.path.join('.')}: ${issue.message}`, message.id)
}
