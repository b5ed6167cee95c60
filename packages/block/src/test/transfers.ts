import { CborWriter } from '@ratatosk/cbor'
import { blake2b224, blake2b256, type OutputReference } from '@ratatosk/ledger'
import sodium from 'sodium-native'

/** A key with an enterprise address on a test network. */
export interface TestKey {
  readonly publicKey: Uint8Array
  readonly address: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

/** A transaction with its id. */
export interface SignedTransfer {
  readonly id: Uint8Array
  readonly cbor: Uint8Array
}

export function keyOf(seed: number): TestKey {
  const publicKey = Buffer.alloc(sodium.crypto_sign_PUBLICKEYBYTES)
  const secretKey = Buffer.alloc(sodium.crypto_sign_SECRETKEYBYTES)
  sodium.crypto_sign_seed_keypair(publicKey, secretKey, Buffer.alloc(32, seed))
  return {
    publicKey,
    address: Uint8Array.of(0x60, ...blake2b224(publicKey)),
    sign(message) {
      const signature = Buffer.alloc(sodium.crypto_sign_BYTES)
      sodium.crypto_sign_detached(signature, Buffer.from(message), secretKey)
      return signature
    },
  }
}

/** A transfer of a key to itself, signed by it. */
export function transfer(
  key: TestKey,
  inputs: readonly OutputReference[],
  lovelace: readonly bigint[],
): SignedTransfer {
  const body = new CborWriter().map(3).uint(0).tag(258).array(inputs.length)
  for (const { transactionId, index } of inputs) body.array(2).bytes(transactionId).uint(index)
  body.uint(1).array(lovelace.length)
  for (const amount of lovelace) body.raw(outputOf(key, amount))
  body.uint(2).uint(0)
  const id = blake2b256(body.toBytes())
  const cbor = new CborWriter().array(4).raw(body.toBytes())
  cbor.map(1).uint(0).tag(258).array(1).array(2).bytes(key.publicKey).bytes(key.sign(id))
  return { id, cbor: cbor.boolean(true).null().toBytes() }
}

export function outputOf({ address }: TestKey, lovelace: bigint): Uint8Array {
  return new CborWriter().map(2).uint(0).bytes(address).uint(1).uint(lovelace).toBytes()
}
