import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { audit } from '@ratatosk/audit'
import { nodeSource } from '@ratatosk/audit/node'
import { NotFoundError } from '@ratatosk/client'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { until } from '@ratatosk/test-kit/http'
import { needServices } from '@ratatosk/test-kit/vitest'
import { expect, type TestContext, test } from 'vitest'
import { judgeWith } from './commands/audit.js'
import { readDeployment } from './deployment/read-deployment.js'
import {
  type OperatorNode,
  type Operators,
  openLife,
  openOperators,
  type RandomLife,
} from './test/random-life.js'
import { run } from './test/run.js'

const seconds = Number(process.env.RATATOSK_AUDIT_SECONDS ?? 5)
const seed = Number(process.env.RATATOSK_AUDIT_SEED ?? 1)

/** An audit while the ledgers of all nodes move. */
async function openAudits(context: TestContext, { nodes, settings }: Operators, life: RandomLife) {
  const evaluator = createEvaluator()
  context.onTestFinished(() => evaluator.close())
  const shell = { environment: settings, write: () => undefined, writeError: () => undefined }
  return async (place: number): Promise<void> => {
    const { url, archivist, connect } = nodes[place]!
    const {
      readQueueAndBridge,
      archivist: blocks,
      genesis,
      rules,
    } = await readDeployment({ archivist }, shell)
    const report = await audit({
      layer1: { read: readQueueAndBridge },
      archivist: blocks,
      genesis,
      bridge: rules.bridge,
      judge: judgeWith({ ...rules, evaluator }),
      node: nodeSource(connect(), url),
      accepted: [...life.accepted[place]!],
      readings: 150,
      settleMs: 200,
    })
    const story = JSON.stringify({ url, seed, counts: life.counts, report }, (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    expect(report.verdict, story).toBe('clean')
    life.count('audits')
  }
}

/** How many blocks of a chain each operator has made, without those that go meanwhile. */
async function makersOf({ connect }: OperatorNode): Promise<Readonly<Record<string, number>>> {
  const makers: Record<string, number> = {}
  const { blocks: newest } = await connect().listBlocks({ limit: 1 })
  for (let height = newest[0]?.height ?? 0; height > 0; height--) {
    const archived = await connect()
      .getArchivedHeader({ id: String(height) })
      .catch(undefinedIfGone)
    const maker = archived?.header.operator_vkey
    if (maker !== undefined) makers[maker] = (makers[maker] ?? 0) + 1
  }
  return makers
}

function undefinedIfGone(error: unknown): undefined {
  if (!(error instanceof NotFoundError)) throw error
}

/** Waits until everything that was accepted is merged or refused for good, on the node that accepted it. */
async function rest({ nodes }: Operators, { accepted }: RandomLife): Promise<readonly string[]> {
  const merged = new Set<string>()
  const open = accepted.flatMap((ids, place) => ids.map((id) => [nodes[place]!, id] as const))
  await until(
    async () => {
      for (const [place, [node, id]] of [...open.entries()].reverse()) {
        const { status } = await node.connect().getTransactionStatus({ tx_hash: id })
        if (status === 'merged') merged.add(id)
        if (status === 'merged' || status === 'rejected') open.splice(place, 1)
      }
      const queues = await Promise.all(nodes.map(({ connect }) => connect().getStateQueue()))
      return open.length === 0 && queues.every(({ headers }) => headers.length === 0)
    },
    { what: 'everything is merged', timeoutMs: 240_000 },
  )
  return [...merged]
}

test(`audits are clean in ${seconds} random seconds of three operators`, {
  timeout: 900_000 + seconds * 3000,
}, async (context) => {
  await needServices(context)
  const operators = await openOperators(context)
  const { nodes, settings } = operators
  const life = await openLife(operators, seed)
  context.onTestFinished(() => life.close())
  const auditNode = await openAudits(context, operators, life)

  const end = performance.now() + seconds * 1000
  let isAlive = true
  const goOn = async (step: () => Promise<void>): Promise<void> => {
    try {
      while (isAlive) await step()
    } catch (error) {
      isAlive = false
      throw error
    }
  }
  let audited = 0
  await Promise.all([
    goOn(() => life.act()),
    goOn(async () => {
      await sleep(1000)
      await life.strike()
      if (performance.now() < end || !life.isFull) return
      if (Object.keys(await makersOf(nodes[0]!)).length === nodes.length) isAlive = false
    }),
    goOn(() => {
      const place = audited++ % nodes.length
      return life.spare(place, () => auditNode(place))
    }),
  ])

  const merged = await rest(operators, life)
  const makers = Object.values(await makersOf(nodes[0]!))
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-cli-'))
  context.onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'accepted')
  for (const [place, { url, archivist }] of nodes.entries()) {
    await writeFile(file, [...life.accepted[place]!, ...merged].join('\n'))
    const environment = { ...settings, ARCHIVIST_PEERS: archivist }
    const json = await run(['audit', '--url', url, '--accepted', file, '--json'], environment)
    expect(json).toMatchObject({ status: 0, error: '' })
    expect(JSON.parse(json.out)).toMatchObject({ verdict: 'clean', findings: [], unchecked: [] })
    const verified = await run(['verify', '1'], environment)
    expect(verified).toMatchObject({ status: 0, error: '' })
    expect(verified.out).toMatch(/^block 1 \([0-9a-f]{56}\): valid\n\d+ transactions; .* on layer 1\n/)
  }
  if (seconds > 60) console.log(JSON.stringify({ seed, merged: merged.length, makers, counts: life.counts }))
})
