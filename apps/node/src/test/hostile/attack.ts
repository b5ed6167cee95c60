import { encodedHeader, type Header } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { until } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'
import type { Figures } from '../../../../../packages/follower/dist/test/hostile/figures.js'
import { openHostilePeer } from '../../../../../packages/follower/dist/test/hostile/hostile-peer.js'
import { openCheats } from '../adversary/cheats.js'
import { anyPlacement } from '../backends.js'
import { devnetServer } from '../devnet-server.js'
import { besideNode } from '../forged-block.js'
import { manyTransfers } from '../many-transfers.js'
import { initialised, submit } from '../node.js'
import { type AttackedNode, spawnAttacked } from './attacked.js'
import { openGenerator, type Pair } from './generator.js'

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
export interface Outcome {
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
