import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import submit from './index.js'

const invalid = '{"error":"Invalid CBOR provided"}'
const tooLarge = '{"error":"Request body is too large"}'
const accepted = '{"message":"Successfully added the transaction to the queue","id":"1"}'

/** A listening server with the plugin only. */
async function listen(t: Test) {
  const server = fastify()
  t.teardown(() => server.close())
  const entries: string[] = []
  await server.register(submit, {
    queue: { add: async (cbor) => String(entries.push(Buffer.from(cbor).toString('hex'))) },
  })
  await server.listen({ host: '127.0.0.1', port: 0 })
  return { port: (server.server.address() as AddressInfo).port, entries }
}

/** Posts pieces as chunks, or as one body with its length. */
async function post(port: number, pieces: readonly string[], headers: Record<string, string | number>) {
  const outgoing = request({ host: '127.0.0.1', port, path: '/submit', method: 'POST', headers })
  for (const piece of pieces) outgoing.write(piece)
  outgoing.end()
  const [incoming] = await once(outgoing, 'response')
  let body = ''
  incoming.setEncoding('utf8')
  for await (const chunk of incoming) body += chunk
  return { status: incoming.statusCode, body, headers: incoming.headers }
}

t.test('accepts a body in chunks that split bytes and digits', async (t) => {
  const { port, entries } = await listen(t)
  const answer = await post(port, ['8', '4a0', 'a0f', '5f6', '\r', '\n'], { 'content-type': 'text/plain' })
  t.equal(answer.status, 200)
  t.equal(answer.body, accepted)
  t.same(entries, ['84a0a0f5f6'])
})

t.test('refuses a body that exceeds the limit while it arrives', async (t) => {
  const { port, entries } = await listen(t)
  const pieces = Array.from({ length: 64 }, () => 'ab'.repeat(8192))
  for (const headers of [
    { 'content-type': 'text/plain' },
    { 'content-type': 'text/plain', 'content-length': 64 * 16_384 },
  ]) {
    const answer = await post(port, pieces, headers)
    t.equal(answer.status, 413)
    t.equal(answer.body, tooLarge)
  }
  t.same(entries, [])
})

t.test('refuses a content length over the limit before the body arrives', async (t) => {
  const { port } = await listen(t)
  const socket = connect(port, '127.0.0.1')
  socket.write(
    'POST /submit HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 99999999\r\n\r\n',
  )
  const [answer] = await once(socket.setEncoding('utf8'), 'data')
  t.match(answer, /^HTTP\/1\.1 413 /)
  t.match(answer, tooLarge)
  socket.destroy()
})

t.test('keeps the connection open after a refused transaction', async (t) => {
  const { port } = await listen(t)
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  let answers = ''
  const send = async (body: string, until: string) => {
    socket.write(
      'POST /submit HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: ' +
        `${body.length}\r\n\r\n${body}`,
    )
    while (!answers.includes(until)) answers += (await once(socket, 'data'))[0]
  }
  await send('zz', invalid)
  await send('84a0a0f5f6', accepted)
  t.notMatch(answers, /connection: close/i)
  socket.destroy()
})
