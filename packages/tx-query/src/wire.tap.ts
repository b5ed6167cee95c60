import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import t, { type Test } from 'tap'
import { build } from './test/build.js'

/** One connection to a listening server, on which requests are written as they are. */
async function open(t: Test) {
  const { server, ledger } = await build(t)
  await server.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1')
  socket.setEncoding('utf8')
  t.teardown(() => socket.destroy())
  const chunk = async () => (await once(socket, 'data'))[0]
  const closed = once(socket, 'close').then(() => Promise.reject(new Error('the server hung up')))
  closed.catch(() => undefined)
  const ask = async (line: string, last: string) => {
    socket.write(`${line} HTTP/1.1\r\nhost: a\r\n\r\n`, 'latin1')
    let answer = ''
    while (!answer.endsWith(last)) answer += await Promise.race([chunk(), closed])
    return answer
  }
  return { ledger, ask }
}

t.test('keeps the connection open after refusals', async (t) => {
  const { ledger, ask } = await open(t)
  const id = 'ab'.repeat(32)
  ledger.transactions.set(id, Buffer.of(0x80))
  t.match(await ask('GET /tx', '}'), /^HTTP\/1\.1 400 Bad Request\r\n/)
  t.match(await ask(`GET /tx?tx_hash=${'00'.repeat(32)}`, '}'), /^HTTP\/1\.1 404 Not Found\r\n/)
  const head = await ask(`HEAD /tx?tx_hash=${id}`, '\r\n\r\n')
  t.match(head, /^HTTP\/1\.1 200 OK\r\n/)
  t.match(head, /\r\ncontent-length: 11\r\n/)
  t.match(await ask(`GET /tx?tx_hash=${id}`, '}'), /\r\n\r\n\{"tx":"80"\}$/)
})

t.test('shows bytes that are not text as sent, and does not read them as digits', async (t) => {
  const { ask } = await open(t)
  t.match(await ask('GET /tx?tx_hash=%FF%B0', '}'), '{"error":"Invalid transaction hash: %FF%B0"}')
  t.match(await ask('GET /tx?tx_hash=%00', '}'), '{"error":"Invalid transaction hash: \\u0000"}')
})
