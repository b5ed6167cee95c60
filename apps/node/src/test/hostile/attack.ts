import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { derive, encodedHeader, type Header, transactionsRoot } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { movedParts } from '@ratatosk/protocol/fraud'
import { until } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'
import {
  type Figures,
  longer,
  noTurn,
  type Turn,
} from '../../../../../packages/follower/dist/test/hostile/figures.js'
import {
  honestBody,
  lyingBody,
  randomOf,
  shapeNames,
  shareOf,
  transactionsOf,
} from '../../../../../packages/follower/dist/test/hostile/generated-bodies.js'
import { openHostilePeer } from '../../../../../packages/follower/dist/test/hostile/hostile-peer.js'
import { openCheats } from '../adversary/cheats.js'
import { anyPlacement } from '../backends.js'
import { besideNode, devnetServer } from '../forged-block.js'
import { initialised, submit } from '../node.js'
import { type NodeProcess, spawnNode } from '../node-process.js'
import { manyTransfers } from '../transfer.js'

/** A role that is attacked. */
interface Role {
  readonly name: string
  readonly settings: Readonly<Record<string, string>>
  /** Its last log line about a block that is not valid. */
  readonly ends: (headerHash: string) => RegExp
  /** How long that may take at most, in milliseconds: a watcher may have to ask, and cannot pay. */
  readonly patientMs?: number
}

/** The first begins the queue, and commits. The others get honest blocks from it. */
const roles: readonly Role[] = [
  {
    name: 'sequencer',
    settings: {},
    ends: (hash) => new RegExp(`block ${hash} of another operator, which is not valid`),
  },
  {
    name: 'archivist',
    settings: { NODE_ROLE: 'archivist' },
    ends: (hash) => new RegExp(`"headerHash":"${hash}".*"Invalid block"`),
  },
  {
    name: 'watcher',
    // It searches a proof and builds its transaction, but may not pay: the others need the block too.
    settings: { NODE_ROLE: 'watcher', WATCHER_MAX_LOVELACE_PER_HOUR: '1' },
    ends: (hash) => new RegExp(`"headerHash":"${hash}".*"(Found a fraud|An invalid block stays)`),
    patientMs: 180_000,
  },
]

/** The result of an attack on a role. */
interface Outcome {
  readonly name: string
  readonly bodies: number
  /** Lies for which it has blamed the peer. */
  readonly blamed: number
  readonly before: Figures
  readonly after: Figures
  readonly worst: AttackedNode['worst']
  /** The functions of long turns. */
  readonly long: readonly string[]
}

interface AttackOptions {
  /** The number of the first pair of bodies. */
  readonly from: number
  /** Each has a body that lies about a block, and then the body of the block. */
  readonly pairs: number
  readonly seed: number
}

const patientMs = 300_000
/** Pairs after which the sequencer commits a block of its own. */
const pairsPerPayment = 100

