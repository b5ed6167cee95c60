import { CborWriter } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeTransaction,
  decodeTransactionOutput,
  minimumFee,
  outputReferenceKey,
  scriptIntegrityHash,
  type TransactionOutput,
} from '@ratatosk/ledger'
import { type Evaluate, layer1Parameters as parameters } from './evaluate.js'
import type { TestKey } from './keys.js'
import {
  encodeBody,
  encodeOutput,
  encodeTransaction,
  type Finish,
  type TestInput,
  type TestTransaction,
} from './transaction.js'
import { administrator, operator, otherOperator } from './world.js'

/** The operator owns the wallet; the others sign only if they are signatories. */
const keys: readonly TestKey[] = [administrator, operator, otherOperator]

/** A complete, signed transaction with the outputs that it refers to. */
export interface Complete {
  readonly bytes: Uint8Array
  readonly utxos: ReadonlyMap<string, TransactionOutput>
  readonly fee: bigint
  readonly units: { readonly memory: bigint; readonly steps: bigint }
}

const collateral: TestInput = {
  id: 249,
  output: { address: Uint8Array.of(0x60, ...operator.hash), lovelace: 10_000_000n },
}

/** Sets the execution units, takes the fee from the last output, adds collateral, signs (cosigners too). */
export function complete(
  draft: TestTransaction,
  evaluate: Evaluate,
  cosigners: readonly TestKey[] = [],
): Complete {
  const evaluation = evaluate(draft)
  if (!evaluation.ok) throw new Error(evaluation.message)
  let fee = 0n
  for (;;) {
    const transaction = withChange(draft, fee)
    const finish = { fee, units: evaluation.units, collateral: [collateral] }
    const bytes = finished(transaction, finish, cosigners)
    const scripts = draft.referenceInputs.reduce(
      (sum, { output }) => sum + (output.script?.bytes.length ?? 0),
      0,
    )
    const least = minimumFee(decodeTransaction(bytes), parameters, scripts)
    if (least <= fee) return { bytes, fee, units: sum(evaluation.units), utxos: utxosOf(transaction) }
    fee = least
  }
}

function finished(transaction: TestTransaction, finish: Finish, cosigners: readonly TestKey[]): Uint8Array {
  const unsigned = decodeTransaction(encodeTransaction(transaction, finish))
  const scriptDataHash = scriptIntegrityHash(unsigned, new Set(['PlutusV3']), parameters)
  if (scriptDataHash === undefined) throw new Error('a transaction without scripts')
  const body = encodeBody(transaction, { ...finish, scriptDataHash })
  const id = blake2b256(body)
  const signing = keys.filter(
    (key) => key === operator || transaction.signatories.includes(key.hash) || cosigners.includes(key),
  )
  const writer = new CborWriter().tag(258).array(signing.length)
  for (const key of signing) writer.array(2).bytes(key.publicKey).bytes(key.sign(id))
  return encodeTransaction(transaction, { ...finish, scriptDataHash, keyWitnesses: writer.toBytes() })
}

/** Pays the rest of the ada to the last output. */
function withChange(draft: TestTransaction, fee: bigint): TestTransaction {
  const spent = draft.inputs.reduce((total, { output }) => total + output.lovelace, 0n)
  const others = draft.outputs.slice(0, -1)
  const paid = others.reduce((total, { lovelace }) => total + lovelace, fee)
  return { ...draft, outputs: [...others, { ...draft.outputs.at(-1)!, lovelace: spent - paid }] }
}

function utxosOf({ inputs, referenceInputs }: TestTransaction): Map<string, TransactionOutput> {
  return new Map(
    [...inputs, ...referenceInputs, collateral].map(({ id, output }) => [
      outputReferenceKey({ transactionId: new Uint8Array(32).fill(id), index: 0 }),
      decodeTransactionOutput(encodeOutput(output)),
    ]),
  )
}

const sum = (units: readonly { memory: bigint; steps: bigint }[]) => ({
  memory: units.reduce((total, { memory }) => total + memory, 0n),
  steps: units.reduce((total, { steps }) => total + steps, 0n),
})
