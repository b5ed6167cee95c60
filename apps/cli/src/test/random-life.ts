import { setTimeout as sleep } from 'node:timers/promises'
import {
  createClient,
  NetworkError,
  RejectedError,
  RemovedError,
  ServerError,
  StatusError,
  TimeoutError,
} from '@ratatosk/client'
import { freePort, generator, pick } from '@ratatosk/test-kit'
import { until } from '@ratatosk/test-kit/http'
import type { TestContext } from 'vitest'
import { genesisWith } from '../demo/fraud.js'
import { anyPlace, type StartedNode, startedNode, type TestLayer1, testLayer1 } from './nodes.js'
import { run } from './run.js'
import { openUsers } from './users.js'

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

/** Layer-1 blocks that a roll-back never reaches, because they deploy the contracts. */
const settledBlocks = 40

/** An operation waits for the sequencer and for layer 1. */
const patient = { timeoutMs: 300_000 }

/** Random life on the nodes of operators: users who pay, and disasters. */
export interface RandomLife {
  /** How often each thing has happened. */
  readonly counts: Readonly<Record<string, number>>
  /** Ids that a node has accepted, by its place. */
  readonly accepted: readonly (readonly string[])[]
  count(what: string): void
  /** A transaction or a few, of kinds that each occur in the first four calls. */
  act(): Promise<void>
  /** A kill, a roll-back or a removal, each of them in turn at first, then by chance. */
  strike(): Promise<void>
  /** Whether each kind of transaction and disaster has happened. */
  readonly isFull: boolean
  /** Runs work with a node that is not killed meanwhile. Calls take turns. */
  spare(place: number, work: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

export async function openLife({ nodes, layer1 }: Operators, seed: number): Promise<RandomLife> {
  const random = generator(seed)
  const below = (limit: number): number => Math.floor(random() * limit)
  const { users, close } = await openUsers(() => nodes[0]!.connect())
  const deployedAt = layer1.devnet.tip().height
  const accepted: string[][] = nodes.map(() => [])
  const counts: Record<string, number> = {}
  const count = (what: string): void => {
    counts[what] = (counts[what] ?? 0) + 1
  }
  /** Places of the nodes that must not be killed, and of the one that is being killed. */
  let [spared, killed] = [-1, -1]

  type Connected = ReturnType<(typeof nodes)[number]['connect']>
  type User = (typeof users)[number]

  /** A user does something at the node of the user, or now and then at another one, whose ledger differs. */
  async function by(what: string, action: (user: User, client: Connected) => Promise<string>): Promise<void> {
    const number = below(users.length)
    const place = (number + (below(8) === 0 ? 1 : 0)) % nodes.length
    try {
      accepted[place]!.push(await action(users[number]!, nodes[place]!.connect()))
      count(what)
    } catch (error) {
      // It may have spent what a removal took away, or what another operator has spent.
      if (error instanceof RejectedError || error instanceof RemovedError) count('refused payments')
      // The node was killed, or does not take more.
      else if ([NetworkError, TimeoutError, ServerError].some((kind) => error instanceof kind))
        count('unanswered payments')
      else throw error
    }
  }

  const acts = {
    async transfers() {
      const pay = (): Promise<void> =>
        by('transfers', (user, client) => user.pay(pick(random, users).address, 2_000_000n, client))
      await Promise.all(Array.from({ length: 1 + below(3) }, pay))
    },
    mint: () => by('mints', (user, client) => user.mint(BigInt(1 + below(1000)), below(2) === 0, client)),
    useScript: () => by('scripts', (user, client) => user.useScript(client)),
  }

  const disasters = {
    async kill() {
      const free = nodes.map((_, place) => place).filter((place) => place !== spared)
      killed = pick(random, free)
      await nodes[killed]!.kill()
      killed = -1
      count('kills')
    },
    async rollBack() {
      if (layer1.devnet.tip().height - deployedAt < settledBlocks) return
      await layer1.devnet.rollBack(1 + below(10), { resubmit: below(2) === 0 })
      count('roll-backs')
    },
    async remove() {
      const client = pick(random, nodes).connect()
      try {
        if ((await client.getStateQueue()).headers.length === 0) await client.commit(patient)
        const { headers } = await client.getStateQueue()
        if (headers.length === 0) return
        await client.remove({ header_hash: pick(random, headers) }, patient)
        count('removals')
      } catch (error) {
        // It is merged meanwhile, it is not the operator's turn, or another operation is in progress.
        if (!(error instanceof StatusError)) throw error
        count('refused removals')
      }
    },
  }

  const order = ['transfers', 'mint', 'useScript', 'useScript'] as const
  const struck = ['remove', 'kill', 'rollBack'] as const
  let [actsDone, strikesDone] = [0, 0]
  return {
    counts,
    accepted,
    count,
    act: () => acts[order[actsDone++] ?? pick(random, ['transfers', 'transfers', 'mint', 'useScript'])](),
    strike: () => disasters[struck[strikesDone++] ?? pick(random, struck)](),
    get isFull() {
      return ['transfers', 'mints', 'scripts', 'kills', 'roll-backs', 'removals'].every(
        (what) => (counts[what] ?? 0) > 0,
      )
    },
    async spare(place, work) {
      spared = place
      while (killed === place) await sleep(50)
      await work()
      spared = -1
    },
    close,
  }
}
