import { breakableProxy, redisUrl } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { anyPlacement, backends, onServices, servicesMissing } from '../test/backends.js'
import { runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfer.js'

// A machine that runs many tests at once is slow.
t.setTimeout(300_000)

const services = await onServices()

t.test(
  'refuses transactions with Retry-After while the queue is full',
  { skip: services.skip },
  async (t) => {
    const { url } = await runNode(t, {
      ...(await services.place(t)),
      NODE_ROLE: 'api',
      QUEUE_MAX_WAITING: '2',
    })
    for (const transaction of ['80', '8100']) t.equal((await submit(url, transaction)).status, 200)
    const refused = await submit(url, '820000')
    t.match(refused, { status: 500, body: '{"error":"Failed to enqueue transaction"}' })
    t.equal(refused.headers['retry-after'], '1')
    t.equal((await ask(`${url}/health/live`)).status, 200)
  },
)

const accepted = /^\{"message":"Successfully added the transaction to the queue","id":"[^"]+"\}$/
const invalid = { status: 400, body: '{"error":"Invalid CBOR provided"}' }
const tooLarge = { status: 413, body: '{"error":"Request body is too large"}' }
const unsupported = {
  status: 415,
  body: '{"error":"Unsupported Media Type: send the hex digits with the header Content-Type: text/plain"}',
}

const zeros = (bytes: number) => '00'.repeat(bytes)

/** Bodies that are not hex of one well-formed CBOR item. */
const invalidBodies: Readonly<Record<string, string>> = {
  empty: '',
  'only white space': ' \n\t ',
  'an odd number of digits': '84a4f',
  'no hex': 'not a transaction',
  'a 0x prefix': '0x80',
  'white space between digits': '84 00',
  'JSON in plain text': '{"cbor":"80"}',
  'letters beyond f': '8g',
  'digits of another script': '８０',
  'a depth bomb of 16 kB': '81'.repeat(16_384),
  'a depth bomb that comes to its end': `${'81'.repeat(16_383)}00`,
  'a depth bomb of indefinite arrays': '9f'.repeat(16_384),
  'a depth bomb of tags': 'c1'.repeat(16_384),
  'an array claiming 2^60 items': '9b1000000000000000',
  'a map claiming 2^60 entries': 'bb1000000000000000',
  'bytes claiming 2^60 of them': '5b1000000000000000',
  'trailing bytes': '8000',
  'an item cut short': '8300',
  'a reserved length': '1c',
  'a stray break': 'ff',
}

/** Bodies that are, but are not transactions: accepted into the queue, rejected by validation. */
const noTransactions: Readonly<Record<string, string>> = {
  'an integer': '00',
  'an empty array': '80',
  text: '6568656c6c6f',
  'upper case': 'A10102',
  'white space around it': ' \r\n\t82f5f6\n',
  'an array of four': '84a0a0f5f6',
  'the largest there is': `59${(16_381).toString(16)}${zeros(16_381)}`,
}

for (const backend of await backends()) {
  t.test(`POST /submit on ${backend.name}`, { skip: backend.skip }, async (t) => {
    const node = await runNode(t, await backend.place(t))
    const { url } = node

    async function deadLetterOf(t: Test, body: string) {
      const answer = await submit(url, body)
      t.equal(answer.status, 200)
      t.match(answer.body, accepted)
      const { id }: { id: string } = JSON.parse(answer.body)
      await until(async () => (await node.store.rejections.find(id)) !== undefined)
      return node.store.rejections.find(id)
    }

    await t.test('400 for a body that is not the hex of one CBOR item', async (t) => {
      for (const [name, body] of Object.entries(invalidBodies))
        t.match(await submit(url, body), invalid, name)
    })

    await t.test(
      '200 for well-formed CBOR that is not a transaction, which becomes a dead letter at once',
      async (t) => {
        for (const [name, body] of Object.entries(noTransactions)) {
          const letter = await deadLetterOf(t, body)
          t.match(letter, { code: 'DecodingFailure', attempts: 1 }, name)
          t.equal(Buffer.from(letter!.cbor!).toString('hex'), body.trim().toLowerCase(), name)
        }
      },
    )

    await t.test('413 for a body that is too large', async (t) => {
      const oneMore = `59${(16_382).toString(16)}${zeros(16_382)}`
      for (const body of [oneMore, `${oneMore}ab`, 'ab'.repeat(500_000), 'x'.repeat(1_000_000)]) {
        t.match(await submit(url, body), tooLarge, `${body.length} characters`)
      }
    })

    await t.test('415 for another content type than text/plain', async (t) => {
      for (const [name, headers] of [
        ['JSON', { 'content-type': 'application/json' }],
        ['CBOR', { 'content-type': 'application/cbor' }],
        ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
        ['HTML', { 'content-type': 'text/html' }],
        ['none', {}],
      ] as const) {
        for (const body of ['80', '{"cbor":"80"}']) {
          t.match(await ask(`${url}/submit`, { method: 'POST', headers, body }), unsupported, name)
        }
      }
      for (const type of ['text/plain; charset=utf-8', 'TEXT/PLAIN', 'text/plain;charset=ascii']) {
        const answer = await ask(`${url}/submit`, {
          method: 'POST',
          headers: { 'content-type': type },
          body: '80',
        })
        t.equal(answer.status, 200, type)
      }
    })

    await t.test('200 for a valid transaction, then /tx returns it and /utxos its outputs', async (t) => {
      const { transfer, receiver } = await transferFrom(0, 0)
      const answer = await submit(url, transfer.cborHex)
      t.match(answer, { status: 200, body: accepted })
      t.not(JSON.parse(answer.body).id, transfer.hash)
      await until(async () => (await ask(`${url}/tx?tx_hash=${transfer.hash}`)).status === 200)
      t.equal((await ask(`${url}/tx?tx_hash=${transfer.hash}`)).body, `{"tx":"${transfer.cborHex}"}`)
      t.match((await ask(`${url}/utxos?address=${receiver}`)).body, `825820${transfer.hash}00`)
    })

    await t.test('200 for a repeated transaction, also in upper case, which is applied once', async (t) => {
      const { transfer, receiver } = await transferFrom(0, 1)
      const bodies = [transfer.cborHex, transfer.cborHex, transfer.cborHex.toUpperCase()]
      const answers = await Promise.all(bodies.map((body) => submit(url, body)))
      for (const answer of answers) t.match(answer, { status: 200, body: accepted })
      const ids = answers.map(({ body }): string => JSON.parse(body).id)
      t.equal(new Set(ids).size, 3, 'an id for each')
      await until(async () => (await ask(`${url}/tx?tx_hash=${transfer.hash}`)).status === 200)
      await deadLetterOf(t, '80')
      const history = JSON.parse((await ask(`${url}/txs?address=${receiver}`)).body)
      t.same(history.txs, [transfer.cborHex])
      for (const id of ids) t.equal(await node.store.rejections.find(id), undefined, 'no dead letter')
    })

    await t.test('a transaction with an invalid signature does not affect others', async (t) => {
      const [bad, good] = await Promise.all([transferFrom(0, 2), transferFrom(0, 3)])
      const broken = bad.transfer.cborHex.replace(/.{8}f5f6$/, '00000000f5f6')
      const [letter] = await Promise.all([deadLetterOf(t, broken), submit(url, good.transfer.cborHex)])
      t.match(letter, { code: 'InvalidWitnessesUTXOW', attempts: 1 })
      await until(async () => (await ask(`${url}/tx?tx_hash=${good.transfer.hash}`)).status === 200)
      t.equal((await ask(`${url}/tx?tx_hash=${bad.transfer.hash}`)).status, 404)
    })

    await t.test('a double spend becomes a dead letter at once, with its spender', async (t) => {
      const [first, second] = await Promise.all([transferFrom(0, 4), transferFrom(0, 4)])
      await submit(url, first.transfer.cborHex)
      await until(async () => (await ask(`${url}/tx?tx_hash=${first.transfer.hash}`)).status === 200)
      const letter = await deadLetterOf(t, second.transfer.cborHex)
      t.match(letter, { code: 'BadInputsUTxO', attempts: 1 })
      t.match(JSON.stringify(letter?.details), `:"${first.transfer.hash}"}`)
      t.equal((await ask(`${url}/tx?tx_hash=${second.transfer.hash}`)).status, 404)
      t.equal((await ask(`${url}/utxos?address=${second.receiver}`)).body, '{"utxos":[]}')
    })
  })
}

t.test(
  'a queue that is away: 500, and again 200 when it is back',
  { skip: await servicesMissing() },
  async (t) => {
    const services = await onServices()
    const queue = await breakableProxy(redisUrl)
    t.teardown(() => queue.close())
    const { url } = await runNode(t, { ...(await services.place(t)), REDIS_URL: queue.url })
    t.equal((await submit(url, '80')).status, 200)
    await queue.break()
    t.match(await submit(url, '80'), { status: 500, body: '{"error":"Failed to enqueue transaction"}' })
    t.match(await submit(url, 'x'), invalid, 'what is wrong is wrong all the same')
    await queue.mend()
    await until(async () => (await submit(url, '80')).status === 200)
  },
)

t.test('MAX_TX_SIZE sets the size limit', async (t) => {
  const { url } = await runNode(t, { ...(await anyPlacement(t)), MAX_TX_SIZE: '3' })
  t.equal((await submit(url, '820102')).status, 200)
  t.match(await submit(url, '83010203'), tooLarge)
})
