import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { toHex } from '@ratatosk/cbor'
import { createClient } from '@ratatosk/client'
import { keyOf, outputOf, transfer } from '@ratatosk/fixtures'
import { blake2b256 } from '@ratatosk/ledger'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { openStore, type Store } from '@ratatosk/store'
import { freePort } from '@ratatosk/test-kit'
import { until } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'
import { onServices } from './backends.js'
import { type DevnetServer, devnetWallets } from './forged-block.js'
import { initialised, type KeepAliveClient, keepAliveClient } from './node.js'
import { type NodeProcess, spawnNode } from './node-process.js'

/** Of the operators after the first, who is the devnet's. */
const phrases = [`${'abandon '.repeat(23)}art`, `${'zoo '.repeat(23)}vote`]

/** The node of an operator: a process with a database of its own. */
export interface OperatorNode {
  /** `A`, `B`, … */
  readonly name: string
  readonly url: string
  readonly store: Store
  readonly schema: string
  readonly isUp: boolean
  start(): Promise<void>
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Registers its operator, and begins the queue if there is none. */
  join(): Promise<void>
}

/** Nodes on one layer 1 that know each other. None is started. */
export async function openOperatorNodes(
  t: Test,
  layer1: DevnetServer,
  settings: Readonly<Record<string, string>>,
): Promise<readonly OperatorNode[]> {
  const { port, walletOf } = devnetWallets(t, layer1.devnet)
  const addresses = phrases.map((phrase) => keysFromSeedPhrase(phrase, { networkId: 0 }).addressText)
  const outputs = addresses.flatMap((address) =>
    Array.from({ length: 5 }, () => ({ address, lovelace: 1_000_000_000n })),
  )
  await port.await((await walletOf(3).send({ outputs })).id)
  const ports = [await freePort(), await freePort(), await freePort()]
  const urls = ports.map((each) => `http://127.0.0.1:${each}`)
  return Promise.all(
    urls.map(async (url, own) => {
      const peers = urls.filter((_, place) => place !== own)
      const phrase = phrases[own - 1]
      return operatorNode(t, 'ABC'[own] ?? '', url, {
        ...layer1.settings,
        ...settings,
        PORT: String(ports[own]),
        AUTO_INIT: 'false',
        ...(phrase && { OPERATOR_SEED_PHRASE: phrase }),
        ARCHIVIST_PEERS: peers.map((peer) => `${peer}/archivist`).join(','),
        OPERATOR_PEERS: peers.join(','),
      })
    }),
  )
}

async function operatorNode(
  t: Test,
  name: string,
  url: string,
  settings: Readonly<Record<string, string>>,
): Promise<OperatorNode> {
  const services = await onServices()
  const placement = await services.place(t)
  const { DATABASE_URL = '', DATABASE_SCHEMA: schema = '' } = placement
  const store = await openStore({ url: DATABASE_URL, schema })
  t.teardown(() => store.close())
  let running: NodeProcess | undefined
  return {
    name,
    url,
    store,
    schema,
    get isUp() {
      return running !== undefined
    },
    async start() {
      running = await spawnNode(t, { ...placement, ...settings })
    },
    async stop(signal) {
      const ended = running
      running = undefined
      await ended?.stop(signal)
    },
    async join() {
      await createClient(url).init()
      await initialised(url)
    },
  }
}

const lovelace = 10_000_000n
const fee = 200_000n
const key = keyOf(7)
const sourceOf = (n: number) => ({ transactionId: blake2b256(Buffer.from(`source ${n}`)), index: 0 })

/** For GENESIS_FILE. */
export const sources = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    outref: `${toHex(sourceOf(n).transactionId)}#0`,
    output: toHex(outputOf(key, lovelace)),
  }))

/** A payment that spends one source, or the output of the payment before it. */
interface Payment {
  readonly id: string
  readonly cborHex: string
}

function payments(source: number, length: number, firstFee = fee): readonly Payment[] {
  const made: Payment[] = []
  let from = sourceOf(source)
  let left = lovelace - firstFee
  for (let n = 0; n < length; n++, left -= fee) {
    const { id, cbor } = transfer(key, [from], [left], { fee: n === 0 ? firstFee : fee })
    made.push({ id: toHex(id), cborHex: toHex(cbor) })
    from = { transactionId: id, index: 0 }
  }
  return made
}

/** Two payments that spend one source, each accepted by another node. */
interface Rivals {
  readonly ids: readonly [string, string]
  readonly nodes: readonly [number, number]
}

/** Submits payments, chains of three and conflicting pairs by turns; without an answer, to the next node. */
export function openLoad(t: Test, nodes: readonly OperatorNode[], count: number, pauseMs: number) {
  const clients: readonly KeepAliveClient[] = nodes.map(({ url }) => keepAliveClient(t, url))
  const payers: string[] = []
  const rivals: Rivals[] = []
  let isPaused = true
  let ended = false

  /** @returns the place of the node that has accepted all */
  async function give(chain: readonly Payment[], preferred: number): Promise<number> {
    let at = preferred
    await until(
      async () => {
        at = (at + 1) % nodes.length
        const [node, client] = [nodes[at]!, clients[at]!]
        if (!node.isUp) return false
        try {
          for (const { cborHex } of chain) await client.submit(cborHex)
          return true
        } catch {
          // The next node.
          return false
        }
      },
      { what: 'a node accepts a payment', timeoutMs: 120_000 },
    )
    return at
  }

  async function submit(n: number): Promise<void> {
    if (n % 8 === 5) {
      const [one, two] = [payments(n, 1), payments(n, 1, fee + 1n)]
      const places = await Promise.all([give(one, n), give(two, n + 1)])
      rivals.push({ ids: [one[0]!.id, two[0]!.id], nodes: places })
    } else {
      const chain = payments(n, n % 8 === 3 ? 3 : 1)
      await give(chain, n)
      payers.push(...chain.map(({ id }) => id))
    }
  }

  let submitted = 0
  const failures: unknown[] = []
  const running = (async () => {
    const open = new Set<Promise<void>>()
    while (!ended && submitted < count) {
      await sleep(pauseMs)
      if (isPaused || open.size > 32) continue
      const next = submit(submitted++)
        .catch((error: unknown) => failures.push(error))
        .then(() => void open.delete(next))
      open.add(next)
    }
    await Promise.all(open)
  })()
  t.teardown(() => {
    ended = true
  })
  return {
    begin() {
      isPaused = false
    },
    /** Ends the load and returns what was accepted: what nothing rivals, and the rivals. */
    async end() {
      ended = true
      await running
      if (failures.length > 0) throw failures[0]
      return { payers, rivals, submitted }
    },
  }
}

