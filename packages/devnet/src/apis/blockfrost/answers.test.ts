import { addressText } from '@ratatosk/chain-apis'
import { decodeAddress } from '@ratatosk/ledger'
import { faultsOf } from '@ratatosk/test-kit/documented-answers'
import {
  alice,
  bob,
  type Draft,
  draft,
  genesisOf,
  succeeding,
  succeedingHash,
} from '@ratatosk/test-kit/ledger-apis'
import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createDevnet } from '../../create-devnet.js'
import { devnetApis } from '../../plugin/devnet-apis.js'
import { openPeersScene } from '../../test/scenes.js'

const root = '/blockfrost/api/v0'
const unknown = 'ab'.repeat(32)
const invalidPath = 'Invalid path. Please check https://docs.blockfrost.io/'
const pool = 'pool1pu5jlj4q9w9jlxeu370a3c9myx47md5j5m2str0naunn2q3lkdy'

describe('paths that the cases of others do not name', () => {
  let scene: Awaited<ReturnType<typeof openPeersScene>>
  beforeAll(async () => {
    scene = await openPeersScene()
  })
  afterAll(() => scene.close())

  async function ask(path: string, headers: Record<string, string> = {}) {
    const { statusCode, body } = await scene.server.inject({ url: root + scene.pathOf(path), headers })
    return { status: statusCode, json: JSON.parse(body) }
  }

  it.each([
    ['/network', '/network'],
    ['/metadata/txs/labels', '/metadata/txs/labels'],
    ['/network/eras', '/network/eras'],
    ['/epochs/latest', '/epochs/latest'],
    ['/epochs/{number}', '/epochs/139'],
    ['/epochs/{number}', '/epochs/0'],
    ['/epochs/{number}/blocks', '/epochs/139/blocks'],
    ['/epochs/{number}/stakes', '/epochs/139/stakes'],
    ['/blocks/{hash_or_number}/next', '/blocks/2/next'],
    ['/blocks/{hash_or_number}/previous', '/blocks/3/previous'],
    ['/blocks/{hash_or_number}/addresses', '/blocks/3/addresses'],
    ['/epochs/{number}/next', '/epochs/130/next'],
    ['/epochs/{number}/previous', '/epochs/139/previous'],
    ['/mempool/addresses/{address}', '/mempool/addresses/<address with outputs>'],
    ['/blocks/{hash_or_number}/txs/cbor', '/blocks/3/txs/cbor'],
    ['/blocks/latest/txs/cbor', '/blocks/latest/txs/cbor'],
    ['/addresses/{address}/txs', '/addresses/<addr_vk>/txs'],
    ['/addresses/{address}/extended', '/addresses/<address with outputs>/extended'],
    ['/assets/{asset}/history', '/assets/<asset burned>/history'],
    ['/assets/{asset}/transactions', '/assets/<asset burned>/transactions'],
    ['/assets/{asset}/txs', '/assets/<asset held>/txs'],
    ['/assets/{asset}/utxos', '/assets/<asset held>/utxos'],
    ['/accounts/{stake_address}', '/accounts/<stake with outputs>'],
    ['/accounts/{stake_address}/addresses/total', '/accounts/<stake with outputs>/addresses/total'],
    ['/accounts/{stake_address}/transactions', '/accounts/<stake with outputs>/transactions'],
    ['/scripts/{script_hash}/utxos', '/scripts/<policy>/utxos'],
    ['/scripts', '/scripts'],
    ['/scripts/{script_hash}/redeemers', '/scripts/<policy>/redeemers'],
    ['/txs/{hash}/required_signers', '/txs/<tx>/required_signers'],
    ['/epochs/{number}/parameters', '/epochs/latest/parameters'],
  ])('%s: %s', async (template, path) => {
    const { status, json } = await ask(path)
    expect({ status, faults: faultsOf(template, json) }).toEqual({ status: 200, faults: undefined })
  })

  it('shows the mints and burns of an asset', async () => {
    expect((await ask('/assets/<asset burned>/history')).json).toMatchObject([
      { tx_hash: scene.places.tx, action: 'minted', amount: '1' },
      { action: 'burned', amount: '-1' },
    ])
  })

  it('lists the redeemers of a script as those of each transaction', async () => {
    expect((await ask('/scripts')).json).toEqual([{ script_hash: scene.places.policy }])
    const { json } = await ask('/scripts/<policy>/redeemers')
    expect(json.map(({ purpose }: { purpose: string }) => purpose)).toEqual(['spend', 'mint', 'mint'])
    for (const { tx_hash, ...redeemer } of json)
      expect((await ask(`/txs/${tx_hash}/redeemers`)).json).toEqual([
        { script_hash: scene.places.policy, ...redeemer },
      ])
    expect((await ask('/scripts/<policy>/redeemers?order=desc&count=2&page=2')).json).toEqual([json[0]])
    expect((await ask('/scripts/<policy>/redeemers', { unpaged: 'true' })).json).toEqual(json)
  })

  it('shows the addresses of a block with their transactions', async () => {
    const { tx, 'address with outputs': paid } = scene.places
    const { json } = await ask('/blocks/3/addresses')
    const transactions = [{ tx_hash: tx }]
    const addresses = [alice.address, bob.address, paid].sort()
    expect(json).toEqual(addresses.map((address) => ({ address, transactions })))
    expect((await ask('/blocks/3/addresses?count=2&page=2')).json).toEqual(json.slice(2))
  })

  it('lists the epochs next to one in ascending order, the nearest first by page', async () => {
    const epochs = async (path: string) => (await ask(path)).json.map(({ epoch }: { epoch: number }) => epoch)
    expect(await epochs('/epochs/137/next')).toEqual([138, 139])
    expect(await epochs('/epochs/139/previous?count=2')).toEqual([137, 138])
    expect(await epochs('/epochs/139/previous?count=2&page=2')).toEqual([135, 136])
    expect(await epochs('/epochs/1/previous')).toEqual([0])
    expect((await ask('/epochs/139/previous?count=1')).json[0].block_count).toBe(0)
  })

  it.each([
    '/pools',
    '/pools/extended',
    '/pools/retired',
    '/pools/retiring',
    '/governance/dreps',
    '/governance/proposals',
    '/governance/committee/cc_hot1qf5tkz6zwcpplq3kgpt2486d8za943vmymqkdjl249qgw3s2y5r9y/votes',
    '/epochs/139/next',
    '/accounts/<stake with outputs>/history',
    '/accounts/<stake with outputs>/rewards',
    '/accounts/<stake with outputs>/delegations',
    '/accounts/<stake with outputs>/mirs',
    '/accounts/<stake with outputs>/registrations',
    '/accounts/<stake with outputs>/withdrawals',
    '/scripts?page=2',
    '/scripts/<policy>/redeemers?page=2',
    '/txs/<tx>/delegations',
    '/txs/<tx>/mirs',
    '/txs/<tx>/pool_updates',
    '/txs/<tx>/pool_retires',
    '/addresses/<address with outputs>/transactions?from=5',
  ])('%s is empty', async (path) => {
    expect(await ask(path)).toEqual({ status: 200, json: [] })
  })

  it.each([
    [404, `/pools/${pool}`, 'The requested component has not been found.'],
    [404, `/pools/${pool}/history`, 'The requested component has not been found.'],
    [400, '/pools/pool1x', 'Invalid or malformed pool id format.'],
    [404, `/governance/proposals/${unknown}/0`, 'The requested component has not been found.'],
    [400, '/governance/proposals/x', 'Invalid or malformed gov action id.'],
    [400, '/governance/dreps/x', 'Invalid or malformed drep id.'],
    [404, `/accounts/<stake never used>/history`, 'The requested component has not been found.'],
    [400, `/accounts/${'ab'.repeat(28)}`, 'Invalid or malformed stake address format.'],
    [404, `/txs/${unknown}/mirs`, 'The requested component has not been found.'],
    [404, `/scripts/${'ab'.repeat(28)}/utxos`, 'The requested component has not been found.'],
    [404, `/scripts/${'ab'.repeat(28)}/redeemers`, 'The requested component has not been found.'],
    [404, '/accounts/<stake never used>/registrations', 'The requested component has not been found.'],
    [404, '/accounts/<stake never used>/withdrawals', 'The requested component has not been found.'],
    [400, '/accounts/<address with outputs>/registrations', 'Invalid or malformed stake address format.'],
    [400, '/accounts/<address with outputs>/withdrawals', 'Invalid or malformed stake address format.'],
    [404, '/epochs/140', 'The requested component has not been found.'],
    [400, '/epochs/1.5', 'Missing, out of range or malformed epoch_number.'],
    [404, '/blocks/1e1', 'The requested component has not been found.'],
    [400, '/blocks/', invalidPath],
    [400, '/blocks//addresses', 'Missing or malformed block hash.'],
    [400, '/blocks/<address with outputs>', 'Missing or malformed block hash.'],
    [400, '/accounts/<address with outputs>', 'Invalid or malformed stake address format.'],
    [400, '/accounts/<address with outputs>/utxos', 'Invalid or malformed stake address format.'],
    [400, '/pools/<address with outputs>', 'Invalid or malformed pool id format.'],
    [404, '/scripts/<address with outputs>', 'The requested component has not been found.'],
    [404, '/txs/<address with outputs>/utxos', 'The requested component has not been found.'],
    [400, '/epochs/', invalidPath],
    [400, '/blocks/slot/x', 'Missing, out of range or malformed slot_number.'],
    [404, '/blocks/slot/0', 'The requested component has not been found.'],
    [404, `/blocks/${'ab'.repeat(32)}/next`, 'The requested component has not been found.'],
    [400, '/addresses/<stake with outputs>', 'Invalid address for this network or malformed address format.'],
    [400, '/addresses/', invalidPath],
    [400, '/mempool/addresses/x', 'Invalid address for this network or malformed address format.'],
    [400, '/mempool/addresses/<addr_vk>/x', invalidPath],
    [404, '/epochs/140/next', 'The requested component has not been found.'],
    [400, '/governance/committee/drep1x/votes', 'Invalid or malformed cc credential id.'],
    [400, '/addresses/<addr_vkh with outputs>/utxos/asset1stonks', 'Invalid or malformed asset format.'],
    [400, '/assets?pages=2', 'querystring/pages is not a parameter of this list: count, page, order'],
    [404, `/mempool/${unknown}`, 'The requested component has not been found.'],
    [400, '/assets/<asset held>/constructor', invalidPath],
  ])('%i for %s', async (status, path, message) => {
    expect(await ask(path)).toMatchObject({ status, json: { status_code: status, message } })
  })

  it('names the costs of each language in the order of the ledger', async () => {
    const { json } = await ask('/epochs/latest/parameters')
    for (const language of ['PlutusV1', 'PlutusV2', 'PlutusV3'])
      expect(Object.values(json.cost_models[language])).toEqual(json.cost_models_raw[language])
    const [first] = Object.keys(json.cost_models.PlutusV1)
    expect(first).toBe('addInteger-cpu-arguments-intercept')
    expect(Object.keys(json.cost_models.PlutusV1).at(165)).toBe('verifyEd25519Signature-memory-arguments')
    expect(Object.keys(json.cost_models.PlutusV3).at(-1)).toBe('scaleValue-memory-arguments-slope')
  })

  it.each([
    [413, { 'content-type': 'application/cbor' }, 'Payload Too Large', Buffer.alloc(1024 * 1024 + 1)],
    [415, { 'content-type': 'application/xml' }, 'Unsupported Media Type', Buffer.from('<x/>')],
  ])('%i names its status', async (status, headers, error, payload) => {
    const answer = await scene.server.inject({ method: 'POST', url: `${root}/tx/submit`, headers, payload })
    expect(answer.json()).toMatchObject({ status_code: status, error })
  })
})

