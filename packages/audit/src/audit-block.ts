import { CborWriter, concatBytes, equalBytes, toHex } from '@ratatosk/cbor'
import { type AuditedDeposit, contentOfBody, encodeBody } from './body.js'
import { difference } from './findings.js'
import { isAtScript, Sum, valueOfOutput } from './grammar/output.js'
import { type AuditedHeader, blake2b256 } from './header.js'
import { type AuditedLedger, type Change, nothingMoved } from './ledger.js'
import type { Sources } from './sources.js'
import {
  type AuditedTransaction,
  imbalanceOf,
  maxOutputIndex,
  outref,
  readTransaction,
  reasonOf,
} from './transaction.js'
import type { TransactionTable } from './transaction-table.js'
import {
  createChunks,
  eventRootsOf,
  isLeft,
  isOlder,
  type MapOutput,
  maxChunks,
  transactionsRootOf,
} from './transactions-map.js'
import type { Finding, FindingKind } from './types.js'

/** Header bytes of enterprise addresses of keys, by network. */
const enterpriseKeys = [0x60, 0x61]

interface BodyContext {
  readonly ledger: AuditedLedger
  /** Of the blocks before this one. */
  readonly table: TransactionTable
  readonly header: AuditedHeader
  /** Plutus data CBOR. */
  readonly headerCbor: Uint8Array
  readonly judge: Sources['judge']
  /** Hash of the bridge's script. */
  readonly bridge: Uint8Array | undefined
  readonly pause: () => Promise<void>
  readonly report: (kind: FindingKind, message: string, more?: Partial<Finding>) => void
}

/** A body that was audited. Nothing is applied yet. */
interface AuditedBody {
  readonly transactionIds: readonly Uint8Array[]
  readonly depositIds: readonly Uint8Array[]
  readonly change: Change
  /** Whether its transactions have the root of the header. */
  readonly hasRoot: boolean
  /** Whether all of it was read. */
  readonly isComplete: boolean
}

/** Broken transactions after which a body is not read further. */
const mostBroken = 100

/** The result for a body that was not read to its end. */
export const unread: AuditedBody = {
  transactionIds: [],
  depositIds: [],
  change: { removed: [], added: [], ...nothingMoved },
  hasRoot: false,
  isComplete: false,
}

/** Derives what the transactions of a body do, and reports what is wrong with them. Total. */
export async function auditBody(body: Uint8Array, context: BodyContext): Promise<AuditedBody> {
  const { header, bridge, pause, report } = context
  const content = readOrReport(body, context)
  if (content === undefined) return unread
  const { transactions: cbors, deposits } = content
  const block = beginBlock(context)
  const feeOutputs: AuditedDeposit[] = []
  for (const deposit of deposits) {
    await pause()
    if (bridge !== undefined && isFeeOutput(deposit, header)) feeOutputs.push(deposit)
    else if (enter(block, deposit, `Deposit ${toHex(deposit.id)}`, block.deposited))
      block.credits.push([toHex(deposit.id), blake2b256(deposit.output)])
  }
  let broken = 0
  for (const cbor of cbors) {
    await pause()
    const transaction = readTransaction(cbor)
    add(block, transaction)
    if (transaction.fault === undefined || ++broken < mostBroken) continue
    report('body', 'The body is not read further, because too many of its transactions are broken', {
      expected: `fewer than ${mostBroken}`,
      found: `${broken} of the first ${block.transactions.length}`,
    })
    return unread
  }
  if (bridge !== undefined) payFees(block, feeOutputs)
  const canonical = encodeBody(content, block.outputs.values())
  if (!equalBytes(canonical, body))
    report(
      'body',
      'The bytes of the body do not follow from its transactions and deposits',
      difference(blake2b256(canonical), blake2b256(body)),
    )
  const chunks = block.chunks.end()
  if (chunks.length > maxChunks)
    report('body', 'The block has too many chunks', {
      expected: `at most ${maxChunks}`,
      found: String(chunks.length),
    })
  const root = await transactionsRootOf({ ...block, chunks, before: context.ledger.get }, pause)
  const other = difference(root, header.transactionsRoot)
  if (other !== undefined)
    report('transactions-root', 'The transactions of the body do not have the root of the header', other)
  if (bridge !== undefined) await compareEvents(block.outputs, context)
  if (other === undefined) await judgeRules(content, block.transactions, context)
  return {
    transactionIds: block.transactions.map(({ id }) => id),
    depositIds: deposits.map(({ id }) => id),
    change: changeOf(block),
    hasRoot: other === undefined,
    isComplete: true,
  }
}