/** Attacks nodes of all roles on one layer 1, each with a heap of 512 MiB, by one peer. */
export async function attackNodes(t: Test, { from, pairs, seed }: AttackOptions): Promise<Outcome[]> {
  const peer = await openHostilePeer()
  t.teardown(() => peer.close())
  const generator = openGenerator(seed)
  t.teardown(() => generator.close())
  const layer1 = await devnetServer(t, { blockEveryMs: 400, securityParameter: 100_000 })
  const { genesisFile, transfers } = await manyTransfers(t, 2 + Math.floor(pairs / pairsPerPayment))
  const common = {
    ...layer1.settings,
    BLOCK_VALIDITY_MS: '8000',
    GENESIS_FILE: genesisFile,
    MATURITY_WINDOW_MS: '7200000',
    OPERATOR_BOND: '100000000',
    OPERATOR_TURN_MS: '30000',
    TAKEOVER_AFTER_MS: '8000',
  }
  const nodes: AttackedNode[] = []
  for (const { name, settings } of roles) {
    const honest = nodes[0] === undefined ? [] : [`${nodes[0].url}/archivist`]
    const ARCHIVIST_PEERS = [peer.urls(name), ...honest].join()
    const node = await spawnAttacked(t, name, {
      ...(await anyPlacement(t)),
      ...common,
      ...settings,
      ARCHIVIST_PEERS,
    })
    if (nodes.length === 0) await initialised(node.url)
    nodes.push(node)
  }
  const beside = await besideNode(t, layer1.devnet, { ...common, ARCHIVIST_PEERS: peer.url('none') })
  const cheats = openCheats(beside, [5])
  await cheats.register()
  let paid = 0
  /** Submits a payment, and waits until its block is archived. */
  async function pay(): Promise<void> {
    await submit(nodes[0]!.url, transfers[paid++]!.cborHex)
    for (const node of nodes.slice(1)) {
      const isArchived = () => (node.output().match(/"Archived blocks"/g) ?? []).length >= paid
      await until(isArchived, { what: `${node.name} archives ${paid}`, timeoutMs: patientMs })
    }
  }
  await pay()

  /** Has all of them take a lie about a block, and its body, and layer 1 lose it again. */
  async function attack({ bodies, transactionsRoot }: Pair): Promise<readonly number[]> {
    const { blocks, roots } = await beside.readQueue()
    const prevUtxosRoot = blocks.at(-1)?.datum.header.utxosRoot ?? roots[0]!.datum.state.utxoRoot
    const committed = { prevUtxosRoot, utxosRoot: new Uint8Array(32).fill(1), transactionsRoot }
    let [height, headerHash] = [0, '']
    const since = performance.now()
    const publish = (header: Header) => {
      headerHash = toHex(encodedHeader(header).hash)
      height = layer1.devnet.tip().height
      peer.serve({ headerHash, bodies })
    }
    await cheats.append(committed, publish, (reason) => t.comment(`Not appended: ${reason}`))
    const phases = await Promise.all([
      performance.now(),
      ...nodes.map(async (node, n) => {
        const { ends, patientMs: most } = roles[n]!
        const ended = node.logs(ends(headerHash), most ?? patientMs)
        await (most === undefined ? ended : ended.catch((error) => t.comment(String(error).slice(0, 200))))
        return performance.now()
      }),
    ])
    peer.serve(undefined)
    await layer1.devnet.rollBack(layer1.devnet.tip().height - height)
    return [...phases, performance.now()].map((at) => Math.round(at - since))
  }

  const before = await Promise.all(nodes.map((node) => node.figures(true)))
  for (const node of nodes) Object.assign(node.worst, { turn: { wall: 0, processor: 0 }, wall: 0 })
  const long = nodes.map((): string[] => [])
  let coming = generator.next(from)
  for (let pair = from; pair < from + pairs; pair++) {
    const given = await coming
    coming = generator.next(pair + 1)
    const phases = await attack(given)
    const figures = await Promise.all(nodes.map((node) => node.figures()))
    const told = figures.map(({ turn, held, rss, long: ran }, n) => {
      long[n]!.push(...ran)
      const [wall, processor, ...bytes] = [turn.wall, turn.processor, held / 1e6, rss / 1e6].map(Math.round)
      return `${nodes[n]!.name} ${wall}/${processor} ms, ${bytes.join('/')} MB ${ran.join('; ')}`
    })
    t.comment(`${given.title}, ${phases.join(' ')} ms: ${told.join(', ')}`)
    if ((pair + 1 - from) % pairsPerPayment === 0) await pay()
  }
  await coming
  await pay()
  await Promise.all(nodes.map((node) => node.figures(true)))
  // Another thread gives buffers back, a moment after a collection.
  await sleep(1000)
  const after = await Promise.all(nodes.map((node) => node.figures(true)))
  return nodes.map(({ name, worst, output }, n) => ({
    name,
    bodies: 2 * pairs,
    blamed: (output().match(/"Peer backed off"/g) ?? []).length,
    before: before[n]!,
    after: after[n]!,
    worst,
    long: long[n]!,
  }))
}

