import t from 'tap'
import { build } from './test/build.js'
import { outRef } from './test/views.js'

const stateQueueAddress = 'addr_test1wqag3rt979nep9g2wtdwu8mr4gz6m4kjdpp5zp705km8wys6t2kla'
const rootUnit = `${'ab'.repeat(28)}${Buffer.from('RATATOSK_CONFIRMED_STATE').toString('hex')}`

t.test('GET /stateQueue/root-unit-diagnostics: ok when the count is 1, otherwise invalid', async (t) => {
  const { chain, get } = await build(t)
  for (const [outRefs, status] of [
    [[], 'invalid'],
    [[outRef(1)], 'ok'],
    [[outRef(1, 12), outRef(2)], 'invalid'],
    [[outRef(1), outRef(1, 1), outRef(2)], 'invalid'],
  ] as const) {
    chain.units = { resetInProgress: false, stateQueueAddress, rootUnit, outRefs }
    const answer = await get('/stateQueue/root-unit-diagnostics')
    t.equal(answer.status, 200)
    t.equal(
      answer.body,
      JSON.stringify({
        status,
        resetInProgress: false,
        stateQueueAddress,
        rootUnit,
        count: outRefs.length,
        outRefs,
      }),
    )
    for (const place of JSON.parse(answer.body).outRefs) t.match(place, /^[0-9a-f]{64}#\d+$/)
    t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    t.equal(answer.headers['cache-control'], 'no-store')
  }
})

t.test('GET /stateQueue/root-unit-diagnostics: tells whether a reset runs', async (t) => {
  const { chain, get } = await build(t)
  for (const resetInProgress of [true, false]) {
    chain.units = { resetInProgress, stateQueueAddress, rootUnit, outRefs: [outRef(1)] }
    const body = JSON.parse((await get('/stateQueue/root-unit-diagnostics')).body)
    t.match(body, { status: 'ok', resetInProgress })
  }
})

t.test('GET /commitment-wallet/balance: lovelace in decimal digits, exact whatever its size', async (t) => {
  const { chain, get } = await build(t)
  for (const balance of [0n, 1n, 5_000_000n, 45_000_000_000_000_000n, 2n ** 64n - 1n]) {
    chain.balance = balance
    const answer = await get('/commitment-wallet/balance')
    t.equal(answer.status, 200)
    t.equal(answer.body, `{"lovelaceBalance":"${balance}"}`)
    t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    t.equal(answer.headers['cache-control'], 'no-store')
  }
})