async function compareEvents(
  outputs: ReadonlyMap<string, MapOutput>,
  { header, pause, report }: BodyContext,
): Promise<void> {
  const roots = await eventRootsOf(outputs.values(), pause)
  const deposits = difference(roots.deposits, header.depositsRoot)
  if (deposits !== undefined)
    report('deposits-root', 'The deposits of the body do not have the root of the header', deposits)
  const withdrawals = difference(roots.withdrawals, header.withdrawalsRoot)
  if (withdrawals !== undefined)
    report(
      'withdrawals-root',
      'What leaves through the bridge does not have the root of the header',
      withdrawals,
    )
}

async function judgeRules(
  { transactions, deposits }: ReturnType<typeof contentOfBody>,
  read: readonly AuditedTransaction[],
  { judge, headerCbor, ledger, report }: BodyContext,
): Promise<void> {
  const breach = await judge({ header: headerCbor, transactions, deposits, unspent: ledger.get })
  if (breach === undefined) return
  const { message, position } = breach
  const transaction = position === undefined ? undefined : read[position]
  report(
    'rule',
    message,
    transaction && { transaction: { id: toHex(transaction.id), position: position ?? 0 } },
  )
}

function readOrReport(body: Uint8Array, { bridge, report }: BodyContext) {
  try {
    return contentOfBody(body, bridge !== undefined)
  } catch (error) {
    report('body', `The body cannot be read: ${reasonOf(error)}`)
    return undefined
  }
}

/** Whether a block credits something as its fee output, which comes after its last transaction. */
const isFeeOutput = (
  { id, output }: AuditedDeposit,
  { prevHeaderHash }: Pick<AuditedHeader, 'prevHeaderHash'>,
): boolean => equalBytes(id, blake2b256(concatBytes(prevHeaderHash, output)))

/** Whether an output just pays lovelace to the enterprise address of a key, in the shortest encoding. */
const isPayment = (output: Uint8Array, key: Uint8Array, lovelace: bigint): boolean =>
  enterpriseKeys.some((kind) => {
    const writer = new CborWriter()
      .map(2)
      .uint(0)
      .bytes(Uint8Array.of(kind, ...key))
    return equalBytes(output, writer.uint(1).uint(lovelace).toBytes())
  })

/** A block as far as its deposits and transactions are read. */
const beginBlock = (context: BodyContext) => ({
  ...context,
  transactions: [] as AuditedTransaction[],
  chunks: createChunks(),
  outputs: new Map<string, MapOutput>(),
  /** Positions of transactions by id; 0 for a deposit. */
  positions: new Map<string, number>(),
  paid: new Sum(),
  minted: new Sum(),
  deposited: new Sum(),
  withdrawn: new Sum(),
  credits: [] as (readonly [id: string, hash: Uint8Array])[],
  fees: 0n,
})

type Block = ReturnType<typeof beginBlock>

/** The output that an input stands for; undefined if there is none. */
function spend({ outputs, ledger }: Block, key: string, cbor: Uint8Array, position: number) {
  let output = outputs.get(key)
  if (output === undefined) {
    output = { outref: cbor, created: 0, spent: 0, output: ledger.get(key) }
    outputs.set(key, output)
  }
  if (!isLeft(output)) return undefined
  output.spent = position + 1
  return output.output
}

function isUnspent({ outputs, ledger }: Block, key: string): boolean {
  const output = outputs.get(key)
  if (output === undefined) return ledger.get(key) !== undefined
  return isLeft(output) && output.output !== undefined
}

/** Whether a transaction or deposit of this chain made an output. */
function wasMade({ ledger, positions, table }: Block, key: string): boolean {
  const id = key.slice(0, key.indexOf('#'))
  return ledger.isGenesis(key) || positions.has(id) || table.get(Buffer.from(id, 'hex')) !== 0
}

