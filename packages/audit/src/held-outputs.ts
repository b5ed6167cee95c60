import { fromHex, toHex } from '@ratatosk/cbor'
import { transactionsOfBody } from './body.js'
import type { AuditedChain } from './chain.js'
import { difference } from './findings.js'
import type { AuditedLedger } from './ledger.js'
import { type Sources, sideBySide, Unavailable } from './sources.js'
import { type AuditedTransaction, imbalanceOf, readTransaction } from './transaction.js'
import type { Finding } from './types.js'

type Node = NonNullable<Sources['node']>

/** Readings of what a node holds, while something differs. */
const mostReadings = 5

/** Outputs that a node lacks, beyond which no further one is read. */
const mostAsked = 1000

/** The sources with which the outputs of a node are compared. */
export interface HeldContext {
  readonly ledger: AuditedLedger
  readonly chain: AuditedChain
  readonly pause: () => Promise<void>
  /** Bodies of blocks that layer 1 has after the chain. */
  newerBodies(): AsyncIterable<Uint8Array>
}

/**
 * The outputs of a node follow from the outputs of the chain and from transactions that are newer: each of
 * them must be in a later block or at the node, and together they must lead from the former to the latter,
 * and preserve value.
 */
export function createHeldAudit(node: Node, context: HeldContext) {
  const known: PendingTransactions = new Map()
  /** By what differs. */
  let wrong: ReadonlyMap<string, Finding> | undefined
  let readings = 0

  return {
    /** The differences that remain: one that a later reading lacks came from a change meanwhile. */
    async compare(): Promise<readonly Finding[]> {
      if (wrong === undefined || (wrong.size > 0 && readings < mostReadings)) {
        const before: ReadonlyMap<string, Finding> | undefined = wrong
        const now = await readHeld({ ...context, node, known })
        readings++
        wrong = before === undefined ? now : new Map([...now].filter(([key]) => before.has(key)))
      }
      return [...wrong.values()]
    },
  }
}

/** One reading of the outputs of a node. */
interface Reading extends HeldContext {
  readonly node: Node
  /** Transactions that were read before, to which more are added. */
  readonly known: PendingTransactions
  /** Keys of derived outputs that the node holds. */
  readonly kept: Set<string>
  /** The others that it holds, with their CBOR if it shows that. */
  readonly added: Map<string, Uint8Array | undefined>
  /** The transactions that are newer than the chain: those that made outputs, and what these spend. */
  readonly pending: PendingTransactions
  /** Ids of the pending transactions by the keys of what they spend. */
  readonly spent: Map<string, string>
  report(key: string, kind: Finding['kind'], message: string, more?: Partial<Finding>): void
}

async function readHeld(
  context: Pick<Reading, keyof HeldContext | 'node' | 'known'>,
): Promise<ReadonlyMap<string, Finding>> {
  const found = new Map<string, Finding>()
  const reading: Reading = {
    ...context,
    kept: new Set(),
    added: new Map(),
    pending: new Map(),
    spent: new Map(),
    report: (key, kind, message, more) => found.set(`${kind} ${key}`, { kind, message, ...more }),
  }
  const { ledger, known, newerBodies, pause, kept, added, pending, spent, report } = reading
  await listHeld(reading)
  // The list takes long, and meanwhile most of what is newer has come into blocks.
  for (const id of known.keys()) if (isDerived(reading, id)) known.delete(id)
  await learn(newerBodies(), known, pause)
  await readPending(reading, added.keys())
  noteSpenders(reading)
  for (const key of kept)
    if (spent.has(key)) report(key, 'node-outputs', `The node holds ${key}, which ${spent.get(key)} spends`)
  const missing = [...ledger.keys()].filter((key) => !kept.has(key) && !spent.has(key))
  const left: string[] = []
  for (const key of missing.slice(0, mostAsked)) if (!(await findSpender(reading, key))) left.push(key)
  for (const key of left) report(key, 'node-outputs', `The node does not hold ${key}, which is unspent`)
  for (const [key, output] of added) judgeAdded(reading, key, output)
  for (const [id, transaction] of pending) judgeValue(reading, id, transaction)
  return found
}

/** Lists which derived outputs the node holds, and which others. */
async function listHeld({ node, ledger, kept, added, pause, report }: Reading): Promise<void> {
  let count = 0
  const most = ledger.size + mostPending
  for await (const { key, output } of node.unspentOutputs(ledger.outputs())) {
    await pause()
    if (++count > most) throw unavailable(`it lists more than ${most}`)
    const derived = ledger.get(key)
    if (derived === undefined) added.set(key, output ?? added.get(key))
    else {
      kept.add(key)
      const other = output && difference(derived, output)
      if (other !== undefined) report(key, 'node-outputs', `The node holds ${key} with other bytes`, other)
    }
  }
}

const unavailable = (why: string) => new Unavailable('The unspent outputs of the node', why)

/** Whether a transaction is older than what is pending. */
const isDerived = ({ chain, ledger }: HeldContext, id: string): boolean =>
  chain.blockOf(fromHex(id)) !== 0 || ledger.isGenesisId(id)

