// A part of its own: the decoder of the ledger is larger than most pages.
import { toHex } from '@ratatosk/cbor'
import { decodeBech32Address, decodeTransactionOutput, encodeBech32Address } from '@ratatosk/ledger'
import type { UnitAmount } from './ledger.js'

/** An output, as pages show it. */
export interface ReadOutput {
  /** Bech32, or hex of an address of the Byron era. */
  readonly address: string
  /** Lovelace first. */
  readonly amounts: readonly UnitAmount[]
}

/** Reads the CBOR of an output. */
export function readOutput(cbor: Uint8Array): ReadOutput {
  const { address, value } = decodeTransactionOutput(cbor)
  const amounts = [{ unit: 'lovelace', quantity: String(value.lovelace) }]
  for (const [policy, names] of value.assets)
    for (const [name, quantity] of names) amounts.push({ unit: policy + name, quantity: String(quantity) })
  return { address: address.kind === 'byron' ? toHex(address.bytes) : encodeBech32Address(address), amounts }
}

/** The bytes of a bech32 address, in hex. */
export const addressHex = (text: string): string => toHex(decodeBech32Address(text).bytes)
