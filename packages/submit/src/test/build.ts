import { recordedLog } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import type { Test } from 'tap'
import submit, { type SubmitOptions } from '../index.js'

export const invalid = '{"error":"Invalid CBOR provided"}'
export const tooLarge = '{"error":"Request body is too large"}'
export const unsupported =
  '{"error":"Unsupported Media Type: send the hex digits with the header Content-Type: text/plain"}'
export const failed = '{"error":"Failed to enqueue transaction"}'
export const accepted = (id: string) =>
  `{"message":"Successfully added the transaction to the queue","id":"${id}"}`

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** One byte string that takes this many bytes of CBOR, at least 259. */
export const itemOf = (size: number) =>
  `59${(size - 3).toString(16).padStart(4, '0')}${'ab'.repeat(size - 3)}`

export class Entries {
  readonly entries: string[] = []
  async add(cbor: Uint8Array): Promise<string> {
    return `entry-${this.entries.push(hex(cbor))}`
  }
}

export async function build(t: Test, options: Partial<SubmitOptions> = {}) {
  const queue = new Entries()
  const { stream, records: log } = recordedLog()
  const server = fastify({ logger: { level: 'info', stream } })
  t.teardown(() => server.close())
  await server.register(submit, { queue, ...options })
  const post = (payload: string | Buffer, type: string | undefined = 'text/plain', url = '/submit') =>
    server.inject({ method: 'POST', url, headers: { 'content-type': type }, payload })
  return { server, queue, log, post }
}
