import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AppliedTransaction, ForeignBlock, Store } from '@ratatosk/store'
import { ask, until } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'
import { onServices } from './backends.js'
import { readEvents } from './event-reader.js'
import { runNode } from './node.js'

const hash = (text: string): Uint8Array => Uint8Array.from(createHash('sha256').update(text).digest())
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Its bytes are its id: nothing here executes it. */
function transactionOf(name: string): AppliedTransaction {
  const id = hash(name)
  return { id, cbor: id, spent: [], produced: [] }
}

async function blockOf(
  { blocks }: Store,
  name: string,
  transactions: readonly AppliedTransaction[],
): Promise<ForeignBlock> {
  const newest = await blocks.newest()
  const endTime = newest?.endTime ?? 1_000n
  return {
    headerHash: hash(name).slice(0, 28),
    header: hash(`header ${name}`),
    previousHeaderHash: newest?.headerHash ?? new Uint8Array(28),
    utxosRoot: hash(`root ${name}`),
    startTime: endTime,
    endTime: endTime + 1_000n,
    transactions,
  }
}

interface Size {
  /** Transactions that wait in the mempool. */
  readonly waiting: number
  /** Blocks of another operator, and milliseconds between two of them. */
  readonly blocks: number
  readonly slotMs: number
}

/**
 * An `api` node, whose clients read `/events`, beside a mempool of ten that waits while blocks of another
 * operator are adopted, each with a transaction of its own.
 */
export async function expectEventsOnce(t: Test, { waiting, blocks, slotMs }: Size): Promise<void> {
  const services = await onServices()
  if (services.skip) return void t.comment(services.skip)
  const placement = await services.place(t)
  const { store, url } = await runNode(t, { ...placement, NODE_ROLE: 'api' })
  const lease = await store.leases.acquire('sequencer', 'the other operator', 3_600_000)
  if (lease === undefined) throw new Error('The lease is held')

  const open = () => readEvents(() => `${url}/events?type=accepted&after=0.0.0`)
  const [listening, reconnecting] = [open(), open()]
  for (const reader of [listening, reconnecting]) t.teardown(() => reader.close())

  const mine = Array.from({ length: waiting }, (_, n) => transactionOf(`mine ${n}`))
  for (let first = 0; first < waiting; first += 1_000)
    await store.withLedger((ledger) => ledger.apply({ transactions: mine.slice(first, first + 1_000) }))
  const examine = (cbor: Uint8Array) => ({ id: cbor, cbor, spent: [], produced: [], named: [] })
  const theirs = Array.from({ length: blocks }, (_, n) => transactionOf(`theirs ${n}`))
  for (const [n, own] of theirs.entries()) {
    // Those that wait for the longest stay.
    const held = mine.slice(waiting - 10 * (n + 1), waiting - 10 * n)
    await store.blocks.adopt(await blockOf(store, `block ${n}`, [own, ...held]), examine, lease)
    reconnecting.drop()
    await sleep(slotMs)
  }

  const late = open()
  t.teardown(() => late.close())
  const all = [...mine, ...theirs].map(({ id }) => hex(id)).sort()
  for (const [name, { events }] of Object.entries({ listening, reconnecting, late })) {
    await until(() => events.length >= all.length, { what: `${name} has everything`, timeoutMs: 300_000 })
    // A repeated event would come at once.
    await sleep(1_000)
    t.same(events.map(({ data }) => data.txHash).sort(), all, `${name}: each acceptance once`)
  }
  t.ok(reconnecting.connections() > blocks / 4, `${reconnecting.connections()} connections`)

  const newest = await store.blocks.newest()
  const { transactions: waits } = await store.chain.countAfter(newest?.lastSequence ?? 0n, 1_000_000)
  const inBlocks = await store.explorer.totals(0n, newest?.height ?? 0n)
  const held = inBlocks.reduce((total, { transactions }) => total + transactions, 0)
  t.equal(waits + held, all.length)
  const { minutes } = JSON.parse((await ask(`${url}/explorer/rates?minutes=60`)).body)
  const accepted = (minutes as readonly { readonly accepted?: number }[]).map(({ accepted = 0 }) => accepted)
  t.equal(
    accepted.reduce((sum, count) => sum + count, 0),
    all.length,
    'the rates count transactions',
  )
}
