import { createClient } from '@ratatosk/client'
import { freePort } from '@ratatosk/test-kit'
import { until } from '@ratatosk/test-kit/http'
import type { TestContext } from 'vitest'
import { genesisWith } from '../demo/fraud/network.js'
import { anyPlace } from './any-place.js'
import { type TestLayer1, testLayer1 } from './layer1.js'
import { run } from './run.js'
import { type StartedNode, startedNode } from './started-node.js'

/** The node of an operator, with a database of its own. */
export interface OperatorNode {
  readonly url: string
  readonly archivist: string
  connect(): ReturnType<typeof createClient>
  /** Kills it, and starts another one in its place. */
  kill(): Promise<void>
}

/** Of the operators after the first, who is the devnet's. */
const phrases = [`${'abandon '.repeat(23)}art`, `${'zoo '.repeat(23)}vote`]

const turnMs = 10_000

/** Settings of the deployment, and waits that are short. A lost commitment is given up after its validity. */
const quick = {
  OPERATOR_TURN_MS: String(turnMs),
  TAKEOVER_AFTER_MS: String(turnMs / 4),
  MATURITY_WINDOW_MS: '2000',
  BLOCK_VALIDITY_MS: '3000',
  MERGE_INTERVAL_MS: '500',
  SEQUENCER_LEASE_MS: '2000',
}

/** Three operators on one layer 1, whose nodes know each other. */
export interface Operators {
  readonly nodes: readonly OperatorNode[]
  readonly layer1: TestLayer1
  /** With which layer 1 and the rules are read. */
  readonly settings: Readonly<Record<string, string>>
}

export async function openOperators(context: TestContext): Promise<Operators> {
  const layer1 = await testLayer1({ genesis: genesisWith(phrases) })
  context.onTestFinished(() => layer1.close())
  const settings = { ...layer1.settings, ...quick }
  const ports = [await freePort(), await freePort(), await freePort()]
  const urls = ports.map((port) => `http://127.0.0.1:${port}`)
  const nodes: OperatorNode[] = []
  for (const [place, url] of urls.entries()) {
    const peers = urls.filter((each) => each !== url)
    const phrase = phrases[place - 1]
    const own = {
      ...settings,
      PORT: ports[place] ?? '',
      AUTO_INIT: 'false',
      ARCHIVIST_PEERS: peers.map((peer) => `${peer}/archivist`).join(','),
      OPERATOR_PEERS: peers.join(','),
    }
    const node = await openNode(
      context,
      url,
      own,
      phrase === undefined ? {} : { OPERATOR_SEED_PHRASE: phrase },
    )
    await node.connect().init()
    await isReady(url)
    nodes.push(node)
  }
  return { nodes, layer1, settings }
}

const isReady = (url: string) =>
  until(async () => (await run(['status', '--url', url])).out.includes('state queue     ok'), {
    timeoutMs: 120_000,
    what: 'the node is ready',
  })

async function openNode(
  context: TestContext,
  url: string,
  settings: Readonly<Record<string, string>>,
  secrets: Readonly<Record<string, string>>,
): Promise<OperatorNode> {
  const place = await anyPlace()
  context.onTestFinished(() => place.remove())
  let node: StartedNode = await startedNode(
    { ...settings, ...place.settings },
    { ...place.secrets, ...secrets },
  )
  context.onTestFinished(async () => void (await node.stop()))
  return {
    url,
    archivist: `${url}/archivist`,
    connect: () => createClient(url, { operatorToken: 'an-operator' }),
    async kill() {
      node = await node.killed()
      await isReady(url)
    },
  }
}
