import type { Readable, Writable } from 'node:stream'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
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

const mostBytes = 10 * 1024 * 1024

/**
 * Speaks the Model Context Protocol in lines. The SDK's transport ignores invalid lines, ends at long ones,
 * and leaves requests unanswered at the end.
 */
export class LineTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** Resolves when the input has ended and every request is answered, or the output is closed. */
  readonly ended: Promise<void>
  readonly #input: Readable
  readonly #output: Writable
  readonly #open = new Set<unknown>()
  #hasEnded = false
  #end: () => void = () => undefined

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  async start(): Promise<void> {
    // The client has gone.
    this.#output.on('error', this.#end)
    void this.#read()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#write(message)
    if (!('method' in message) && message.id !== undefined) this.#open.delete(message.id)
    this.#endIfDone()
  }

  async close(): Promise<void> {
    this.#input.destroy()
    this.#end()
    this.onclose?.()
  }

  async #read(): Promise<void> {
    try {
      for await (const line of linesOf(this.#input, mostBytes)) await this.#receive(line)
    } catch (error) {
      this.onerror?.(error as Error)
    }
    this.#hasEnded = true
    this.#endIfDone()
  }

  async #receive(line: string | undefined): Promise<void> {
    if (line?.trim() === '') return
    const read =
      line === undefined
        ? faultWith(ErrorCode.InvalidRequest, `The message has more than ${mostBytes} bytes`)
        : readLine(line)
    if (!('jsonrpc' in read)) return this.#refuse(read)
    if ('method' in read && 'id' in read) this.#open.add(read.id)
    // A request that is cancelled gets no answer.
    if ('method' in read && read.method === 'notifications/cancelled')
      this.#open.delete(read.params?.requestId)
    this.onmessage?.(read)
  }

  async #refuse(fault: LineFault): Promise<void> {
    this.onerror?.(new Error(fault.error.message))
    await this.#write({ jsonrpc: '2.0', ...fault })
  }

  #write(message: object): Promise<void> {
    return new Promise((resolve) => {
      this.#output.write(`${JSON.stringify(message)}\n`, () => resolve())
    })
  }

  #endIfDone(): void {
    if (this.#hasEnded && this.#open.size === 0) this.#end()
  }
}

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

const faultWith = (code: ErrorCode, message: string, id: LineFault['id'] = null): LineFault => ({
  id,
  error: { code, message },
})

/** The message of a line, or what is wrong with it. */
function readLine(line: string): JSONRPCMessage | LineFault {
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

/** The lines of a stream, the last also without an end. A too long one is undefined, and is not kept. */
async function* linesOf(input: Readable, maxBytes: number): AsyncGenerator<string | undefined, void> {
  let pieces: Buffer[] = []
  let bytes = 0
  const add = (piece: Buffer): void => {
    bytes += piece.length
    if (bytes > maxBytes) pieces = []
    else pieces.push(piece)
  }
  const take = (): string | undefined => {
    const line = bytes > maxBytes ? undefined : Buffer.concat(pieces).toString('utf8')
    pieces = []
    bytes = 0
    return line
  }
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, end))
      yield take()
      start = end + 1
    }
    add(chunk.subarray(start))
  }
  if (bytes > 0) yield take()
}