const linesOf = (rows: readonly unknown[]): string =>
  (rows as readonly { readonly row: string }[]).map(({ row }) => row).join('\n')

/** Rows of the merged blocks from a height on: all but accept sequences, times and layer-1 transactions. */
async function mergedRows({ store, schema }: OperatorNode, from: number, to: number): Promise<string> {
  const { rows } = await store.database.run(
    `WITH merged AS (
      SELECT * FROM ${schema}.blocks WHERE state = 'merged' AND height BETWEEN $1 AND $2
    )
    SELECT row FROM (
      SELECT height, -1 AS position, concat_ws(' ', header_hash, header, previous_header_hash, utxos_root,
        start_time, end_time, transactions) AS row FROM merged
      UNION ALL
      SELECT height, position, concat_ws(' ', transaction_id, cbor)
      FROM ${schema}.block_transactions JOIN merged ON merged.id = block_id
    ) AS rows ORDER BY height, position`,
    [from, to],
  )
  return linesOf(rows)
}

/** Rows of ledger and history, with the ids of transactions in place of accept sequences. */
async function ledgerRows({ store, schema }: OperatorNode): Promise<string> {
  const { rows } = await store.database.run(
    `WITH places AS (SELECT sequence, transaction_id FROM ${schema}.block_transactions)
    SELECT row FROM (
      SELECT concat_ws(' ', 'output', transaction_id, output_index, output, address) AS row
      FROM ${schema}.mempool_ledger
      UNION ALL
      SELECT concat_ws(' ', 'history', address, transaction_id)
      FROM ${schema}.address_history JOIN places USING (sequence)
      UNION ALL
      SELECT concat_ws(' ', 'waits', transaction_id) FROM ${schema}.mempool_transactions
    ) AS rows ORDER BY row`,
    [],
  )
  return linesOf(rows)
}

/** A hash of the outputs after a block, and its header's; undefined if seen, or if another comes. */
async function outputsAfter(
  { blocks }: Store,
  seen?: string,
): Promise<readonly [string, string] | undefined> {
  const before = await blocks.newest()
  if (before === undefined || toHex(before.headerHash) === seen) return undefined
  const rows: string[] = []
  for await (const page of blocks.utxosAfterNewest())
    for (const { transactionId, index, output } of page)
      rows.push(`${toHex(transactionId)} ${index} ${toHex(output)}`)
  const header = toHex(before.headerHash)
  if (toHex((await blocks.newest())?.headerHash ?? new Uint8Array()) !== header) return undefined
  return [header, createHash('sha256').update(rows.sort().join('\n')).digest('hex')]
}

/** Compares the ledgers of nodes while they run. */
export function openComparison(t: Test, nodes: readonly OperatorNode[]) {
  const outputs = new Map<string, { readonly digest: string; readonly of: Set<string> }>()
  /** By the name of the node. */
  const seen = new Map<string, string>()
  let merged = 0
  let ended = false

  /** Compares blocks that all nodes have merged since. */
  async function compareMerged(): Promise<void> {
    const heights = await Promise.all(
      nodes.map(async ({ store }) => Number((await store.blocks.confirmed())?.height ?? 0n)),
    )
    const common = Math.min(...heights)
    if (common <= merged) return
    const [first, ...others] = await Promise.all(nodes.map((node) => mergedRows(node, merged + 1, common)))
    for (const [n, rows] of others.entries())
      if (rows !== first) t.equal(rows, first, `merged blocks up to ${common} of A and ${'BC'[n]}`)
    merged = common
  }

  /** Compares unspent outputs of nodes that have, or had, the same newest block. */
  async function compareOutputs(): Promise<void> {
    for (const { name, store } of nodes) {
      const [header, digest] = (await outputsAfter(store, seen.get(name))) ?? []
      if (header === undefined || digest === undefined) continue
      const known = outputs.get(header) ?? { digest, of: new Set() }
      if (known.digest !== digest) t.fail(`the outputs after block ${header} differ at ${name}`)
      known.of.add(name)
      seen.set(name, header)
      outputs.set(header, known)
    }
  }

  const running = (async () => {
    while (!ended) {
      await compareMerged()
      await compareOutputs()
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  })()
  running.catch(() => undefined)
  t.teardown(() => {
    ended = true
  })
  return {
    /** Compares everything, when nothing waits. */
    async end() {
      ended = true
      await running
      await compareMerged()
      const [first, ...others] = await Promise.all(nodes.map(ledgerRows))
      for (const other of others) t.equal(other, first, 'the whole ledgers are the same, row for row')
      return {
        merged: merged,
        sameOutputs: [...outputs.values()].filter(({ of }) => of.size > 1).length,
      }
    },
  }
}
