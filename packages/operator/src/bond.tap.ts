import { ask, browserAttacks } from '@ratatosk/test-kit/http'
import t from 'tap'
import { build, changes, operatorKey } from './test/build.js'

const txHash = '11'.repeat(32)
const [activeFrom, activeUntil, releaseAt] = [0, 1000, 2000].map((time) => new Date(time).toISOString())

t.test('answers what is the case, and whether it was before', async (t) => {
  const { node, url } = await build(t)
  const bond = '500000000'
  const answers = async () => {
    const found: unknown[] = []
    for (const path of changes) {
      const { status, body, headers } = await ask(url + path, { method: 'POST' })
      t.equal(headers['cache-control'], 'no-store')
      found.push([status, JSON.parse(body)])
    }
    return found
  }
  t.same(await answers(), [
    [200, { message: 'The operator is registered', txHash, operatorKey, bond: '5', activeFrom }],
    [200, { message: 'The operator has retired', txHash, operatorKey, activeUntil, releaseAt }],
    [200, { message: 'The bond is withdrawn', txHash, operatorKey, bond: '5' }],
  ])
  Object.assign(node.results, {
    register: { kind: 'registered', operatorKey, bond, activeFrom: 0 },
    retire: { kind: 'retired', operatorKey, activeUntil: 1000, releaseAt: 2000 },
    release: { kind: 'refused', code: 'SEQUENCER_BOND_LOCKED', message: 'The bond is locked: wait' },
  })
  t.same(await answers(), [
    [200, { message: 'The operator is registered already', operatorKey, bond, activeFrom }],
    [200, { message: 'The operator has retired already', operatorKey, activeUntil, releaseAt }],
    [409, { error: 'The bond is locked: wait' }],
  ])
  node.end({ kind: 'busy', operation: 'retire' })
  const busy = [409, { error: 'Change of the bond already in progress' }]
  t.same(await answers(), [busy, busy, busy])
  node.end({ kind: 'reset' })
  t.same(
    (await answers()).map((answer) => (answer as [number])[0]),
    [500, 500, 500],
  )
})

t.test('asks for the token, keeps hostile pages away, and is no GET', async (t) => {
  const { node, url, port } = await build(t, { operatorToken: 'secret' })
  const authorization = 'Bearer secret'
  for (const path of changes) {
    t.equal((await ask(url + path, { method: 'POST' })).status, 401, path)
    t.equal((await ask(url + path, { headers: { authorization } })).status, 404, path)
    for (const attack of browserAttacks(port)) {
      const headers = { ...attack.headers, authorization }
      const answer = await ask(url + (attack.path?.(path) ?? path), { method: 'POST', headers })
      t.equal(answer.status, 403, `${attack.name}: ${path}`)
    }
  }
  t.same(node.asked, [], 'nothing runs')
  for (const path of changes)
    t.equal((await ask(url + path, { method: 'POST', headers: { authorization } })).status, 200)
  t.same(node.asked, ['register', 'retire', 'release'])
})
