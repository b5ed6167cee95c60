import { toHex } from '@ratatosk/cbor'
import { type Test, test } from 'tap'
import { draft, unitDatum } from '../../test/draft.js'
import {
  alice,
  aliceGenesis,
  bob,
  first,
  lock,
  payment,
  second,
  succeeding,
  succeedingHash,
  unlock,
} from '../../test/scenes.js'
import { serveDevnet } from '../../test/served-devnet.js'

async function open(t: Test) {
  const { devnet, server, close } = await serveDevnet({ genesis: aliceGenesis, blockEveryMs: 0 })
  t.teardown(close)
  const get = async (path: string) => {
    const response = await server.inject(`/kupo${path}`)
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
  return { devnet, get, keys }
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
})

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
    '/datums/00',
    '/scripts/00',
  ]) {
    const { status, json } = await get(path)
    t.equal(status, 400, path)
    t.type(json.hint, 'string')
  }
  t.equal((await get('/nothing')).status, 404)
})

test('health and checkpoints', async (t) => {
  const { devnet, get } = await open(t)
  const { slot, hash } = await devnet.produceBlock()
  t.match((await get('/health')).json, {
    connection_status: 'connected',
    most_recent_checkpoint: Number(slot),
  })
  t.same((await get('/checkpoints')).json, [{ slot_no: Number(slot), header_hash: hash }])
  t.same((await get('/patterns')).json, ['*'])
})