/** A node with a heap of 512 MiB that measures itself. */
interface AttackedNode extends NodeProcess {
  readonly name: string
  /** Waits until its log has a line. */
  logs(pattern: RegExp, timeoutMs: number): Promise<void>
  /** @param collects whether it collects garbage for them */
  figures(collects?: boolean): Promise<Figures>
  /** The longest turn of all figures so far, and the largest resident size seen. */
  readonly worst: { readonly turn: Turn; readonly wall: number; readonly rss: number }
}

const probe = new URL('./probe.js', import.meta.url).href

async function spawnAttacked(
  t: Test,
  name: string,
  environment: Readonly<Record<string, string>>,
): Promise<AttackedNode> {
  const options = `--max-old-space-size=512 --import ${probe}`
  const node = await spawnNode(t, { ...environment, NODE_OPTIONS: options })
  const worst = { turn: noTurn, wall: 0, rss: 0 }
  const looking = setInterval(() => {
    const text = readFileSync(`/proc/${node.pid}/status`, 'utf8')
    worst.rss = Math.max(worst.rss, 1024 * Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0))
  }, 100)
  t.teardown(() => clearInterval(looking))
  let asked = 0
  /** Waits until its output has a line. It is long, and read only if there is more of it. */
  async function shows(pattern: RegExp, timeoutMs: number): Promise<void> {
    let seen = 0
    const hasLine = () => {
      const text = node.output()
      const isLonger = text.length > seen
      seen = text.length
      return isLonger && pattern.test(text)
    }
    await until(hasLine, { what: `${name} writes ${pattern}`, timeoutMs })
  }
  return {
    ...node,
    name,
    worst,

    async logs(pattern, timeoutMs) {
      await shows(pattern, timeoutMs).catch((error: Error) => {
        throw new Error(`${error.message}; its last lines: ${node.output().slice(-2000)}`)
      })
    },

    async figures(collects = false) {
      const line = new RegExp(`^figures ${++asked} (\\{.*\\})$`, 'm')
      process.kill(node.pid, collects ? 'SIGIO' : 'SIGUSR2')
      await shows(line, 60_000)
      const figures: Figures = JSON.parse(line.exec(node.output())?.[1] ?? '')
      worst.turn = longer(worst.turn, figures.turn)
      worst.wall = Math.max(worst.wall, figures.wall)
      return figures
    },
  }
}

/** A body that lies about a block, and the body of the block. */
interface Pair {
  readonly bodies: readonly Uint8Array[]
  readonly transactionsRoot: Uint8Array
  /** For the log. */
  readonly title: string
}

async function generate(pair: number, seed: number): Promise<Pair> {
  const random = randomOf(seed + pair)
  const numbers = [2 * pair, 2 * pair + 1]
  const shapes = numbers.map((n) => shapeNames[n % shapeNames.length]!)
  const [lie, right] = numbers.map((n, place) => transactionsOf(shapes[place]!, shareOf(n), random)) as [
    readonly Uint8Array[],
    readonly Uint8Array[],
  ]
  const bodies = [pair % 3 === 0 ? lyingBody(lie, random) : honestBody(lie), honestBody(right)]
  const derived = (await derive({ transactions: right }, { read: movedParts })).derive(() => undefined)
  const megabytes = bodies.map(({ length }) => (length / 1e6).toFixed(1))
  const title = `${numbers[0]}: ${shapes.join(' and ')}, ${megabytes.join(' and ')} MB`
  return { bodies, transactionsRoot: await transactionsRoot(derived), title }
}

/** Generates pairs of bodies on a thread of its own: layer 1 and the peer run on the main one. */
function openGenerator(seed: number) {
  const worker = new Worker(new URL(import.meta.url), { workerData: seed })
  return {
    /** One at a time. */
    async next(pair: number): Promise<Pair> {
      worker.postMessage(pair)
      const [made] = await once(worker, 'message')
      return made
    },
    close: () => worker.terminate(),
  }
}

if (!isMainThread)
  parentPort?.on('message', async (pair: number) => {
    parentPort?.postMessage(await generate(pair, workerData))
  })
