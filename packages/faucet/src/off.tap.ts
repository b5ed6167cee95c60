import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { httpErrorOptions, httpErrors } from '@ratatosk/http'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import faucet from './index.js'
import { claimBody, funded, token } from './test/build.js'

/** A listening server with or without a faucet. */
async function listen(t: Test, on: boolean): Promise<number> {
  const server = fastify(httpErrorOptions)
  t.teardown(() => server.close())
  await server.register(httpErrors)
  if (on) await server.register(faucet, { token, network: 'testnet', payer: { claim: async () => funded } })
  await server.listen({ host: '127.0.0.1', port: 0 })
  return (server.server.address() as AddressInfo).port
}

/** The raw response without the value of its date. */
async function exchange(
  port: number,
  method: string,
  path: string,
  headers: readonly string[],
  body: string,
) {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  const lines = [`${method} ${path} HTTP/1.1`, 'host: a', 'connection: close', ...headers]
  socket.write(`${lines.join('\r\n')}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  let answer = ''
  socket.on('data', (text: string) => {
    answer += text
  })
  await once(socket, 'close')
  return answer.replace(/^date: .*$/im, 'date:')
}

const json = 'content-type: application/json'
const bearer = `authorization: Bearer ${token}`
const requests = [
  [[json, bearer], JSON.stringify(claimBody)],
  [[json, 'authorization: Bearer wrong'], JSON.stringify(claimBody)],
  [[json], JSON.stringify(claimBody)],
  [[json, bearer], '{"address":'],
  [['content-type: text/xml'], '<a/>'],
  [[], ''],
] as const

t.test('an unregistered faucet answers byte for byte like an unknown path', async (t) => {
  const port = await listen(t, false)
  for (const [headers, body] of requests) {
    for (const method of ['POST', 'GET', 'PUT', 'OPTIONS']) {
      const answer = await exchange(port, method, '/faucet/claims', headers, body)
      t.equal(answer, await exchange(port, method, '/no/such/thing', headers, body), method)
      t.match(answer, /^HTTP\/1\.1 404 Not Found\r\n/)
      t.match(answer, /\r\n\r\n\{"error":"Not Found","code":"DISABLED"\}$/)
    }
  }
})

t.test('a registered faucet answers every method but POST like an unknown path', async (t) => {
  const port = await listen(t, true)
  for (const [headers, body] of requests) {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await exchange(port, method, '/faucet/claims', headers, body)
      t.equal(answer, await exchange(port, method, '/no/such/thing', headers, body), method)
    }
  }
  t.match(await exchange(port, 'POST', '/faucet/claims', ...requests[0]), /^HTTP\/1\.1 200 /)
})
