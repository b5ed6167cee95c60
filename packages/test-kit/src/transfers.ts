import { CborWriter, toHex } from '@ratatosk/cbor'
import {
  blake2b224,
  blake2b256,
  decodeTransaction,
  effects,
  keyAddress,
  type OutputReference,
} from '@ratatosk/ledger'
import sodium from 'sodium-native'

/** A signed transaction. */
export interface SignedTransaction {
  /** Transaction id in hex. */
  readonly id: string
  readonly cbor: Uint8Array
}

/** A key with an enterprise address on a test network. */
export interface TestKey {
  readonly publicKey: Uint8Array
  readonly address: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

/** The key that is derived from a seed; equal seeds give equal keys. */
export function keyOf(seed: number): TestKey {
  const publicKey = Buffer.alloc(sodium.crypto_sign_PUBLICKEYBYTES)
  const secretKey = Buffer.alloc(sodium.crypto_sign_SECRETKEYBYTES)
  sodium.crypto_sign_seed_keypair(publicKey, secretKey, Buffer.alloc(32, seed))
  return {
    publicKey,
    address: keyAddress(blake2b224(publicKey), 0).bytes,
    sign(message) {
      const signature = Buffer.alloc(sodium.crypto_sign_BYTES)
      sodium.crypto_sign_detached(signature, Buffer.from(message), secretKey)
      return signature
    },
  }
}

/** A transfer to build. */
export interface Transfer {
  readonly inputs: readonly OutputReference[]
  readonly referenceInputs?: readonly OutputReference[]
  /** Lovelace of each output; every output pays the signing key. */
  readonly outputs: readonly bigint[]
  readonly fee?: bigint
  /** Keys that sign besides the signing key. */
  readonly cosigners?: readonly TestKey[]
  /** Slots. */
  readonly invalidBefore?: bigint
  readonly invalidHereafter?: bigint
}

/** Builds and signs a transfer from a key to the same key. */
export function signed(key: TestKey, transfer: Transfer): SignedTransaction {
  const { inputs, referenceInputs, outputs, fee = 0n, cosigners = [] } = transfer
  const { invalidBefore, invalidHereafter } = transfer
  const optional = [invalidBefore, invalidHereafter, referenceInputs].filter((part) => part !== undefined)
  const body = new CborWriter().map(3 + optional.length)
  body.uint(0)
  writeReferences(body, inputs)
  body.uint(1).array(outputs.length)
  for (const lovelace of outputs) body.raw(outputOf(key, lovelace))
  body.uint(2).uint(fee)
  if (invalidHereafter !== undefined) body.uint(3).uint(invalidHereafter)
  if (invalidBefore !== undefined) body.uint(8).uint(invalidBefore)
  if (referenceInputs !== undefined) writeReferences(body.uint(18), referenceInputs)
  const id = blake2b256(body.toBytes())
  const cbor = new CborWriter().array(4).raw(body.toBytes())
  cbor
    .map(1)
    .uint(0)
    .tag(258)
    .array(1 + cosigners.length)
  for (const signer of [key, ...cosigners]) cbor.array(2).bytes(signer.publicKey).bytes(signer.sign(id))
  return { id: toHex(id), cbor: cbor.boolean(true).null().toBytes() }
}

function writeReferences(writer: CborWriter, references: readonly OutputReference[]): void {
  writer.tag(258).array(references.length)
  for (const { transactionId, index } of references) writer.array(2).bytes(transactionId).uint(index)
}

/** CBOR of an output that pays a key. */
export function outputOf({ address }: TestKey, lovelace: bigint): Uint8Array {
  return new CborWriter().map(2).uint(0).bytes(address).uint(1).uint(lovelace).toBytes()
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
export function acceptedOf(cbor: Uint8Array) {
  const transaction = decodeTransaction(cbor)
  const { spent, produced } = effects(transaction)
  return {
    id: transaction.id,
    cbor,
    spent,
    produced: produced.map(({ reference, output }) => ({
      reference,
      output: output.bytes,
      address: output.address.bytes,
    })),
  }
}

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
