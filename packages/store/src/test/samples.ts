import { createHash } from 'node:crypto'
import { blockVersion, encodedHeader } from '@ratatosk/block'
import type { OutputReference } from '@ratatosk/ledger'
import type {
  Block,
  BlockHeader,
  CreditedDeposit,
  ExaminedTransaction,
  ForeignBlock,
  NewBlock,
} from '../blocks/types.js'
import type { Lease } from '../leases/leases.js'
import type { AppliedTransaction, LedgerEntry } from '../ledger/ledger.js'
import type { NewRejection } from '../rejections/types.js'
import type { Store } from '../store.js'
import type { NewVerdict } from '../verdicts/verdicts.js'

/** 32 bytes that differ for each name. */
export function idOf(name: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(name).digest())
}

export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

export function bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text))
}

export interface Wallet {
  readonly address: Uint8Array
}

/** An enterprise address. */
export function walletOf(name: string): Wallet {
  return { address: Uint8Array.of(0x60, ...idOf(name).slice(0, 28)) }
}

/** A transaction with unique bytes that pays each of `wallets` one output. */
export function transaction(
  name: string,
  spent: readonly OutputReference[],
  wallets: readonly Wallet[],
): AppliedTransaction {
  const id = idOf(name)
  const produced = wallets.map((wallet, index) => entry({ transactionId: id, index }, wallet))
  return { id, cbor: bytes(`transaction ${name}`), spent, produced }
}

export function entry(reference: OutputReference, wallet: Wallet): LedgerEntry {
  const name = `output ${hex(reference.transactionId)}#${reference.index}`
  return { reference, output: bytes(name), ...wallet }
}

/** The `index`th output of the transaction named `name`. */
export function outputOf(name: string, index = 0): OutputReference {
  return { transactionId: idOf(name), index }
}

/** 28 bytes that differ for each name. */
export function headerHashOf(name: string): Uint8Array {
  return idOf(name).slice(0, 28)
}

export async function takeLease(store: Store, name = 'sequencer'): Promise<Lease> {
  const lease = await store.leases.acquire(name, 'a test', 3_600_000)
  if (lease === undefined) throw new Error(`The lease ${name} is held`)
  return lease
}

/** A unique header, which follows the newest block. */
async function nextHeader({ blocks }: Store, name: string): Promise<BlockHeader> {
  const newest = await blocks.newest()
  const startTime = newest?.endTime ?? 1_000n
  return {
    headerHash: headerHashOf(name),
    header: bytes(`header of ${name}`),
    previousHeaderHash: newest?.headerHash ?? new Uint8Array(28),
    utxosRoot: idOf(`root after ${name}`),
    startTime,
    endTime: startTime + 60_000n,
  }
}

/** A block of the oldest `limit` transactions of the mempool, with a unique header. */
export async function newBlock(store: Store, name: string, limit: number): Promise<NewBlock> {
  const oldest = await store.blocks.oldest(limit)
  return {
    ...(await nextHeader(store, name)),
    firstSequence: oldest.at(0)?.sequence ?? 0n,
    lastSequence: oldest.at(-1)?.sequence ?? 0n,
    transactions: oldest.length,
    commitTransaction: { id: idOf(`commit ${name}`), cbor: bytes(`commit ${name}`) },
  }
}

export async function buildBlock(store: Store, lease: Lease, name: string, limit: number): Promise<Block> {
  return store.blocks.build(await newBlock(store, name, limit), lease)
}

export const verdictOperator = new Uint8Array(28).fill(9)

/** A block that breaks a rule. */
export function verdictOf(height: number, position?: number): NewVerdict {
  const { bytes, hash } = encodedHeader({
    prevUtxosRoot: idOf('before'),
    utxosRoot: idOf(`after ${height}`),
    transactionsRoot: idOf('transactions'),
    depositsRoot: new Uint8Array(32),
    withdrawalsRoot: new Uint8Array(32),
    startTime: 0n,
    endTime: 1n,
    prevHeaderHash: new Uint8Array(28),
    operatorVkey: verdictOperator,
    blockVersion,
  })
  return {
    headerHash: hash,
    height: BigInt(height),
    header: bytes,
    reason: `breaks rule ${height}`,
    commitId: idOf(`commit ${height}`),
    ...(position !== undefined && { position }),
  }
}

/** Knows what made-up transactions do, by their bytes. */
export function createExaminer() {
  const known = new Map<string, ExaminedTransaction>()
  return {
    /** @param read what the transaction names beside what it spends */
    learn(made: AppliedTransaction, ...read: readonly OutputReference[]): AppliedTransaction {
      known.set(hex(made.cbor), { ...made, named: [...made.spent, ...read] })
      return made
    },
    examine(cbor: Uint8Array): ExaminedTransaction {
      const found = known.get(hex(cbor))
      if (found === undefined) throw new Error('The test has not made this transaction')
      return found
    },
  }
}

/** A block named `name` of another operator, which follows the newest one. */
export async function foreignBlock(
  store: Store,
  name: string,
  transactions: readonly AppliedTransaction[],
): Promise<ForeignBlock> {
  return { ...(await nextHeader(store, name)), transactions }
}

/** A deposit of layer 1 for a wallet. */
export function deposit(name: string, wallet: Wallet): CreditedDeposit {
  const id = idOf(name)
  const { output, address } = entry({ transactionId: id, index: 0 }, wallet)
  return { id, output, address }
}

/** The output that a deposit becomes. */
export const creditedOutput = ({ id, output, address }: CreditedDeposit): LedgerEntry => ({
  reference: { transactionId: id, index: 0 },
  output,
  address,
})

/** A rejection of bytes of its own, unless `changes` has others. */
export function newRejection(submissionId: string, changes: Partial<NewRejection> = {}): NewRejection {
  return {
    submissionId,
    transactionId: idOf(submissionId),
    cbor: bytes(`submission ${submissionId}`),
    attempts: 1,
    code: 'FeeTooSmallUTxO',
    message: 'The fee is 1 lovelace, at least 155381 are required.',
    details: { required: '155381', given: '1' },
    submittedAt: new Date('2026-03-04T05:06:07.891Z'),
    ...changes,
  }
}
