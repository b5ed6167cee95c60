import { createHash } from 'node:crypto'
import type { OutputReference } from '@ratatosk/ledger'
import type { AppliedTransaction, LedgerEntry } from '../ledger/types.js'

/** 32 bytes that differ for each name. */
export function idOf(name: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(name).digest())
}

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
  const name = `output ${Buffer.from(reference.transactionId).toString('hex')}#${reference.index}`
  return { reference, output: bytes(name), ...wallet }
}

/** The `index`th output of the transaction named `name`. */
export function outputOf(name: string, index = 0): OutputReference {
  return { transactionId: idOf(name), index }
}