function noteSpenders({ pending, spent, report }: Reading): void {
  for (const [id, { inputs }] of pending)
    for (const { key } of inputs) {
      const other = spent.get(key)
      if (other === undefined) spent.set(key, id)
      else report(id, 'double-spend', `Two transactions of the node spend ${key}: ${other}, ${id}`)
    }
}

/** Whether a transaction of the node spends an output. It may make nothing that is still there. */
async function findSpender(reading: Reading, key: string): Promise<boolean> {
  const id = await reading.node.spenderOf(key)
  if (id === undefined || isDerived(reading, id)) return false
  await readPending(reading, [`${id}#0`])
  return reading.pending.get(id)?.inputs.some((input) => input.key === key) === true
}

function outputOf(key: string, pending: PendingTransactions): Uint8Array | undefined {
  const [id = '', index] = key.split('#')
  return pending.get(id)?.outputs[Number(index)]
}

function judgeAdded(reading: Reading, key: string, output: Uint8Array | undefined): void {
  const { pending, spent, report } = reading
  const made = outputOf(key, pending)
  const other = made && output && difference(made, output)
  const [id = ''] = key.split('#')
  if (isDerived(reading, id))
    report(key, 'node-outputs', `The node holds ${key}, which is spent or was never made`)
  else if (!pending.has(id)) return
  else if (made === undefined) report(key, 'node-outputs', `The node holds ${key}, which was never made`)
  else if (other !== undefined) report(key, 'node-outputs', `The node holds ${key} with other bytes`, other)
  else if (spent.has(key))
    report(key, 'node-outputs', `The node holds ${key}, which ${spent.get(key)} spends`)
}

function judgeValue({ ledger, pending, report }: Reading, id: string, transaction: AuditedTransaction): void {
  const { inputs, fault } = transaction
  const at = { transaction: { id } }
  if (fault !== undefined) {
    report(id, 'transaction', `Transaction ${id} of the node is not a transaction: ${fault}`, at)
    return
  }
  const spent: Uint8Array[] = []
  for (const { key } of inputs) {
    const input = ledger.get(key) ?? outputOf(key, pending)
    if (input === undefined) {
      report(id, 'unknown-input', `Transaction ${id} of the node spends ${key}, which does not exist`, at)
      return
    }
    spent.push(input)
  }
  const imbalance = imbalanceOf(transaction, spent)
  if (imbalance !== undefined)
    report(id, 'value', `Transaction ${id} of the node does not preserve value`, { ...at, ...imbalance })
}

/** Transactions that a node has beyond the chain. A mempool has fewer. */
const mostPending = 100_000

/** Bytes of them that are read at a time. */
const mostPendingBytes = 256 << 20

const concurrency = 8

/** Transactions by id, 64 hex digits. */
type PendingTransactions = Map<string, AuditedTransaction>

/** Adds the transactions of bodies to those that are known: the id of each says that it is the right one. */
async function learn(
  bodies: AsyncIterable<Uint8Array>,
  known: PendingTransactions,
  pause: () => Promise<void>,
): Promise<void> {
  let bytes = 0
  for await (const body of bodies) {
    bytes += body.length
    if (bytes > mostPendingBytes) return
    for (const cbor of transactionsOfBody(body)) {
      await pause()
      if (known.size >= mostPending) return
      const transaction = readTransaction(cbor)
      // The id says nothing about witnesses, which may be the archive's fault.
      if (transaction.fault === undefined) known.set(toHex(transaction.id), transaction)
    }
  }
}

/** Reads the transactions that made outputs, those that made what these spend, until the chain has them. */
async function readPending(reading: Reading, keys: Iterable<string>): Promise<void> {
  const { node, known, pending, pause, report } = reading
  const asked = new Set<string>()
  let waiting: string[] = []
  let bytes = 0
  const want = (key: string): void => {
    const id = key.slice(0, key.indexOf('#'))
    if (asked.has(id) || isDerived(reading, id)) return
    asked.add(id)
    waiting.push(id)
  }

  async function read(id: string): Promise<AuditedTransaction | undefined> {
    const cbor = await node.transaction(id)
    bytes += cbor?.length ?? 0
    if (bytes > mostPendingBytes)
      throw unavailable(`newer transactions have more than ${mostPendingBytes} bytes`)
    const transaction = cbor && readTransaction(cbor)
    if (transaction && toHex(transaction.id) === id) return transaction
    report(id, 'lost', `The node holds what the transaction ${id} leads to, and not the transaction`, {
      transaction: { id },
    })
    return undefined
  }

  for (const key of keys) want(key)
  while (waiting.length > 0) {
    if (asked.size > mostPending) throw unavailable(`more than ${mostPending} transactions are newer`)
    const ids = waiting
    waiting = []
    await sideBySide(ids, concurrency, async (id) => {
      await pause()
      const transaction = known.get(id) ?? (await read(id))
      if (transaction === undefined) return
      known.set(id, transaction)
      pending.set(id, transaction)
    })
    for (const id of ids) for (const { key } of pending.get(id)?.inputs ?? []) want(key)
  }
}
