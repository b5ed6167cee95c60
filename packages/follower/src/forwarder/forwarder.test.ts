import { text } from 'node:stream/consumers'
import { acceptedOf, breakableProxy, chain, type SignedTransaction, signed } from '@ratatosk/test-kit'
import { until } from '@ratatosk/test-kit/http'
import { expect, test } from 'vitest'
import { forward, funds, lovelace, openNode, serveRaw, user } from './test/nodes.js'

const chains = (count: number, length: number, from = 0): SignedTransaction[] =>
  funds.slice(from, from + count).flatMap(({ reference }) => chain(user, reference, lovelace, length))

test('a ring of nodes brings a transaction to all, and ends where it began', async (context) => {
  const nodes = await Promise.all([0, 1, 2].map(() => openNode(context)))
  const forwarders = nodes.map((node, n) => forward(node, [nodes[(n + 1) % 3]!.url]))
  const sent = chains(1, 3)
  await nodes[0]!.accept(sent)
  await until(async () => (await nodes[2]!.count(sent)) === 3)
  await until(() => forwarders[2]!.counts().known >= 3)
  expect(forwarders[2]!.counts().delivered).toBe(0)
  expect(nodes[0]!.asked.submit).toBe(0)
})

test('a long chain arrives, whatever order its requests take', async (context) => {
  const [own, other] = await Promise.all([0, 1].map(() => openNode(context)))
  const { counts } = forward(own!, [other!.url])
  const sent = chains(1, 400)
  await own!.accept(sent)
  await until(async () => (await other!.count(sent)) === sent.length)
  await until(() => counts().delivered >= sent.length)
})

test('pages follow at once, also when their bytes fill them', async (context) => {
  const { store } = await openNode(context)
  // Larger than validation accepts.
  const outputs = Array.from({ length: 320 }, () => lovelace / 320n)
  const sent = funds.map(({ reference }) => signed(user, { inputs: [reference], outputs }))
  expect(sent.reduce((sum, { cbor }) => sum + cbor.length, 0)).toBeGreaterThan(1_048_576)
  const transactions = sent.map(({ cbor }) => acceptedOf(cbor))
  await store.withLedger((ledger) => ledger.apply({ transactions }))
  const peer = await serveRaw((request, response) => {
    request.resume()
    response.end('{"status":"unknown"}')
  })
  const { counts } = forward({ store }, [peer], { pollMs: 3_600_000 })
  await until(() => counts().delivered === sent.length)
})

test('a peer has them in order of acceptance, and after a failure from the oldest on', async (context) => {
  const own = await openNode(context)
  const sent = chains(2, 10)
  await own.accept(sent)
  await until(async () => (await own.count(sent)) === sent.length)
  const accepted = (await own.store.blocks.oldest(100)).map(({ cbor }) => Buffer.from(cbor).toString('hex'))
  const taken: number[] = []
  let failures = 0
  const peer = await serveRaw(async (request, response) => {
    const body = await text(request)
    if (body !== '' && failures++ < 3) response.writeHead(500)
    else if (body !== '') taken.push(accepted.indexOf(body))
    response.end('{"status":"unknown"}')
  })
  forward(own, [peer], { concurrency: 1, repeatMs: 3_600_000 })
  await until(() => taken.length === sent.length)
  const [first, ...rest] = taken
  expect(first, 'three have failed').toBe(3)
  expect(rest).toEqual(accepted.map((_, place) => place).filter((place) => place !== 3))
})

test('an unreachable peer does not delay another, and has everything once it is there', async (context) => {
  const [own, other, late] = await Promise.all([0, 1, 2].map(() => openNode(context)))
  const proxy = await breakableProxy(late!.url)
  context.onTestFinished(() => proxy.close())
  const { counts, warnings } = forward(own!, [proxy.url, other!.url])
  const sent = chains(20, 10)
  await proxy.break()
  await own!.accept(sent)
  await until(async () => (await other!.count(sent)) === sent.length)
  await until(() => counts().failed > 150)
  expect(warnings).toEqual([
    expect.objectContaining({
      peer: proxy.url.replace(/\/$/, ''),
      reason: expect.stringContaining('ECONNREFUSED'),
      message: expect.stringContaining('Peer takes no transactions'),
    }),
  ])
  expect(await late!.count(sent)).toBe(0)
  await proxy.mend()
  // Rounds take a tenth of the time: on a busy machine, the next one may begin after two minutes.
  await until(async () => (await late!.count(sent)) === sent.length, { timeoutMs: 270_000 })
})

test('nothing is sent while it is not needed; then all of it', async (context) => {
  const [own, other] = await Promise.all([0, 1].map(() => openNode(context)))
  let asked = 0
  let isNeeded = false
  forward(own!, [other!.url], {
    isNeeded: () => {
      asked++
      return isNeeded
    },
  })
  const sent = chains(3, 2)
  await own!.accept(sent)
  await until(async () => (await own!.count(sent)) === 6)
  const before = asked
  await until(() => asked > before + 20)
  expect(other!.asked).toEqual({ submit: 0, status: 0 })
  isNeeded = true
  await until(async () => (await other!.count(sent)) === 6)
})

test('a peer that forgets has it again, until it is in a block or dropped', async (context) => {
  const own = await openNode(context)
  const deliveries = new Map<string, number>()
  const forgetful = await serveRaw(async (request, response) => {
    const body = await text(request)
    if (body !== '') deliveries.set(body, (deliveries.get(body) ?? 0) + 1)
    response.end('{"status":"unknown"}')
  })
  forward(own, [forgetful])
  const sent = chains(2, 1)
  const times = ({ cbor }: SignedTransaction) => deliveries.get(Buffer.from(cbor).toString('hex')) ?? 0
  await own.accept(sent)
  await until(() => sent.every((each) => times(each) >= 4))

  const lease = (await own.store.leases.acquire('sequencer', 'a test', 3_600_000))!
  const [first, second] = await own.store.blocks.oldest(2)
  const bytes = (length: number) => new Uint8Array(length).fill(7)
  await own.store.blocks.build(
    {
      headerHash: bytes(28),
      header: bytes(1),
      previousHeaderHash: new Uint8Array(28),
      utxosRoot: bytes(32),
      startTime: 0n,
      endTime: 1n,
      firstSequence: first!.sequence,
      lastSequence: first!.sequence,
      transactions: 1,
      commitTransaction: { id: bytes(32), cbor: bytes(1) },
    },
    lease,
  )
  const reason = { code: 'OutsideValidityIntervalUTxO', message: 'Too late.', details: {} }
  await own.store.blocks.drop(
    new Map([[Buffer.from(second!.id).toString('hex'), reason]]),
    () => undefined,
    lease,
  )
  // A third one shows that the forwarder goes on; what began before the block and the drop may end meanwhile.
  const [third] = chains(1, 1, 2)
  await own.accept([third!])
  await until(() => times(third!) >= 1)
  const before = sent.map(times)
  await until(() => times(third!) >= 5)
  expect(sent.map(times)).toEqual(before)
})
