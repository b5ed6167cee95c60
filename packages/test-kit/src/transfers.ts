import { toHex } from '@ratatosk/cbor'
import { outputOf, type TestKey, type TransferFields, transfer } from '@ratatosk/fixtures'
import {
  type AppliedTransaction,
  appliedTransaction,
  blake2b256,
  decodeTransaction,
  type OutputReference,
} from '@ratatosk/ledger'

/** A signed transaction. */
export interface SignedTransaction {
  /** Transaction id in hex. */
  readonly id: string
  readonly cbor: Uint8Array
}

/** A transfer to build: each output is lovelace for the signing key, or the CBOR of any output. */
export interface Transfer extends TransferFields {
  readonly inputs: readonly OutputReference[]
  readonly outputs: readonly (bigint | Uint8Array)[]
}

/** Builds and signs a transfer from a key to the same key. */
export function signed(key: TestKey, { inputs, outputs, ...fields }: Transfer): SignedTransaction {
  const { id, cbor } = transfer(key, inputs, outputs, fields)
  return { id: toHex(id), cbor }
}

/** An output of a ledger. */
export interface LedgerEntry {
  readonly reference: OutputReference
  readonly output: Uint8Array
  readonly address: Uint8Array
}

/** Genesis outputs of a key, each of `lovelace`. */
export function fundsOf(key: TestKey, count: number, lovelace: bigint): LedgerEntry[] {
  return Array.from({ length: count }, (_, n) => ({
    reference: { transactionId: blake2b256(Buffer.from(`${toHex(key.publicKey)} ${n}`)), index: 0 },
    output: outputOf(key, lovelace),
    address: key.address,
  }))
}

/** A transaction with its effect on the ledger, as validation hands it to the store. Nothing is validated. */
export const acceptedOf = (cbor: Uint8Array): AppliedTransaction =>
  appliedTransaction(decodeTransaction(cbor))

/** The reference of an output of a transaction. */
export function outputsOf({ id }: SignedTransaction, index = 0): OutputReference {
  return { transactionId: Buffer.from(id, 'hex'), index }
}

/** `length` transfers, each of which spends the output of the previous one. */
export function chain(
  key: TestKey,
  first: OutputReference,
  lovelace: bigint,
  length: number,
): SignedTransaction[] {
  const transactions: SignedTransaction[] = []
  let input = first
  for (let n = 0; n < length; n++) {
    const transaction = signed(key, { inputs: [input], outputs: [lovelace] })
    transactions.push(transaction)
    input = outputsOf(transaction)
  }
  return transactions
}
