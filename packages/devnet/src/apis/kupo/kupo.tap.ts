import { setImmediate as nextTurn } from 'node:timers/promises'
import { fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import {
  alice,
  aliceGenesis,
  bob,
  draft,
  first,
  lock,
  payment,
  second,
  succeeding,
  succeedingHash,
  unitDatum,
  unlock,
} from '@ratatosk/test-kit/ledger-apis'
import { type Test, test } from 'tap'
import { serveDevnet } from '../../test/scenes.js'
import type { DevnetOptions } from '../../types.js'

async function open(t: Test, options: Pick<DevnetOptions, 'clock'> = {}) {
  const { devnet, server, close } = await serveDevnet({ genesis: aliceGenesis, blockEveryMs: 0, ...options })
  t.teardown(close)
  const ask = (path: string, headers = {}, method: 'GET' | 'OPTIONS' | 'POST' | 'DELETE' = 'GET') =>
    server.inject({ method, url: `/kupo${path}`, headers })
  const get = async (path: string, headers = {}) => {
    const response = await ask(path, headers)
    return {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
      json: response.json(),
    }
  }
  const keys = async (pattern: string): Promise<string[]> => {
    const { json } = await get(`/matches/${pattern}`)
    return json.map((match: { transaction_id: string; output_index: number }) => {
      return `${match.transaction_id}#${match.output_index}`
    })
  }
  return { devnet, ask, get, keys }
}

test('matches every kind of pattern', async (t) => {
  const { devnet, keys } = await open(t)
  const { cbor, hash } = payment()
  await devnet.submit(cbor)
  await devnet.produceBlock()
  const [toBob, change] = [`${hash}#0`, `${hash}#1`]
  t.same(await keys('*'), [change, toBob, second, first])
  t.same(await keys('*?unspent'), [change, toBob, second])
  t.same(await keys('*?spent'), [first])
  t.same(await keys('*?unspent&order=oldest_first'), [second, toBob, change])
  t.same(await keys(bob.address), [toBob])
  t.same(await keys(toHex(bob.addressBytes)), [toBob])
  t.same(await keys(`${toHex(bob.hash)}/*?unspent`), [toBob])
  t.same(await keys(`*/${toHex(bob.hash)}`), [])
  t.same(await keys(`*@${hash}`), [change, toBob])
  t.same(await keys(`1@${hash}`), [change])
  t.same(await keys(`*?transaction_id=${hash}&output_index=0`), [toBob])
})

test('matches assets with exact quantities', async (t) => {
  const { devnet, keys, get } = await open(t)
  const policy = toHex(succeedingHash)
  const minting = draft({
    inputs: [first],
    outputs: [{ address: bob.addressBytes, lovelace: 99_700_000n, assets: { [`${policy}0102`]: 2n ** 60n } }],
    fee: 300_000n,
    signers: [alice],
    mint: { [`${policy}0102`]: 2n ** 60n },
    collateral: [second],
    scripts: [succeeding],
    redeemers: [{ tag: 1, index: 0, memory: 10_000n, steps: 10_000_000n }],
  })
  t.match(await devnet.submit(minting.cbor), { kind: 'accepted' })
  await devnet.produceBlock()
  const output = [`${minting.hash}#0`]
  t.same(await keys(`${policy}.*`), output)
  t.same(await keys(`${policy}.0102?unspent`), output)
  t.same(await keys(`${policy}.03`), [])
  t.same(await keys(`${bob.address}?unspent&policy_id=${policy}&asset_name=0102`), output)
  t.same(await keys(`*?policy_id=${policy}`), output)
  const { text } = await get(`/matches/${policy}.0102`)
  t.match(text, `"${policy}.0102":${2n ** 60n}`, 'beyond 2^53')
  const accept = 'application/json;asset-quantity=string, */*;q=0.1'
  const asText = await get(`/matches/${policy}.0102`, { accept })
  t.match(asText.json[0].value, { coins: '99700000', assets: { [`${policy}.0102`]: String(2n ** 60n) } })
  t.equal(asText.headers['content-type'], 'application/json;charset=utf-8;asset-quantity=string')

  const upper = policy.toUpperCase()
  t.same(await keys(`${upper}.*`), output)
  t.same(await keys(`${upper}.0102?policy_id=${upper}&asset_name=0102`), output)
  t.same(await keys(`*?transaction_id=${minting.hash.toUpperCase()}&output_index=00`), output)
  t.same(await keys(`0@${minting.hash.toUpperCase()}`), output)
  t.same(await keys(`*?transaction_id=${minting.hash}&output_index=65536`), [], 'no output has it')
  t.same(await keys(`${toHex(bob.hash).toUpperCase()}/*`), output)
  t.same(await keys(bob.address.toUpperCase()), output)
  t.same(await keys(`${policy}.*?policy_id=${'00'.repeat(28)}`), [])
})

test('a query with one wrong letter, case or type is refused, or has the same answer', async (t) => {
  const { devnet, ask } = await open(t)
  const { cbor, hash } = payment()
  await devnet.submit(cbor)
  const { slot, hash: block } = await devnet.produceBlock()
  const valid = [
    ...['*?spent', '*?unspent&order=oldest_first', `*?created_after=${slot}&resolve_hashes`],
    ...[`*@${hash}?spent_before=${slot}.${block}`, `${bob.address}?created_before=${slot}`],
    ...[`*?transaction_id=${hash}&output_index=0`, `*?policy_id=${'ab'.repeat(28)}&asset_name=cd`],
    ...[`${toHex(alice.hash)}/*?unspent`, `${'ab'.repeat(28)}.cd?spent_after=0`],
  ]
  for (const query of valid) {
    const expected = await ask(`/matches/${query}`)
    t.equal(expected.statusCode, 200, query)
    for (const changed of changes(query)) {
      await nextTurn()
      const { statusCode, body } = await ask(`/matches/${changed}`)
      if (statusCode !== 400 && (statusCode !== 200 || body !== expected.body))
        t.fail(`${changed}: ${statusCode}`)
    }
  }
})

/** A query with one change in a name, in the type of a value, or in the case of a letter. */
function* changes(query: string): Generator<string> {
  for (const [at, letter] of [...query].entries()) {
    const flipped = letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase()
    if (flipped !== letter) yield query.slice(0, at) + flipped + query.slice(at + 1)
  }
  const [pattern, rest = ''] = query.split('?')
  const parameters = rest.split('&')
  for (const [at, parameter] of parameters.entries()) {
    const [name = '', value] = parameter.split('=')
    const withName = (other: string) => (value === undefined ? other : `${other}=${value}`)
    const others = value === undefined ? ['', 'true', '1'] : ['', 'x', '-1', '1.5', 'null']
    const changed = [
      ...[...name].flatMap((_, i) => [
        withName(`${name.slice(0, i)}${name.slice(i + 1)}`),
        withName(`${name.slice(0, i)}x${name.slice(i)}`),
        withName(`${name.slice(0, i)}x${name.slice(i + 1)}`),
      ]),
      withName(name.replace('_', '-')),
      withName(name.replace('_', '')),
      ...others.map((other) => `${name}=${other}`),
      ...(value === undefined ? [] : [name]),
    ]
    for (const each of changed) {
      if (each === parameter || (name === 'asset_name' && each === 'asset_name=')) continue
      yield `${pattern}?${parameters.map((same, i) => (i === at ? each : same)).join('&')}`
    }
  }
}

test('a match says where its output was created and spent, and with which redeemer', async (t) => {
  const { devnet, get } = await open(t)
  const output = await lock(devnet, succeedingHash)
  const unlocking = unlock(output, succeeding)
  await devnet.submit(unlocking.cbor)
  const spent = await devnet.produceBlock()
  const { json, headers } = await get(`/matches/0@${output.slice(0, 64)}?resolve_hashes`)
  t.match(json, [
    {
      transaction_index: 0,
      output_index: 0,
      value: { coins: 20_000_000, assets: {} },
      datum_type: 'inline',
      datum: toHex(unitDatum),
      script: null,
      script_hash: null,
      created_at: { header_hash: spent.previous },
      spent_at: {
        slot_no: Number(spent.slot),
        header_hash: spent.hash,
        transaction_id: unlocking.hash,
        input_index: 0,
        redeemer: toHex(unitDatum),
      },
    },
  ])
  t.equal(headers['x-most-recent-checkpoint'], String(spent.slot))
  const datum = await get(`/datums/${json[0].datum_hash}`)
  t.same(datum.json, { datum: toHex(unitDatum) })
  const script = await get(`/scripts/${toHex(succeedingHash)}`)
  t.same(script.json, { language: 'plutus:v3', script: toHex(succeeding) })
})

test('unknown hashes are null, invalid requests are rejected with a hint', async (t) => {
  const { get } = await open(t)
  t.equal((await get(`/datums/${'00'.repeat(32)}`)).json, null)
  t.equal((await get(`/scripts/${'00'.repeat(28)}`)).json, null)
  for (const path of [
    '/matches/nobody',
    '/matches/*?policy_id=x',
    '/matches/*?asset_name=00',
    '/matches/*?output_index=1',
    '/matches/*?order=random',
    '/matches/*?spent&unspent',
    ...['spent=true', 'spent=', 'unspent=false', 'spent&spent', 'resolve_hashes=true', 'order'].map(wrong),
    ...['policy_id', 'output_index=abc', 'Spent', 'unspend', 'create_after=1', 'policyId=00'].map(wrong),
    ...['spent_after=foo', 'created_before=-1', 'created_after', 'created_after=1.5'].map(wrong),
    ...['created_after=1&spent_after=2', 'created_before=1&created_before=2'].map(wrong),
    ...[`created_after=99999999999999999999`, `${'a&'.repeat(60)}`].map(wrong),
    wrong(`policy_id=${'00'.repeat(28)}&transaction_id=${'00'.repeat(32)}`),
    wrong(`transaction_id=${'00'.repeat(32)}&asset_name=00`),
    wrong(`policy_id=${'00'.repeat(28)}&asset_name=XYZ`),
    '/matches/{42}',
    '/datums/00',
    '/scripts/00',
    '/checkpoints/x',
    '/checkpoints/1?strict=true',
    '/checkpoints/1?spent',
    '/metadata/x',
    '/metadata/1?transaction_id=00',
    '/metadata/1?policy_id=00',
    '/patterns/nobody',
  ]) {
    const { status, json } = await get(path)
    t.equal(status, 400, path)
    t.type(json.hint, 'string')
  }
  for (const path of [
    '/nothing',
    '/datums',
    '/datums/0/0',
    '/checkpoints/0/0',
    '/health/0',
    '/Matches',
    '/V1/matches',
  ])
    t.equal((await get(path)).status, 404, path)
})

const wrong = (query: string) => `/matches/*?${query}`

test('health and checkpoints, before and after the first block', async (t) => {
  const { devnet, ask, get } = await open(t)
  t.match((await get('/health')).json, {
    connection_status: 'connected',
    most_recent_checkpoint: null,
    most_recent_node_tip: null,
    seconds_since_last_block: null,
    network_synchronization: null,
  })
  const { slot, hash } = await devnet.produceBlock()
  const at = Number(slot)
  const health = await get('/health', { accept: '*/*' })
  t.match(health, { status: 200, headers: { 'x-most-recent-checkpoint': String(at) } })
  const { seconds_since_last_block: since, ...rest } = health.json
  t.ok(since >= 0 && since < 60)
  t.same(rest, {
    connection_status: 'connected',
    most_recent_checkpoint: at,
    most_recent_node_tip: at,
    network_synchronization: 1,
    configuration: { indexes: 'installed' },
    version: 'v2.12.0',
  })
  for (const path of ['/health', '/metrics']) {
    const { headers, body } = await ask(path, { accept: 'text/plain' })
    t.equal(headers['content-type'], 'text/plain;charset=utf-8')
    t.match(body, `# TYPE kupo_most_recent_checkpoint counter\nkupo_most_recent_checkpoint  ${at}\n`)
  }
  t.equal((await get('/health', { accept: 'text/html' })).status, 400)
  const point = { slot_no: at, header_hash: hash }
  t.same((await get('/checkpoints')).json, [point])
  t.same((await get(`/checkpoints/${at}?strict`)).json, point)
  t.same((await get(`/checkpoints/${at + 9}`)).json, point)
  t.equal((await get(`/checkpoints/${at + 9}?strict`)).json, null)
  t.equal((await get(`/checkpoints/${at - 1}`)).json, null)
  for (const pattern of ['', '/*', '/{42}', `/${alice.address}`])
    t.same((await get(`/patterns${pattern}`)).json, ['*'])
})

test('slot ranges include both bounds, which may be points of the chain', async (t) => {
  let now = Date.now()
  const { devnet, get, keys } = await open(t, { clock: { now: () => now } })
  const paid = payment()
  await devnet.submit(paid.cbor)
  const one = await devnet.produceBlock()
  now += 5_000
  const again = payment(`${paid.hash}#1`, 79_600_000n)
  await devnet.submit(again.cbor)
  const two = await devnet.produceBlock()
  t.ok(two.slot >= one.slot + 5n)
  const [older, newer] = [
    [`${paid.hash}#1`, `${paid.hash}#0`],
    [`${again.hash}#1`, `${again.hash}#0`],
  ]
  const point = ({ slot, hash }: typeof one) => `${slot}.${hash}`
  t.same(await keys(`*?created_after=${one.slot}`), [...newer, ...older])
  t.same(await keys(`*?created_after=${one.slot + 1n}`), newer)
  t.same(await keys(`*?created_after=${point(two)}`), newer)
  t.same(await keys(`*?created_after=${point(two).toUpperCase()}`), newer)
  t.same(await keys(`*?created_before=${one.slot}`), [...older, second, first])
  t.same(await keys(`*?created_before=${point(one)}&created_after=1`), older)
  t.same(await keys(`*?created_before=${one.slot - 1n}`), [second, first])
  t.same(await keys(`*?spent_after=${one.slot}`), [`${paid.hash}#1`, first])
  t.same(await keys(`*?spent_after=${two.slot}`), [`${paid.hash}#1`])
  t.same(await keys(`*?spent_before=${one.slot}`), [first])
  t.same(await keys(`*?created_after=1&spent_before=${two.slot}`), [`${paid.hash}#1`])
  t.same(await keys(`${bob.address}?created_before=${one.slot};unspent`), [`${paid.hash}#0`])
  t.same(await keys(`*?spent_after=1&unspent`), [])
  t.same(
    await keys(`*?created_after=${two.slot}&created_before=${one.slot}`),
    [],
    'as Kupo: no slot is in it',
  )
  const other = await get(`/matches/*?created_after=${one.slot + 1n}.${one.hash}`)
  t.match(other, {
    status: 400,
    json: { details: { ancestor: { slot_no: Number(one.slot), header_hash: one.hash } } },
  })
  for (const unknown of ['origin', `1.${'00'.repeat(32)}`]) {
    const { status, json } = await get(`/matches/*?spent_before=${unknown}`)
    t.match([status, json.details], [400, undefined], unknown)
  }
})

test('an answer that has not changed is 304', async (t) => {
  const { devnet, ask } = await open(t)
  await devnet.produceBlock()
  const paths = ['/matches', '/matches/*?created_after=1', `/datums/${'00'.repeat(32)}`, '/checkpoints']
  for (const path of paths) {
    const { etag } = (await ask(path)).headers
    t.match(etag, /^[0-9a-f]{64}$/)
    t.match(await ask(path, { 'if-none-match': etag }), { statusCode: 304, body: '' }, path)
    await devnet.produceBlock()
    t.equal((await ask(path, { 'if-none-match': etag })).statusCode, 200, path)
  }
  const { etag } = (await ask('/matches')).headers
  const accept = 'application/json;asset-quantity=string'
  t.equal((await ask('/matches', { 'if-none-match': etag, accept })).statusCode, 200, 'another form')
  t.equal((await ask('/matches/nobody')).headers.etag, undefined, 'an error is not kept')
})

test('every endpoint is read-only, and also under /v1', async (t) => {
  const { ask } = await open(t)
  t.match(await ask('/health', {}, 'OPTIONS'), { statusCode: 200, body: '' })
  t.equal((await ask('/v1/matches')).body, (await ask('/matches')).body)
  for (const path of ['/health', '/v1/health?x', '/matches/*', '/patterns/*'])
    for (const method of ['POST', 'DELETE'] as const) {
      const answer = await ask(path, { 'content-type': 'text/xml' }, method)
      t.equal(answer.statusCode, 406, `${method} ${path}`)
      t.type(answer.json().hint, 'string')
    }
  t.equal((await ask('/nothing', {}, 'POST')).statusCode, 404)
})

test('the metadata of the block at a slot, or of one of its transactions', async (t) => {
  const { devnet, get } = await open(t)
  const auxiliaryData = fromHex('a2190100a1616b82184222' + '0143010203')
  const outputs = [{ address: bob.addressBytes, lovelace: 99_800_000n }]
  const described = draft({ inputs: [first], outputs, fee: 200_000n, signers: [alice], auxiliaryData })
  const plain = payment(second)
  for (const { cbor } of [described, plain]) t.match(await devnet.submit(cbor), { kind: 'accepted' })
  const { slot, hash } = await devnet.produceBlock()
  const expected = {
    hash: toHex(blake2b256(auxiliaryData)),
    raw: toHex(auxiliaryData),
    schema: {
      1: { bytes: '010203' },
      256: { map: [{ k: { string: 'k' }, v: { list: [{ int: 66 }, { int: -3 }] } }] },
    },
  }
  const found = await get(`/metadata/${slot}`)
  t.same(found.json, [expected])
  t.equal(found.headers['x-block-header-hash'], hash)
  t.same((await get(`/metadata/${slot}?transaction_id=${described.hash.toUpperCase()}`)).json, [expected])
  t.same((await get(`/metadata/${slot}?transaction_id=${plain.hash}`)).json, [])
  t.same((await get('/metadata/0')).json, [])
  t.equal((await get(`/metadata/${slot + 1n}`)).status, 400, 'no block is there yet')
})