function make({ outputs, bridge, withdrawn }: Block, transaction: AuditedTransaction, position: number) {
  for (const [index, cbor] of transaction.outputs.entries()) {
    if (index > maxOutputIndex) break
    const { key, cbor: reference } = outref(transaction.id, index)
    const known = outputs.get(key)
    if (known !== undefined && known.created !== 0) continue
    const output = known ?? { outref: reference, created: 0, spent: 0, output: undefined }
    outputs.set(key, output)
    output.created = position + 1
    output.output = cbor
    if (bridge === undefined || !isAtScript(cbor, bridge)) continue
    output.leaves = true
    withdrawn.add(valueOfOutput(cbor))
  }
}

/** Adds an output that no transaction makes. @returns whether it is one, and new */
function enter(block: Block, { id, output }: AuditedDeposit, name: string, sum: Sum): boolean {
  const { key, cbor } = outref(id, 0)
  if (wasMade(block, key)) {
    block.report('deposit', `${name} is credited twice`)
    return false
  }
  try {
    sum.add(valueOfOutput(output))
  } catch (error) {
    block.report('deposit', `${name} is not an output: ${reasonOf(error)}`)
    return false
  }
  block.positions.set(toHex(id), 0)
  block.outputs.set(key, { outref: cbor, created: 0, spent: 0, output, isDeposit: true })
  return true
}

/** The address may be of either network: which one it is, only the judge knows. */
function payFees(block: Block, credited: readonly AuditedDeposit[]): void {
  const { fees, paid, report } = block
  const { operatorVkey } = block.header
  for (const each of credited) enter(block, each, 'The fee output', paid)
  const isRight = credited.every(({ output }) => fees > 0n && isPayment(output, operatorVkey, fees))
  if (isRight && credited.length === (fees === 0n ? 0 : 1)) return
  report('fees', 'The block does not pay its fees to its operator', {
    expected: fees === 0n ? 'no fee output' : `${fees} lovelace for the key ${toHex(operatorVkey)}`,
    found: credited.map(({ output }) => toHex(output)).join(', ') || 'no fee output',
  })
}

function add(block: Block, transaction: AuditedTransaction): void {
  const { table, transactions, positions, report } = block
  const position = transactions.length
  const id = toHex(transaction.id)
  const name = `Transaction ${id}`
  const at = { transaction: { id, position } }
  if (transaction.fault !== undefined)
    report('transaction', `${name} is not a transaction: ${transaction.fault}`, at)
  const [before, inBlock] = [table.get(transaction.id), positions.get(id)]
  if (before !== 0 || inBlock !== undefined)
    report('two-places', `${name} is in the chain twice`, {
      ...at,
      expected: 'one place',
      found: before !== 0 ? `also in block ${before}` : `also at position ${inBlock} of the block`,
    })
  const missing = (key: string, verb: string): void => {
    if (wasMade(block, key)) report('double-spend', `${name} ${verb} ${key}, which is spent`, at)
    else report('unknown-input', `${name} ${verb} ${key}, which does not exist`, at)
  }
  for (const { key } of transaction.referenceInputs) if (!isUnspent(block, key)) missing(key, 'reads')
  const spent: Uint8Array[] = []
  for (const { key, cbor } of transaction.inputs) {
    const output = spend(block, key, cbor, position)
    if (output === undefined) missing(key, 'spends')
    else spent.push(output)
  }
  const isKnown = spent.length === transaction.inputs.length
  const imbalance = isKnown ? imbalanceOf(transaction, spent) : undefined
  if (imbalance !== undefined) report('value', `${name} does not preserve value`, { ...at, ...imbalance })
  make(block, transaction, position)
  positions.set(id, position)
  block.minted.add(transaction.mint)
  block.fees += transaction.fee
  transactions.push(transaction)
  block.chunks.add(transaction)
}

function changeOf(block: Block): Change {
  const { ledger, outputs, fees, paid, minted, deposited, withdrawn, credits } = block
  const removed: Change['removed'][number][] = []
  const added: Change['added'][number][] = []
  for (const [key, each] of outputs) {
    const { outref: reference, output } = each
    const before = ledger.get(key)
    if (before !== undefined && each.spent !== 0) removed.push([key, { outref: reference, output: before }])
    else if (before === undefined && output !== undefined && !isOlder(each) && isLeft(each))
      // A view would keep the whole body.
      added.push([key, { outref: reference, output: output.slice() }])
  }
  return { removed, added, fees, paid, minted, deposited, withdrawn, credits }
}
