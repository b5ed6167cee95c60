import { CborWriter, concatBytes, fromHex } from '@ratatosk/cbor'
import { encodeOutputReference } from '@ratatosk/ledger'
import { otherKeys } from '../../../protocol/dist/test/protocol-scene.js'

export const addressOfThief = concatBytes(Uint8Array.of(0x60), otherKeys.payment.hash)

/** The reference of an output of 5 ada before the blocks. */
export const coin = (index: number) =>
  encodeOutputReference({ transactionId: new Uint8Array(32).fill(0xaa), index })

export interface Theft {
  readonly witnesses?: Uint8Array
  /** Entries of the body before the others. */
  readonly before?: readonly Uint8Array[]
  readonly inputs?: readonly number[]
  readonly lovelace?: bigint
  /** How many outputs of so much. */
  readonly outputs?: number
  /** What is behind the witness set. */
  readonly rest?: Uint8Array
}

/** Spends outputs of 5 ada of another owner, and pays the thief. */
export function theft({
  witnesses = fromHex('a0'),
  before = [],
  inputs = [30],
  lovelace = 4_500_000n,
  outputs = 1,
  rest = fromHex('f5f6'),
}: Theft): Uint8Array {
  const writer = new CborWriter(8192)
    .array(4)
    .map(3 + before.length)
    .raw(concatBytes(...before))
  writer.uint(0).array(inputs.length)
  for (const index of inputs) writer.raw(coin(index))
  writer.uint(1).array(outputs)
  for (let i = 0; i < outputs; i++) writer.map(2).uint(0).bytes(addressOfThief).uint(1).uint(lovelace)
  return writer.uint(2).uint(500_000n).raw(witnesses).raw(rest).toBytes()
}
