import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { anyPlacement, sharedBackends } from '../test/backends.js'
import { buildBlock } from '../test/blocks.js'
import { readEvents, runNode, submit } from '../test/node.js'
import {
  builderConfig,
  devnetFunds,
  devnetParameters,
  signedTransfer,
  transferFrom,
} from '../test/transfer.js'

async function send(url: string, cborHex: string): Promise<string> {
  return JSON.parse((await submit(url, cborHex)).body).id
}

async function read(url: string, path: string) {
  const { status, body } = await ask(url + path)
  if (status !== 200) throw new Error(`${path}: ${status} ${body}`)
  return JSON.parse(body)
}

for (const backend of await sharedBackends()) {
  t.test(`every status is reached on ${backend.name}`, { skip: backend.skip }, async (t) => {
    const place = { ...(await backend.place(t)), SUBMIT_MAX_ATTEMPTS: '3' }
    const { url, store, settings } = await runNode(t, { ...place, NODE_ROLE: 'api' })
    const events = readEvents(() => `${url}/events?after=0.0.0`)
    t.teardown(() => events.close())
    const { hash, cborHex } = (await transferFrom(4, 0)).transfer
    const { wallet, utxo } = devnetFunds(4, 1)
    const unknownInput = { ...utxo, outref: `825820${'ee'.repeat(32)}00` }
    const config = builderConfig(await devnetParameters())
    const orphan = signedTransfer(config, wallet, unknownInput, wallet.address, 5_000_000n).cborHex

    const [first, second, missing, garbage] = [
      await send(url, cborHex),
      await send(url, cborHex),
      await send(url, orphan),
      await send(url, '8401'.concat('a0f5f6')),
    ]
    const status = async (id: string) => (await read(url, `/submission?id=${id}`)).status
    t.match(await read(url, `/submission?id=${first}`), { status: 'queued', txHash: hash, attempts: 0 })
    t.match(await read(url, `/tx/status?tx_hash=${hash}`), {
      status: 'queued',
      txHash: hash,
      submittedAt: String,
      attempts: 0,
    })
    t.same(await read(url, `/tx/status?tx_hash=${'ab'.repeat(32)}`), {
      txHash: 'ab'.repeat(32),
      status: 'unknown',
    })
    t.notOk('txHash' in (await read(url, `/submission?id=${garbage}`)), 'what is no transaction has no hash')

    const seen = new Set<string>()
    await runNode(t, { ...place, NODE_ROLE: 'tx-processor' })
    await until(async () => {
      seen.add(await status(missing))
      return seen.has('rejected')
    })
    seen.delete('queued')
    t.same([...seen], ['validating', 'rejected'])
    const { rejection } = await read(url, `/submission?id=${missing}`)
    t.match(rejection, { attempts: 3, count: 1, submittedAt: String, rejectedAt: String })
    t.equal(rejection.code, rejection.failures[0].predicate)
    t.ok(rejection.failures.some(({ predicate }: { predicate: string }) => predicate === 'BadInputsUTxO'))
    await until(async () => (await status(garbage)) === 'rejected')
    await until(async () => (await status(second)) === 'mempool')

    const lease = await store.leases.acquire('sequencer', 'a test', 3_600_000)
    if (lease === undefined) throw new Error('The lease is held')
    const everywhere = async (expected: object) => {
      for (const path of [
        `/tx/status?tx_hash=${hash}`,
        `/submission?id=${first}`,
        `/submission?id=${second}`,
      ]) {
        t.match(await read(url, path), { txHash: hash, acceptedAt: String, ...expected }, path)
      }
    }
    await everywhere({ status: 'mempool', block: undefined })
    const one = await buildBlock(store, lease, 1)
    const block = {
      height: 1,
      headerHash: '01'.repeat(28),
      position: 0,
      commitTxHash: '01'.repeat(32),
      endTime: '2026-01-01T00:00:00.000Z',
      maturesAt: new Date(1_767_225_600_000 + settings.MATURITY_WINDOW_MS).toISOString(),
    }
    for (const state of ['built', 'submitted', 'committed', 'mature'] as const) {
      await store.blocks.setState([one.headerHash], state, lease)
      await everywhere({ status: state, block })
    }
    await store.blocks.setState([one.headerHash], 'submitted', lease)
    await everywhere({ status: 'submitted', block })
    await store.blocks.returnToMempool(1n, lease)
    await everywhere({ status: 'mempool', block: undefined })
    await buildBlock(store, lease, 2)
    await store.blocks.undo(1n, lease)
    for (const path of [`/tx/status?tx_hash=${hash}`, `/submission?id=${first}`]) {
      const answer = await read(url, path)
      t.match(answer, { status: 'removed', removal: { height: 1, headerHash: '02'.repeat(28) } }, path)
    }
    const again = await send(url, cborHex)
    await until(async () => (await status(again)) === 'mempool')
    const three = await buildBlock(store, lease, 3)
    await store.blocks.setMergeTransaction(
      three.headerHash,
      { id: new Uint8Array(32).fill(9), cbor: Uint8Array.of(9) },
      lease,
    )
    await store.blocks.setState([three.headerHash], 'merged', lease)
    await everywhere({ status: 'merged', block: { mergeTxHash: '09'.repeat(32) } })

    const told = () => events.events.map(({ type, data }) => (type === 'block' ? data.state : type))
    await until(() => told().at(-1) === 'merged')
    t.same(
      told().filter((name) => name !== 'rejected'),
      [
        ...['accepted', 'built', 'submitted', 'committed', 'mature', 'submitted', 'removed'],
        ...['built', 'removed', 'accepted', 'built', 'merged'],
      ],
      'the stream tells the same',
    )
    const rejected = events.events.filter(({ type }) => type === 'rejected').map(({ data }) => data.id)
    t.same(rejected.sort(), [garbage, missing].sort())
    t.ok(events.events.every(({ type, data }) => type !== 'accepted' || data.txHash === hash))
  })
}

