import type { Readable, Writable } from 'node:stream'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ErrorCode, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { faultWith, type LineFault, readLine } from './line-fault.js'
import { linesOf } from './lines.js'

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
