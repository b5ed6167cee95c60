import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@ratatosk/client'
import { expect, type TestContext, test } from 'vitest'
import { acceptedBy, nodeSource } from './node/index.js'
import { honest, honestNode, idsOf, nodeOf, openScene } from './test/scene.js'

const away = async () => Promise.reject(new Error('it is unavailable'))

test('a node that does not answer is named once, and the chain is audited', async (context) => {
  const { audit: run, chain } = await openScene(context)
  for (let block = 0; block < 30; block++) await chain.commit(1)
  let asked = 0
  const silent = async () => {
    asked++
    return away()
  }
  const node = { ...nodeOf(chain, idsOf), queue: silent, transactionsOf: silent, placesOf: silent }
  const report = await run({ node, readings: 10, accepted: chain.blocks.flatMap(idsOf) })
  expect(report).toMatchObject({ verdict: 'incomplete', findings: [], counts: { blocks: 30, waiting: 0 } })
  expect(report.unchecked).toEqual([
    {
      what: expect.stringMatching(/, and the blocks 1-30 as the node shows them$/),
      why: 'it is unavailable',
    },
  ])
  expect(asked).toBe(3)
})

test('a node that answers again is compared from the first block on', async (context) => {
  const scene = await honest(context)
  const node = honestNode(scene)
  const lying = nodeOf(scene.chain, (block) => (block.height === 2n ? [] : idsOf(block)))
  const failingAtFirst = (transactionsOf: typeof node.transactionsOf) => {
    let failures = 1
    return {
      ...node,
      transactionsOf: (hash: string, signal: AbortSignal) =>
        failures-- > 0 ? away() : transactionsOf(hash, signal),
    }
  }
  const audited = (each: typeof node) =>
    scene.audit({ node: failingAtFirst(each.transactionsOf), readings: 3 })
  expect(await audited(node)).toMatchObject({ verdict: 'clean', unchecked: [] })
  expect(await audited(lying)).toMatchObject({ findings: [{ kind: 'node-block', block: { height: 2 } }] })
})

test('what was found of a node stays found if it then falls silent', async (context) => {
  const scene = await honest(context)
  const node = { ...honestNode(scene), queue: async () => [], transactionsOf: away }
  const report = await scene.audit({ node })
  expect(report).toMatchObject({ verdict: 'defective', findings: [{ kind: 'node-queue' }] })
  expect(report.unchecked).toHaveLength(1)
})

test('a node that does not say where accepted transactions are is soon not asked', async (context) => {
  const scene = await honest(context)
  let asked = 0
  const placesOf = async () => {
    asked++
    return away()
  }
  const accepted = Array.from({ length: 1000 }, (_, index) => index.toString(16).padStart(64, '0'))
  const report = await scene.audit({ node: { ...honestNode(scene), placesOf }, accepted, readings: 10 })
  expect(report.verdict).toBe('incomplete')
  expect(asked).toBeLessThan(50)
})

test('what comes into blocks while a node lists its outputs is not asked for', async (context) => {
  const scene = await honest(context)
  const node = honestNode(scene)
  let asked = 0
  let isMoving = true
  const report = await scene.audit({
    node: {
      ...node,
      async *unspentOutputs(derived, signal) {
        if (isMoving) await scene.chain.commit(3)
        isMoving = false
        yield* node.unspentOutputs(derived, signal)
      },
      transaction: async (id, signal) => {
        asked++
        return node.transaction(id, signal)
      },
    },
  })
  expect(report).toMatchObject({ verdict: 'clean', counts: { blocks: 5 } })
  expect(asked).toBe(0)
})

test('blocks that are not judged are named', async (context) => {
  const { audit: run, chain } = await openScene(context)
  for (let block = 0; block < 5; block++) await chain.commit(1)
  let judged = 0
  const judge = async () => {
    if (++judged < 3) return undefined
    throw new Error('no evaluator')
  }
  expect(await run({ judge })).toMatchObject({
    verdict: 'incomplete',
    counts: { blocks: 2 },
    unchecked: [{ what: 'The rules of a block', why: 'no evaluator' }, { what: 'Blocks 3 to 5' }],
  })
})

type Answer = (response: ServerResponse) => void

const json =
  (value: unknown): Answer =>
  (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))

/** Writes a piece whenever the last one has gone, at least a while later. */
const stream =
  (piece: string, pauseMs: number): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const more = () => {
      if (response.destroyed) return
      if (response.write(piece)) setTimeout(more, pauseMs)
      else response.once('drain', () => setTimeout(more, pauseMs))
    }
    more()
  }

const text = '\u001b[2J\u202eforged\u0007'
const answers: Readonly<Record<string, Answer>> = {
  null: json(null),
  'a list': json([]),
  texts: json({ headers: text, hashes: [text], statuses: {}, utxos: text, tx: 1 }),
  'hostile items': json({ headers: [text], hashes: [null], statuses: [text, null], utxos: [null] }),
  nested: (response) => response.writeHead(200).end('['.repeat(5_000_000)),
  nothing: () => undefined,
  'an endless text': stream(`"${'a'.repeat(65_536)}`, 0),
  drops: stream(' ', 20),
  'an upgrade': (response) => response.writeHead(101, { connection: 'upgrade', upgrade: 'x' }).end(),
}

async function serve(context: TestContext, answer: Answer): Promise<string> {
  const server = createServer((_, response) => answer(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test.for(Object.keys(answers))(
  'a node that answers %s is unchecked, and the chain is clean',
  async (name, context) => {
    const scene = await honest(context)
    const url = await serve(context, answers[name]!)
    const client = createClient(url, { timeoutMs: 500, retries: 0 })
    const node = nodeSource(client, url, { stallMs: 500 })
    const report = await scene.audit({ node, accepted: acceptedBy(client), readings: 10 })
    expect(report).toMatchObject({ verdict: 'incomplete', findings: [], counts: { blocks: 5 } })
    const shown = report.unchecked.map(({ what, why }) => `${what}: ${why}`)
    expect(shown).toHaveLength(2)
    expect(shown.join('\n')).not.toMatch(/cannot read properties|undefined|is not iterable|forged/i)
  },
)

test.for([
  ['nothing', 'it sent nothing in 200 ms'],
  ['drops', 'its list takes more than 600 ms'],
] as const)('a list of outputs of %s is left', async ([name, why], context) => {
  const scene = await honest(context)
  const url = await serve(context, answers[name]!)
  const list = nodeSource(createClient(url), url, { stallMs: 200, timeoutMs: 600 })
  const report = await scene.audit({ node: { ...honestNode(scene), unspentOutputs: list.unspentOutputs } })
  expect(report.unchecked).toEqual([{ what: 'The unspent outputs of the node', why }])
})