/** A devnet with so many outputs of alice, which makes blocks on request, and its APIs. */
async function serveOutputs(count: number) {
  const { utxos, networkMagic } = genesisOf(Array.from({ length: count }, () => alice.addressBytes))
  const genesis = { startTime: Date.now() - 5000, networkMagic, utxos }
  const devnet = await createDevnet({ blockEveryMs: 0, genesis })
  const server = fastify()
  onTestFinished(() => devnet.close())
  onTestFinished(() => server.close())
  await server.register(devnetApis, { devnet })
  return { devnet, server }
}

it('shows registrations and withdrawals, also of an account without outputs', async () => {
  const { devnet, server } = await serveOutputs(2)
  const block = async (transaction: Partial<Draft> & Pick<Draft, 'inputs'>, left: bigint) => {
    const outputs = [{ address: alice.addressBytes, lovelace: left }]
    const { cbor, hash } = draft({ fee: 300_000n, signers: [alice], outputs, ...transaction })
    expect(await devnet.submit(cbor)).toMatchObject({ kind: 'accepted' })
    await devnet.produceBlock()
    return hash
  }
  const accountOf = (header: number, hash: Uint8Array) => Uint8Array.from([header, ...hash])
  const key = addressText(decodeAddress(accountOf(0xe0, alice.hash)))
  const script = addressText(decodeAddress(accountOf(0xf0, succeedingHash)))
  const registers = { registers: true, keyHash: alice.hash }
  const first = await block(
    {
      inputs: [`${'11'.repeat(32)}#0`],
      certificates: [registers, { registers: true, keyHash: succeedingHash, isScript: true }],
    },
    95_700_000n,
  )
  const second = await block(
    {
      inputs: [`${first}#0`],
      withdrawals: [[accountOf(0xf0, succeedingHash), 0n]],
      collateral: [`${'11'.repeat(32)}#1`],
      scripts: [succeeding],
      redeemers: [{ tag: 3, index: 0, memory: 10_000n, steps: 10_000_000n }],
    },
    95_400_000n,
  )
  const third = await block(
    { inputs: [`${second}#0`], certificates: [{ ...registers, registers: false }] },
    97_100_000n,
  )
  const read = async (account: string, list: string) => {
    const json = (await server.inject(`${root}/accounts/${account}/${list}`)).json()
    expect(faultsOf(`/accounts/{stake_address}/${list}`, json)).toBeUndefined()
    return json
  }
  const registered = { tx_hash: first, action: 'registered', deposit: '2000000', block_height: 1 }
  expect(await read(script, 'registrations')).toMatchObject([registered])
  expect(await read(key, 'registrations')).toMatchObject([
    registered,
    { tx_hash: third, action: 'deregistered', deposit: null, block_height: 3 },
  ])
  expect(await read(script, 'withdrawals')).toMatchObject([
    { tx_hash: second, amount: '0', block_height: 2, tx_slot: expect.any(Number) },
  ])
  expect(await read(key, 'withdrawals')).toEqual([])
})

