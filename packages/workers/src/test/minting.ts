import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeTransaction,
  type OutputReference,
  type ProtocolParameters,
  scriptHash,
  scriptIntegrityHash,
} from '@ratatosk/ledger'
import type { SignedTransaction, TestKey } from '@ratatosk/test-kit'

/** An always-true Plutus V3 script: CBOR of `(program 1.1.0 (lam context (con unit ())))`. */
const policy = fromHex('450101002499')

/** Any cost model will do, because no engine runs. */
export function withCostModel(parameters: ProtocolParameters): ProtocolParameters {
  return { ...parameters, costModels: { PlutusV3: Array.from({ length: 297 }, () => 1n) } }
}

export interface Minting {
  readonly input: OutputReference
  /** Lovelace of the input; 1 ada of it is the fee. */
  readonly lovelace: bigint
  readonly tokens: number
  readonly collateral: OutputReference
  /** Lovelace; transactions with different fees have different ids. @defaultValue 1,000,000 */
  readonly fee?: bigint
  /** Declared by the redeemer. @defaultValue 1000 */
  readonly steps?: number
  readonly invalidHereafter?: bigint
}

/** A transaction that mints one token under a Plutus policy and pays everything to the key itself. */
export function minting(
  key: TestKey,
  { input, lovelace, tokens, collateral, fee = 1_000_000n, steps = 1000, invalidHereafter }: Minting,
  parameters: ProtocolParameters,
): SignedTransaction {
  const policyId = scriptHash('PlutusV3', policy)
  const assets = (quantity: number) =>
    new CborWriter().map(1).bytes(policyId).map(1).bytes(Buffer.from('nut')).uint(quantity).toBytes()
  const outputs = new CborWriter().array(1).map(2).uint(0).bytes(key.address)
  outputs
    .uint(1)
    .array(2)
    .uint(lovelace - fee)
    .raw(assets(tokens + 1))
  // { [mint, 0]: [unit, [1000 memory, 1000 steps]] }
  const redeemers = new CborWriter().map(1).array(2).uint(1).uint(0).array(2).raw(fromHex('d87980'))
  redeemers.array(2).uint(1000).uint(steps)

  const assemble = (integrity: Uint8Array) => {
    const body = new CborWriter().map(invalidHereafter === undefined ? 6 : 7)
    body.uint(0).raw(references(input)).uint(1).raw(outputs.toBytes()).uint(2).uint(fee)
    if (invalidHereafter !== undefined) body.uint(3).uint(invalidHereafter)
    body.uint(9).raw(assets(1)).uint(11).bytes(integrity).uint(13).raw(references(collateral))
    const id = blake2b256(body.toBytes())
    const witnesses = new CborWriter().map(3)
    witnesses.uint(0).tag(258).array(1).array(2).bytes(key.publicKey).bytes(key.sign(id))
    witnesses.uint(5).raw(redeemers.toBytes()).uint(7).tag(258).array(1).bytes(policy)
    const cbor = new CborWriter().array(4).raw(body.toBytes()).raw(witnesses.toBytes()).boolean(true).null()
    return { id: toHex(id), cbor: cbor.toBytes() }
  }
  const draft = decodeTransaction(assemble(new Uint8Array(32)).cbor)
  const integrity = scriptIntegrityHash(draft, new Set(['PlutusV3']), parameters)
  if (integrity === undefined) throw new Error('no scripts')
  return assemble(integrity)
}

function references({ transactionId, index }: OutputReference): Uint8Array {
  return new CborWriter().tag(258).array(1).array(2).bytes(transactionId).uint(index).toBytes()
}
