import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPeersScene } from '../../test/peers-scene.js'

let scene: Awaited<ReturnType<typeof openPeersScene>>
beforeAll(async () => {
  scene = await openPeersScene()
})
afterAll(() => scene.close())

async function ask(path: string) {
  const { statusCode, body } = await scene.server.inject(`/blockfrost/api/v0${path}`)
  return { status: statusCode, body }
}

/** A name or value with one change. */
function* changed(text: string): Generator<string> {
  yield text.toUpperCase()
  yield text.toLowerCase()
  yield text.charAt(0).toUpperCase() + text.slice(1)
  yield text.slice(1)
  yield text.slice(0, -1)
  yield `${text}s`
  yield `${text} `
  yield text.split('').reverse().join('')
}

function* changedValue(text: string): Generator<string> {
  yield* changed(text)
  for (const other of ['', 'null', 'true', '[]', '{}', '-1', '1.5', '1e999', 'NaN']) yield other
}

/** The query with one name or value changed, or one parameter repeated. */
function* mutations(query: string): Generator<string> {
  const pairs = query.split('&').map((pair) => pair.split('='))
  for (const [at, [name = '', value = '']] of pairs.entries()) {
    const put = (...others: string[]) =>
      [...pairs.map((pair) => pair.join('=')).toSpliced(at, 1, ...others)].join('&')
    for (const other of changed(name)) yield put(`${encodeURIComponent(other)}=${value}`)
    for (const other of changedValue(value)) yield put(`${name}=${encodeURIComponent(other)}`)
    yield put(`${name}=${value}`, `${name}=1`)
    yield put(`${name}[]=${value}`)
  }
}

it.each([
  '/addresses/<address with outputs>/utxos?count=1&page=2&order=desc',
  '/addresses/<address with outputs>/utxos/lovelace?count=1',
  '/addresses/<addr_vkh with outputs>/transactions?from=4&to=4&order=desc',
  '/addresses/<address used and empty>/txs?count=1&page=2',
  '/assets?count=1&page=2',
  '/assets/<asset burned>/history?order=desc&count=1',
  '/assets/<asset held>/transactions?from=3:0&to=3',
  '/assets/policy/<policy>?order=desc',
  '/accounts/<stake with outputs>/utxos?count=1&page=2',
  '/accounts/<stake with outputs>/transactions?from=3&count=1',
  '/accounts/<stake with outputs>/addresses/assets?count=1',
  '/blocks/3/txs?count=1&order=desc',
  '/blocks/2/next?count=1',
  '/epochs/139/blocks?order=desc&count=1',
  '/metadata/txs/labels/674?count=1&order=desc',
])('a change of %s never answers 200 with other data', async (template) => {
  const [path = '', query = ''] = scene.pathOf(template).split('?')
  const valid = await ask(`${path}?${query}`)
  expect(valid).toMatchObject({ status: 200 })
  expect(valid.body).not.toBe('[]')
  for (const other of mutations(query)) {
    const answer = await ask(`${path}?${other}`)
    if (answer.status === 200) expect(answer, `${path}?${other}`).toEqual(valid)
    else expect(answer.status, `${path}?${other}`).toBe(400)
  }
  const segments = path.split('/')
  for (const [at, segment] of segments.entries()) {
    for (const other of [segment.toUpperCase(), `${segment}x`]) {
      const answer = await ask(`${segments.toSpliced(at, 1, other).join('/')}?${query}`)
      if (answer.status === 200) expect(answer, other).toEqual(valid)
    }
  }
})
