import { equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { transactionsOfBody } from './body.js'
import type { AuditedChain } from './chain.js'
import { valueOfOutput } from './grammar/output.js'
import type { AuditedLedger } from './ledger.js'
import { sideBySide } from './side-by-side.js'
import { type Sources, Unavailable } from './sources.js'
import { type AuditedTransaction, readTransaction, reasonOf } from './transaction.js'
import type { Finding } from './types.js'
import { ada, Sum, textOf } from './value.js'

type Node = NonNullable<Sources['node']>

/** Readings of what a node holds, while something differs. */
const mostReadings = 5

/** Outputs that a node lacks, beyond which no further one is read. */
const mostAsked = 1000

/** Compares the unspent outputs that a node holds with those that are derived. */
export interface HeldAudit {
  /** The differences that remain: one that a later reading lacks came from a change meanwhile. */
  compare(): Promise<readonly Finding[]>
}

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
export function createHeldAudit(node: Node, { ledger, chain, pause, newerBodies }: HeldContext): HeldAudit {
  const known: PendingTransactions = new Map()
  /** By what differs. */
  let wrong: ReadonlyMap<string, Finding> | undefined
  let readings = 0

  async function read(): Promise<ReadonlyMap<string, Finding>> {
    const found = new Map<string, Finding>()
    const report = (key: string, kind: Finding['kind'], message: string, more: Partial<Finding> = {}) =>
      found.set(`${kind} ${key}`, { kind, message, ...more })
    const { kept, added } = await readHeld(report)
    // The list takes long, and meanwhile most of what is newer has come into blocks.
    for (const id of known.keys()) if (isDerived(id)) known.delete(id)
    await learn(newerBodies(), known, pause)
    const pending = await pendingOf(added.keys(), report)
    const spent = spentBy(pending, report)
    for (const key of kept) {
      const spender = spent.get(key)
      if (spender !== undefined) report(key, 'node-outputs', `The node holds ${key}, which ${spender} spends`)
    }
    const missing = [...ledger.keys()].filter((key) => !kept.has(key) && !spent.has(key))
    for (const key of await withoutSpender(missing, pending, report))
      report(key, 'node-outputs', `The node does not hold ${key}, which is unspent`)
    for (const [key, output] of added) judgeAdded(key, output, pending, spent, report)
    for (const [id, transaction] of pending) judgeValue(id, transaction, pending, report)
    return found
  }

  type Report = (key: string, kind: Finding['kind'], message: string, more?: Partial<Finding>) => void

  /** Which derived outputs the node holds, and which others. */
  async function readHeld(report: Report) {
    const kept = new Set<string>()
    const added = new Map<string, Uint8Array | undefined>()
    let count = 0
    const most = ledger.size + mostPending
    for await (const { key, output } of node.unspentOutputs(ledger.outputs())) {
      await pause()
      if (++count > most)
        throw new Unavailable('The unspent outputs of the node', `it lists more than ${most}`)
      const derived = ledger.get(key)
      if (derived === undefined) added.set(key, output ?? added.get(key))
      else if (output === undefined || equalBytes(output, derived)) kept.add(key)
      else {
        kept.add(key)
        report(key, 'node-outputs', `The node holds ${key} with other bytes`, {
          expected: toHex(derived),
          found: toHex(output),
        })
      }
    }
    return { kept, added }
  }

  /** The transactions that are newer than the chain: those that made outputs, and what these spend. */
  async function pendingOf(keys: Iterable<string>, report: Report): Promise<PendingTransactions> {
    const missing = (id: string) =>
      report(id, 'lost', `The node holds what the transaction ${id} leads to, and not the transaction`, {
        transaction: { id },
      })
    return readPending(keys, { node, known, isDerived, onMissing: missing, pause })
  }

  /** Whether a transaction is older than what is pending. */
  const isDerived = (id: string): boolean => chain.blockOf(fromHex(id)) !== 0 || ledger.isGenesisId(id)

  function spentBy(pending: PendingTransactions, report: Report): Map<string, string> {
    const spent = new Map<string, string>()
    for (const [id, { inputs }] of pending)
      for (const { key } of inputs) {
        const other = spent.get(key)
        if (other === undefined) spent.set(key, id)
        else report(id, 'double-spend', `Two transactions of the node spend ${key}: ${other}, ${id}`)
      }
    return spent
  }

  /** The outputs that no transaction of the node spends, which may make nothing that is still there. */
  async function withoutSpender(
    missing: readonly string[],
    pending: PendingTransactions,
    report: Report,
  ): Promise<readonly string[]> {
    const left: string[] = []
    for (const key of missing.slice(0, mostAsked)) {
      const id = await node.spenderOf(key)
      if (id === undefined || isDerived(id)) left.push(key)
      else {
        const more = await pendingOf([`${id}#0`], report)
        if (!more.get(id)?.inputs.some((input) => input.key === key)) left.push(key)
        for (const [each, transaction] of more) pending.set(each, transaction)
      }
    }
    return left
  }

  function outputOf(key: string, pending: PendingTransactions): Uint8Array | undefined {
    const [id = '', index] = key.split('#')
    return pending.get(id)?.outputs[Number(index)]
  }

  function judgeAdded(
    key: string,
    output: Uint8Array | undefined,
    pending: PendingTransactions,
    spent: ReadonlyMap<string, string>,
    report: Report,
  ): void {
    const made = outputOf(key, pending)
    const [id = ''] = key.split('#')
    if (isDerived(id)) report(key, 'node-outputs', `The node holds ${key}, which is spent or was never made`)
    else if (!pending.has(id)) return
    else if (made === undefined) report(key, 'node-outputs', `The node holds ${key}, which was never made`)
    else if (output !== undefined && !equalBytes(output, made))
      report(key, 'node-outputs', `The node holds ${key} with other bytes`, {
        expected: toHex(made),
        found: toHex(output),
      })
    else if (spent.has(key))
      report(key, 'node-outputs', `The node holds ${key}, which ${spent.get(key)} spends`)
  }

  function judgeValue(
    id: string,
    { inputs, outputs, fee, mint, fault }: ReturnType<PendingTransactions['get']> & object,
    pending: PendingTransactions,
    report: Report,
  ): void {
    const at = { transaction: { id } }
    if (fault !== undefined) {
      report(id, 'transaction', `Transaction ${id} of the node is not a transaction: ${fault}`, at)
      return
    }
    const balance = new Sum().add(mint).add(ada(fee), -1n)
    for (const output of outputs) balance.add(valueOfOutput(output), -1n)
    for (const { key } of inputs) {
      const input = ledger.get(key) ?? outputOf(key, pending)
      if (input === undefined) {
        report(id, 'unknown-input', `Transaction ${id} of the node spends ${key}, which does not exist`, at)
        return
      }
      balance.add(valueOfOutput(input))
    }
    if (!balance.isZero)
      report(id, 'value', `Transaction ${id} of the node does not preserve value`, {
        ...at,
        expected: 'inputs and mint equal outputs and fee',
        found: `a difference of ${textOf(balance)}`,
      })
  }

  return {
    async compare() {
      if (wrong === undefined || (wrong.size > 0 && readings < mostReadings)) {
        const before: ReadonlyMap<string, Finding> | undefined = wrong
        const now = await read()
        readings++
        wrong = before === undefined ? now : new Map([...now].filter(([key]) => before.has(key)))
      }
      return [...wrong.values()]
    },
  }
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
    for (const cbor of readable(body)) {
      await pause()
      if (known.size >= mostPending) return
      const transaction = readTransaction(cbor)
      // The id says nothing about witnesses, which may be the archive's fault.
      if (transaction.fault === undefined) known.set(toHex(transaction.id), transaction)
    }
  }
}