t.test('a node tells of a transaction until its block is merged', async (t: Test) => {
  const place = { ...(await anyPlacement(t)), MATURITY_WINDOW_MS: '500', MERGE_INTERVAL_MS: '500' }
  const { url } = await runNode(t, place)
  const { transfer } = await transferFrom(5, 0)
  const events = readEvents(() => `${url}/events?tx_hash=${transfer.hash}&after=0.0.0`)
  t.teardown(() => events.close())
  const id = await send(url, transfer.cborHex)
  const order = ['queued', 'validating', 'mempool', 'built', 'submitted', 'committed', 'mature', 'merged']
  const seen: string[] = []
  await until(
    async () => {
      const { status } = await read(url, `/submission?id=${id}`)
      if (seen.at(-1) !== status) seen.push(status)
      return status === 'merged'
    },
    { what: 'the block is merged' },
  )
  t.same(
    seen.map((status) => order.indexOf(status)),
    seen.map((status) => order.indexOf(status)).sort((a, b) => a - b),
    `never back: ${seen}`,
  )
  await until(() => events.events.at(-1)?.data.state === 'merged')
  t.same(
    events.events.map(({ type, data }) => data.state ?? type),
    ['accepted', 'built', 'submitted', 'committed', 'mature', 'merged'],
  )
})

t.test('SERVE_TX_STATUS, SERVE_EVENTS and SERVE_EXPLORER=false answer the uniform 404', async (t) => {
  const { url } = await runNode(t, {
    ...(await anyPlacement(t)),
    SERVE_TX_STATUS: 'false',
    SERVE_EVENTS: 'false',
    SERVE_EXPLORER: 'false',
  })
  const status = `/tx/status?tx_hash=${'ab'.repeat(32)}`
  // The console needs the explorer.
  for (const path of [status, '/submission?id=1', '/events', '/explorer/overview', '/console']) {
    t.match(await ask(url + path), { status: 404, body: '{"error":"Not Found","code":"DISABLED"}' })
  }
})