it('answers a whole list with the header unpaged, also of a transaction in the mempool', async () => {
  const { devnet, server } = await serveOutputs(150)
  const read = async (path: string, headers = {}) =>
    (await server.inject({ url: root + path, headers })).json()
  const path = `/addresses/${alice.address}/utxos`
  const all = await read(path, { unpaged: 'true' })
  expect(await read(path)).toHaveLength(100)
  expect(all).toEqual([...(await read(path)), ...(await read(`${path}?page=2`))])
  expect(await read(`${path}?order=desc`, { unpaged: 'true' })).toEqual(all.toReversed())

  const { cbor, hash } = draft({
    inputs: [`${'11'.repeat(32)}#7`],
    outputs: [{ address: alice.addressBytes, lovelace: 99_800_000n }],
    fee: 200_000n,
    signers: [alice],
  })
  await devnet.submit(cbor)
  const pending = await read(`/mempool/${hash}`)
  expect(faultsOf('/mempool/{hash}', pending)).toBeUndefined()
  expect(pending).toMatchObject({
    tx: { hash, fees: '200000' },
    inputs: [{ address: alice.address, output_index: 7 }],
    outputs: [{ output_index: 0 }],
  })

  const next = draft({
    inputs: [`${hash}#0`],
    outputs: [{ address: bob.addressBytes, lovelace: 99_600_000n }],
    fee: 200_000n,
    signers: [alice],
  })
  await devnet.submit(next.cbor)
  const of = (holder: string) => read(`/mempool/addresses/${holder}`)
  expect(await of(alice.address)).toEqual([{ tx_hash: hash }, { tx_hash: next.hash }])
  expect(await of(bob.address)).toEqual([{ tx_hash: next.hash }])
  expect(await read(`/mempool/addresses/${alice.address}?order=desc&count=1`)).toEqual([
    { tx_hash: next.hash },
  ])
  await devnet.produceBlock()
  expect(await of(alice.address)).toEqual([])
})
