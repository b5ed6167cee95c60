import { CborWriter, concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  effects,
  outputReferenceKey,
  type ProtocolParameters,
  type TransactionOutput,
} from '@ratatosk/ledger'
import { createAccounts } from './accounts.js'
import type { ChainRules, LedgerView } from './rules.js'
import type { DevnetTransaction } from './types.js'

/**
 * The pending transactions in order of acceptance, and the ledger after applying them.
 *
 * @param confirmed the ledger of the confirmed chain
 */
export function createMempool(confirmed: LedgerView, keyDeposit: bigint) {
  const pending = new Map<string, DevnetTransaction>()
  const spent = new Set<string>()
  const produced = new Map<string, TransactionOutput>()
  let accounts = createAccounts(keyDeposit, confirmed)

  function add(chainTransaction: DevnetTransaction): void {
    const change = effects(chainTransaction.transaction)
    for (const reference of change.spent) {
      const key = outputReferenceKey(reference)
      spent.add(key)
      produced.delete(key)
    }
    for (const { reference, output } of change.produced) produced.set(outputReferenceKey(reference), output)
    pending.set(chainTransaction.hash, chainTransaction)
    accounts.apply(chainTransaction.transaction)
  }

  return {
    get: (key: string) => (spent.has(key) ? undefined : (produced.get(key) ?? confirmed.get(key))),
    deposit: (credential: string) => accounts.deposit(credential),
    has: (hash: string) => pending.has(hash),
    transaction: (hash: string) => pending.get(hash),
    transactions: () => [...pending.values()],
    add,
    /** Replaces the contents. */
    reset(transactions: Iterable<DevnetTransaction>): void {
      pending.clear()
      spent.clear()
      produced.clear()
      accounts = createAccounts(keyDeposit, confirmed)
      for (const transaction of transactions) add(transaction)
    },
  }
}

interface BlockContents {
  readonly included: readonly DevnetTransaction[]
  /** Valid transactions left for a later block. */
  readonly remaining: readonly DevnetTransaction[]
  /** Transactions that are no longer valid: their validity interval ended, or an input is gone. */
  readonly dropped: readonly DevnetTransaction[]
}

/** Validates mempool transactions again, in order, on top of the confirmed ledger at a slot. */
export function revalidateAll(
  transactions: Iterable<DevnetTransaction>,
  confirmed: LedgerView,
  rules: ChainRules,
  slot: bigint,
): { readonly kept: readonly DevnetTransaction[]; readonly dropped: readonly DevnetTransaction[] } {
  const view = createMempool(confirmed, rules.parameters.keyDeposit)
  const dropped: DevnetTransaction[] = []
  for (const transaction of transactions) {
    if (rules.revalidate(transaction.transaction, view, slot).length > 0) dropped.push(transaction)
    else view.add(transaction)
  }
  return { kept: view.transactions(), dropped }
}

/** Selects the oldest transactions that fit a block's limits; skips none, so chained ones stay in order. */
export function fillBlock(
  transactions: Iterable<DevnetTransaction>,
  confirmed: LedgerView,
  rules: ChainRules,
  slot: bigint,
  maxBlockSize: number,
): BlockContents {
  const { kept, dropped } = revalidateAll(transactions, confirmed, rules, slot)
  const count = countFitting(kept, maxBlockSize, rules.parameters.maxBlockExecutionUnits)
  return { included: kept.slice(0, count), remaining: kept.slice(count), dropped }
}

function countFitting(
  transactions: readonly DevnetTransaction[],
  maxBlockSize: number,
  { memory, steps }: ProtocolParameters['maxBlockExecutionUnits'],
): number {
  let size = 0
  const used = { memory: 0n, steps: 0n }
  let count = 0
  for (const { transaction } of transactions) {
    size += transaction.bytes.length
    for (const { executionUnits } of transaction.witnesses.redeemers) {
      used.memory += executionUnits.memory
      used.steps += executionUnits.steps
    }
    if (size > maxBlockSize || used.memory > memory || used.steps > steps) break
    count++
  }
  return count
}

/**
 * The hash of a block: Blake2b-256 of `[height, slot, previous, Blake2b-256 of all transactions]`. Without a
 * block header, it still commits to the whole chain before the block.
 */
export function blockHash(
  height: number,
  slot: bigint,
  previous: string,
  transactions: readonly Uint8Array[],
): string {
  const header = new CborWriter()
    .array(4)
    .uint(height)
    .uint(slot)
    .bytes(fromHex(previous))
    .bytes(blake2b256(concatBytes(...transactions)))
  return toHex(blake2b256(header.toBytes()))
}