/** The transactions of a body; none if it cannot be read, which its audit reports. */
function readable(body: Uint8Array): readonly Uint8Array[] {
  try {
    return transactionsOfBody(body)
  } catch (error) {
    reasonOf(error)
    return []
  }
}

interface PendingContext {
  readonly node: Pick<NonNullable<Sources['node']>, 'transaction'>
  /** Those that were read before, to which more are added. */
  readonly known: PendingTransactions
  /** Whether the chain has a transaction, so that it is not asked for. */
  readonly isDerived: (id: string) => boolean
  /** Called for one that the node does not have, or has with another id. */
  readonly onMissing: (id: string) => void
  readonly pause: () => Promise<void>
}

/** The transactions that made outputs, those that made what these spend, until the chain has them. */
async function readPending(
  keys: Iterable<string>,
  { node, known, isDerived, onMissing, pause }: PendingContext,
): Promise<PendingTransactions> {
  const found: PendingTransactions = new Map()
  const asked = new Set<string>()
  let waiting: string[] = []
  let bytes = 0
  const want = (key: string): void => {
    const id = key.slice(0, key.indexOf('#'))
    if (asked.has(id) || isDerived(id)) return
    asked.add(id)
    waiting.push(id)
  }

  async function ask(id: string): Promise<void> {
    const transaction = known.get(id) ?? (await read(id))
    if (transaction === undefined) return onMissing(id)
    known.set(id, transaction)
    found.set(id, transaction)
  }

  async function read(id: string): Promise<AuditedTransaction | undefined> {
    const cbor = await node.transaction(id)
    bytes += cbor?.length ?? 0
    if (bytes > mostPendingBytes)
      throw new Unavailable(
        'The unspent outputs of the node',
        `newer transactions have more than ${mostPendingBytes} bytes`,
      )
    const transaction = cbor && readTransaction(cbor)
    return transaction && toHex(transaction.id) === id ? transaction : undefined
  }

  for (const key of keys) want(key)
  while (waiting.length > 0) {
    if (asked.size > mostPending)
      throw new Unavailable(
        'The unspent outputs of the node',
        `more than ${mostPending} transactions are newer`,
      )
    const ids = waiting
    waiting = []
    await sideBySide(ids, concurrency, async (id) => {
      await pause()
      await ask(id)
    })
    for (const id of ids) for (const { key } of found.get(id)?.inputs ?? []) want(key)
  }
  return found
}
