import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { audit, openArchivist } from '@ratatosk/audit'
import { nodeSource } from '@ratatosk/audit/node'
import { decodeHeader } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import { createClient } from '@ratatosk/client'
import { retireOperator } from '@ratatosk/protocol'
import { until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { openDeployment, readSettings } from '../index.js'
import { onServices, temporaryDirectory } from '../test/backends.js'
import { besideNode, devnetServer } from '../test/forged-block.js'
import {
  type OperatorNode,
  openComparison,
  openLoad,
  openOperatorNodes,
  sources,
} from '../test/operator-nodes.js'

/** Turns under load: the one operator joins in the second, the first one retires in the sixth of ten. */
const turns = Number(process.env.RATATOSK_TURNS ?? 0)
/** Milliseconds between two submissions. */
const pauseMs = Number(process.env.RATATOSK_TURNS_PAUSE_MS ?? 200)
const turnMs = 10_000
const joinsIn = 1
const retiresIn = Math.floor(turns * 0.6)
const isKilledIn = (turn: number) => turn % 5 === 4
const isAbsentIn = (turn: number) => turn % 6 === 3

t.setTimeout(300_000 + turns * 30_000)

const services = await onServices()
const patient = { timeoutMs: 240_000 }

async function openScene(t: Test) {
  const count = Math.ceil((turns * 6 * turnMs) / pauseMs)
  const GENESIS_FILE = join(await temporaryDirectory(t), 'genesis.json')
  await writeFile(GENESIS_FILE, JSON.stringify({ utxos: sources(count) }))
  const layer1 = await devnetServer(t)
  const settings = {
    GENESIS_FILE,
    OPERATOR_TURN_MS: String(turnMs),
    TAKEOVER_AFTER_MS: String(turnMs / 4),
    MATURITY_WINDOW_MS: '2000',
    BLOCK_VALIDITY_MS: '2500',
    COMMIT_INTERVAL_MS: '2000',
    MERGE_INTERVAL_MS: '2000',
    SEQUENCER_LEASE_MS: '2000',
  }
  const nodes = await openOperatorNodes(t, layer1, settings)
  for (const node of nodes) await node.start()
  const [a, b] = nodes as readonly [OperatorNode, OperatorNode]
  await a.join()
  await b.join()
  const beside = await besideNode(t, layer1.devnet, { ...layer1.settings, ...settings })
  const load = openLoad(t, nodes, count, pauseMs)
  return { layer1, settings, nodes, beside, load }
}

/** The registered operators and whose turn it is, as a node that is up says. */
function registryOf(nodes: readonly OperatorNode[]) {
  return createClient(nodes.find(({ isUp }) => isUp)?.url ?? '').listOperators()
}

const turnAt = () => Math.floor(Date.now() / turnMs)

/** Blocks of other operators that were committed in a turn in which an operator should have. */
async function takenOver({ store }: OperatorNode, vkey: string, isTurnOf: (turn: number) => boolean) {
  const newest = await store.blocks.newest()
  const headers = (await store.blocks.range(1n, newest?.height ?? 0n)).map(({ header }) =>
    decodeHeader(header),
  )
  // A block ends in the turn in which it was committed.
  return headers.filter(
    ({ endTime, operatorVkey }) =>
      toHex(operatorVkey) !== vkey && isTurnOf(Math.floor((Number(endTime) - 1) / turnMs)),
  )
}

t.test(
  'three operators take turns under load: one joins, one retires, one is killed, and one is absent',
  { skip: services.skip || (turns === 0 && 'RATATOSK_TURNS is not set') },
  async (t) => {
    const { layer1, settings, nodes, beside, load } = await openScene(t)
    const [a] = nodes as readonly [OperatorNode]
    const operators = new Map<string, OperatorNode>()
    const delays: number[] = []

    async function joins(node: OperatorNode): Promise<void> {
      const before = new Set(operators.keys())
      await node.join()
      for (const { operatorKey } of (await registryOf(nodes)).operators)
        if (!before.has(operatorKey)) operators.set(operatorKey, node)
    }

    /** An operator retires; its node goes on. */
    async function retires(vkey: string): Promise<void> {
      const { contracts, port, walletOf, readOperators, readScripts } = beside
      const validFrom = await port.currentSlot()
      const validity = { validFrom, validUntil: validFrom + 190n, slots: await port.slots() }
      const [registry, scripts] = [await readOperators(), await readScripts()]
      const draft = retireOperator(contracts, registry, fromHex(vkey), validity, 'administrator', scripts)
      await port.await((await walletOf(0).send(draft)).id)
      t.ok((await registryOf(nodes)).operators.some(({ activeUntil }) => activeUntil !== undefined))
    }

    async function isKilled(node: OperatorNode): Promise<void> {
      await node.stop('SIGKILL')
      await node.start()
    }

    /** Whether all nodes have the newest block of an operator, which only that operator serves until then. */
    async function isServed(vkey: string, { store }: OperatorNode): Promise<boolean> {
      const newest = (await store.blocks.newest())?.height ?? 0n
      const own = (await store.blocks.range(1n, newest)).findLast(
        ({ header }) => toHex(decodeHeader(header).operatorVkey) === vkey,
      )
      if (own === undefined) return true
      const found = await Promise.all(nodes.map((each) => each.store.blocks.byHash(own.headerHash)))
      return found.every((block) => block !== undefined)
    }

    /** Stops an operator that is not in turn and does not retire. */
    async function stopNext(): Promise<readonly [string, OperatorNode]> {
      for (;;) {
        const { operators: registered, next = '' } = await registryOf(nodes)
        const node = operators.get(next)
        const stays = registered.some((each) => each.operatorKey === next && each.activeUntil === undefined)
        if (node !== undefined && stays) {
          await node.stop('SIGTERM')
          if (await isServed(next, node)) return [next, node]
          await node.start()
        }
        await sleep(500)
      }
    }

    /** An operator is unavailable until others have taken over in one of its turns. */
    async function isAbsent(): Promise<void> {
      const [next, node] = await stopNext()
      const other = nodes.find((each) => each !== node)!
      const owned = new Set<number>()
      let taken: Awaited<ReturnType<typeof takenOver>> = []
      await until(
        async () => {
          const turn = turnAt()
          const { inTurn } = await registryOf(nodes)
          if (inTurn === next && turnAt() === turn) owned.add(turn)
          taken = await takenOver(other, next, (each) => owned.has(each))
          return taken.length > 0
        },
        { what: 'another operator takes over', ...patient },
      )
      const [{ startTime, endTime }] = taken as [(typeof taken)[0]]
      delays.push(Number(endTime - startTime))
      await node.start()
    }

    for (const [n, { operatorKey }] of [...(await registryOf(nodes)).operators].reverse().entries())
      operators.set(operatorKey, nodes[n]!)
    const [first = ''] = operators.keys()
    const comparison = openComparison(t, nodes)
    load.begin()
    const begun = turnAt()
    for (let turn = 0; turn < turns; turn++) {
      await until(() => turnAt() >= begun + turn, patient)
      if (turn === joinsIn) await joins(nodes[2]!)
      if (turn === retiresIn) await retires(first)
      if (isAbsentIn(turn)) await isAbsent()
      else if (isKilledIn(turn)) await isKilled(nodes[turn % 3]!)
    }
    const committers = async () => {
      const found = await a.store.blocks.range(1n, (await a.store.blocks.newest())?.height ?? 0n)
      return new Set(found.map(({ header }) => toHex(decodeHeader(header).operatorVkey)))
    }
    const haveAll = async () => (await committers()).size === 3
    await until(haveAll, { what: 'each operator has committed', ...patient })
    const { payers, rivals, submitted } = await load.end()

    const inBlocks = async ({ store }: OperatorNode) => {
      const newest = await store.blocks.newest()
      const blocks = await store.blocks.range(1n, newest?.height ?? 0n)
      const ids: string[] = []
      for (const { headerHash } of blocks)
        ids.push(...(await store.blocks.transactionsOf(headerHash)).map(({ id }) => toHex(id)))
      return { ids, blocks, isMerged: newest?.state === 'merged' && (await store.blocks.waiting(1)) === 0 }
    }
    await until(
      async () => {
        const all = await Promise.all(nodes.map(inBlocks))
        return all.every(({ ids, isMerged }) => isMerged && ids.length === payers.length + rivals.length)
      },
      { what: 'everything is merged on all nodes', ...patient },
    )
    const { ids, blocks } = await inBlocks(a)
    const compared = await comparison.end()
    t.equal(compared.merged, blocks.length, 'every merged block was compared')
    t.ok(compared.sameOutputs > 0, 'outputs after the same block were compared')

    const merged = new Set(ids)
    t.equal(merged.size, ids.length, 'no transaction is merged twice')
    t.same(
      payers.filter((id) => !merged.has(id)),
      [],
      'what nothing rivals is merged',
    )
    const losers: { id: string; at: number }[] = []
    for (const { ids: pair, nodes: places } of rivals) {
      t.equal(pair.filter((id) => merged.has(id)).length, 1, `one of ${pair} is merged`)
      const n = merged.has(pair[0]) ? 1 : 0
      losers.push({ id: pair[n], at: places[n] })
    }
    const codes: Record<string, number> = {}
    for (const { id, at } of losers)
      for (const [place, { url }] of nodes.entries()) {
        const { status, rejection } = await createClient(url).getTransactionStatus({ tx_hash: id })
        // A node that has adopted the winner before need not know the loser.
        if (status === 'unknown' && place !== at) continue
        const code = rejection?.code ?? status
        codes[code] = (codes[code] ?? 0) + 1
        t.equal(status, 'rejected', `${id} is a dead letter of ${nodes[place]?.name}`)
      }
    for (const code of Object.keys(codes)) t.match(code, /^(ConflictsWithBlock|BadInputsUTxO)$/)

    for (const { url, name } of nodes) {
      const archivist = `${url}/archivist`
      const deployment = await openDeployment(
        readSettings({ ...layer1.settings, ...settings, NODE_ROLE: 'archivist', ARCHIVIST_PEERS: archivist }),
      )
      const report = await audit({
        layer1: { read: deployment.readQueueAndBridge },
        archivist: openArchivist(archivist),
        genesis: deployment.genesis,
        bridge: deployment.rules.bridge,
        node: nodeSource(createClient(url), url),
        accepted: [...ids, ...losers.filter(({ at }) => nodes[at]?.url === url).map(({ id }) => id)],
      })
      t.match(
        report,
        { verdict: 'clean', findings: [], counts: { blocks: blocks.length } },
        `audit of ${name}`,
      )
    }
    const keys = [...operators.keys()]
    const by = blocks.map(({ header }) => keys.indexOf(toHex(decodeHeader(header).operatorVkey)))
    t.same([...new Set(by)].sort(), [0, 1, 2], 'each operator has committed')
    t.comment(
      JSON.stringify({ turns, submitted, merged: ids.length, blocks: by.join(''), codes, delays, compared }),
    )
  },
)
