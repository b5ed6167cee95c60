import { BytesMap, type BytesSet } from '@ratatosk/cbor'
import { decodeBlockDatum } from '@ratatosk/contracts'
import { decodeTransaction, effects, type Transaction, type Utxo } from '@ratatosk/ledger'
import {
  administratorAddress,
  type BlockElement,
  type Contracts,
  type RegistryElement,
  type RootElement,
  readRegistry,
  readStateQueue,
  referenceScriptsOf,
  type StateQueue,
  tokenOfBlock,
} from '@ratatosk/protocol'
import type { Block, Layer1Transaction } from '@ratatosk/store'
import type { SequencerContext } from '../context.js'
import { brokenQueue, notInitialised } from '../errors.js'

type Reading = Pick<SequencerContext, 'layer1' | 'contracts' | 'signal'>

/** Reads the whole state queue at one moment. @throws {SequencerError} when it has no root or is broken */
export async function readQueue({
  layer1,
  contracts,
  signal,
}: Reading): Promise<StateQueue & { readonly root: RootElement }> {
  const { policy } = contracts.scripts.queue
  const queue = readStateQueue(contracts, await layer1.utxosByPolicy(policy, { signal }))
  const [root] = queue.roots
  if (root === undefined) throw notInitialised()
  if (queue.fault) throw brokenQueue(queue.fault.message)
  return { ...queue, root }
}

/** The number of unconfirmed blocks in the queue. Each commit spends the last: one read mostly suffices. */
export async function countArrived(context: Reading, unconfirmed: readonly Block[]): Promise<number> {
  const newest = unconfirmed.at(-1)
  if (newest === undefined) return 0
  if ((await readElement(context, newest)) !== undefined) return unconfirmed.length
  for (const [index, block] of unconfirmed.slice(0, -1).entries()) {
    if ((await readElement(context, block)) === undefined) return index
  }
  return unconfirmed.length - 1
}

/** A block's element in the queue; undefined if it is not there. */
export async function readElement(
  { layer1, contracts, signal }: Reading,
  { headerHash }: Block,
): Promise<BlockElement | undefined> {
  const unit = contracts.scripts.queue.policy + tokenOfBlock(headerHash)
  const [utxo] = await layer1.utxosByUnit(unit, { signal })
  if (utxo?.output.datum.kind !== 'inline') return undefined
  return { utxo, headerHash, datum: decodeBlockDatum(utxo.output.datum.data) }
}

/** Reads the operator registry; undefined if layer 1 has none. */
export async function findRegistry({
  layer1,
  contracts,
  signal,
}: Reading): Promise<RegistryElement | undefined> {
  const { unit } = contracts.scripts.registry
  return readRegistry(contracts, await layer1.utxosByUnit(unit, { signal }))
}

/** The reference scripts at the administrator's address. */
export async function readReferenceScripts(context: SequencerContext): Promise<readonly Utxo[]> {
  const { layer1, contracts, cache, signal } = context
  cache.referenceScripts ??= referenceScriptsOf(
    contracts,
    await layer1.utxosAt(administratorAddress(contracts), { signal }),
  )
  return cache.referenceScripts
}

/** A stored layer-1 transaction of this sequencer whose effect layer 1 has not shown yet. */
export interface PendingTransaction {
  readonly kind: 'commit' | 'merge'
  readonly block: Block
  readonly id: Uint8Array
  readonly bytes: Uint8Array
  readonly transaction: Transaction
  readonly produced: readonly Utxo[]
}

export function pendingTransaction(
  kind: PendingTransaction['kind'],
  block: Block,
  { id, cbor }: Layer1Transaction,
): PendingTransaction {
  const transaction = decodeTransaction(cbor)
  return { kind, block, id, bytes: cbor, transaction, produced: effects(transaction).produced }
}

/** Pending transactions of blocks, each after those whose outputs it spends, reads or has as collateral. */
export function pendingTransactions(
  unconfirmed: readonly Block[],
  oldestUnmerged: readonly Block[],
  deadMerges: BytesSet,
): readonly PendingTransaction[] {
  const commits = unconfirmed.flatMap((block) =>
    block.commitTransaction ? [pendingTransaction('commit', block, block.commitTransaction)] : [],
  )
  const merges = oldestUnmerged.flatMap((block) =>
    block.mergeTransaction && block.state === 'mature'
      ? [pendingTransaction('merge', block, block.mergeTransaction)]
      : [],
  )
  const byId = new BytesMap([...commits, ...merges].map((pending) => [pending.id, pending] as const))
  for (const id of deadMerges) byId.delete(id)
  const sorted = new Set<PendingTransaction>()
  const place = (pending: PendingTransaction): void => {
    const { inputs, referenceInputs, collateralInputs } = pending.transaction.body
    for (const { transactionId } of [...inputs, ...referenceInputs, ...collateralInputs]) {
      const parent = byId.get(transactionId)
      if (parent !== undefined && !sorted.has(parent)) place(parent)
    }
    sorted.add(pending)
  }
  for (const pending of byId.values()) place(pending)
  return [...sorted]
}

/** The root of the queue after all pending transactions are included. */
export function rootAfter(
  contracts: Contracts,
  pending: readonly PendingTransaction[],
  present: RootElement,
): RootElement {
  for (const { produced } of [...pending].reverse()) {
    const [root] = readStateQueue(contracts, produced).roots
    if (root !== undefined) return root
  }
  return present
}

/** A block's element by its own commit or the next one; undefined if that one is another operator's. */
export function elementOf(
  { scripts: { queue } }: Contracts,
  block: Block,
  next: Block | undefined,
): BlockElement | undefined {
  const { commitTransaction } = next ?? block
  if (commitTransaction === undefined) return undefined
  const { produced } = pendingTransaction('commit', block, commitTransaction)
  const name = tokenOfBlock(block.headerHash)
  const utxo = produced.find(({ output }) => output.value.assets.get(queue.policy)?.has(name))
  if (utxo?.output.datum.kind !== 'inline')
    throw new Error(`The transaction that commits block ${block.height} has no element of it`)
  return { utxo, headerHash: block.headerHash, datum: decodeBlockDatum(utxo.output.datum.data) }
}
