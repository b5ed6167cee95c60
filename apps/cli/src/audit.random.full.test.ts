import { audit } from '@ratatosk/audit'
import { nodeSource } from '@ratatosk/audit/node'
import { createClient, StatusError } from '@ratatosk/client'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { databaseUrl, inDatabase, randomName } from '@ratatosk/test-kit'
import { until } from '@ratatosk/test-kit/http'
import { needServices } from '@ratatosk/test-kit/vitest'
import { expect, type TestContext, test } from 'vitest'
import { judgeWith } from './deployment/judge.js'
import { readDeployment } from './deployment/read-deployment.js'
import { testLayer1 } from './test/layer1.js'
import { run } from './test/run.js'
import { startedNode } from './test/started-node.js'
import { isRejected, openUsers } from './test/users.js'

const seconds = Number(process.env.RATATOSK_AUDIT_SECONDS ?? 5)
const seed = Number(process.env.RATATOSK_AUDIT_SEED ?? 1)

/** A commitment that a roll-back takes away is given up after its validity. */
const quick = { MERGE_INTERVAL_MS: '500', BLOCK_VALIDITY_MS: '3000' }

/** Layer-1 blocks that a roll-back never reaches, because they deploy the contracts. */
const settledBlocks = 40

/** A node of the command on a layer 1 of the test, with a database of its own. */
async function openNode(context: TestContext) {
  const layer1 = await testLayer1()
  context.onTestFinished(() => layer1.close())
  const schema = randomName()
  context.onTestFinished(() =>
    inDatabase(
      ['', '_queue', '_index'].map((part) => `DROP SCHEMA IF EXISTS ${schema}${part} CASCADE`).join(';'),
    ),
  )
  const settings = { ...layer1.settings, MATURITY_WINDOW_MS: '2000', ...quick }
  let node = await startedNode({ ...settings, DATABASE_SCHEMA: schema }, { DATABASE_URL: databaseUrl })
  context.onTestFinished(async () => void (await node.stop()))
  const ready = () =>
    until(async () => (await run(['status', '--url', node.url])).out.includes('state queue     ok'), {
      what: 'the node is ready',
    })
  await ready()
  return {
    layer1,
    settings,
    connect: () => createClient(node.url, { operatorToken: 'an operator' }),
    url: () => node.url,
    async kill() {
      node = await node.killed()
      await ready()
    },
  }
}

/** The same numbers from the same seed: from 0 to less than `below`. */
function randomNumbers(from: number): (below: number) => number {
  let state = (from * 2_654_435_761) % 2_147_483_647
  return (below) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

test(`the audit is clean after every step of ${seconds} random seconds`, {
  timeout: 240_000 + seconds * 3000,
}, async (context) => {
  await needServices(context)
  const node = await openNode(context)
  const { layer1, settings, connect } = node
  const { users, close } = await openUsers(connect)
  context.onTestFinished(close)
  const deployedAt = layer1.devnet.tip().height
  const random = randomNumbers(seed)
  const userAt = (index: number) => users[index % users.length]!
  const accepted: string[] = []
  const counts: Record<string, number> = {}
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1
  }

  async function accept(what: string, sent: Promise<string>): Promise<void> {
    try {
      accepted.push(await sent)
      count(what)
    } catch (error) {
      // It may have spent what a removal took away.
      if (!isRejected(error)) throw error
      count('rejected')
    }
  }

  const steps = {
    async transfers() {
      const first = random(users.length)
      await Promise.all(
        Array.from({ length: 1 + random(3) }, (_, n) =>
          accept('transfers', userAt(first + n).pay(userAt(random(99)).address, 2_000_000n)),
        ),
      )
    },
    async mint() {
      const quantity = BigInt(1 + random(1000))
      await accept('mints', userAt(random(users.length)).mint(quantity, random(2) === 0))
    },
    async kill() {
      await node.kill()
      count('kills')
    },
    async rollBack() {
      const depth = 1 + random(10)
      if (layer1.devnet.tip().height - deployedAt < settledBlocks) return
      await layer1.devnet.rollBack(depth, { resubmit: random(2) === 0 })
      count('roll-backs')
    },
    async remove() {
      try {
        if ((await connect().getStateQueue()).headers.length === 0) await connect().commit()
        const { headers } = await connect().getStateQueue()
        const header_hash = headers[random(Math.max(1, headers.length))]
        if (header_hash === undefined) return
        await connect().remove({ header_hash })
        count('removals')
      } catch (error) {
        // It is merged meanwhile, or another operation is in progress.
        if (!(error instanceof StatusError)) throw error
        count('refused removals')
      }
    },
  }

  const evaluator = createEvaluator()
  context.onTestFinished(() => evaluator.close())
  const shell = { environment: settings, write: () => undefined, writeError: () => undefined }
  async function expectClean(after: string): Promise<void> {
    const named = { archivist: `${node.url()}/archivist` }
    const { readQueue, archivist, genesis, rules } = await readDeployment(named, shell)
    const judge = judgeWith({ ...rules, evaluator })
    const report = await audit({
      layer1: { read: readQueue },
      archivist,
      genesis,
      judge,
      node: nodeSource(connect(), node.url()),
      accepted,
      readings: 150,
      settleMs: 200,
    })
    const story = JSON.stringify({ after, seed, counts, report }, (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    expect(report.verdict, story).toBe('clean')
    count('audits')
  }

  // Each kind of step once, then what the seed draws, then what has not happened, such as a refused removal.
  const first = ['transfers', 'mint', 'remove', 'kill', 'mint', 'rollBack'] as const
  const drawn = ['transfers', 'transfers', 'mint', 'mint', 'kill', 'rollBack', 'remove'] as const
  const end = performance.now() + seconds * 1000
  const next = (step: number): keyof typeof steps | undefined => {
    if (step < first.length) return first[step]
    if (performance.now() < end) return drawn[random(drawn.length)]
    return counts.removals === undefined
      ? 'remove'
      : counts['roll-backs'] === undefined
        ? 'rollBack'
        : undefined
  }
  for (let step = 0, name = next(0); name !== undefined; name = next(++step)) {
    await steps[name]()
    await expectClean(`step ${step}, ${name}`)
  }
  if (seconds > 60) console.log(JSON.stringify({ seed, counts }))
  expect(counts, JSON.stringify(counts)).toMatchObject({
    transfers: expect.any(Number),
    mints: expect.any(Number),
    kills: expect.any(Number),
  })

  // The last step may have taken every block away, and the node may have merged all of them since.
  await until(
    async () => {
      const { headers } = await connect().getStateQueue()
      if (headers.length > 0) return true
      await steps.transfers()
      return false
    },
    { what: 'layer 1 has a block again' },
  )
  await until(
    async () =>
      (await connect().getTransactionStatus({ tx_hash: accepted[0]! })).block?.commitTxHash !== undefined,
    { what: 'the first transaction is on layer 1' },
  )
  const environment = { ...settings, ARCHIVIST_PEERS: `${node.url()}/archivist` }
  const json = await run(['audit', '--url', node.url(), '--json'], environment)
  expect(json).toMatchObject({ status: 0, error: '' })
  expect(JSON.parse(json.out)).toMatchObject({ verdict: 'clean', findings: [], unchecked: [] })
  const verified = await run(['verify', '1'], environment)
  expect(verified).toMatchObject({ status: 0, error: '' })
  expect(verified.out).toMatch(/^block 1 \([0-9a-f]{56}\): valid\n\d+ transactions; .* on layer 1\n/)
})
