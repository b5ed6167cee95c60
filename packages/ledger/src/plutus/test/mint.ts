import { CborWriter } from '@ratatosk/cbor'
import { blake2b224 } from '#crypto'
import type { ProtocolParameters } from '../../parameters/types.js'
import type { EvaluationResult, Evaluator, ExecutionUnits } from '../../rules/script-evaluator.js'
import { decodeTransaction } from '../../transaction/decode.js'
import { outputReferenceKey } from '../../transaction/output-reference.js'
import type { PlutusLanguage, Transaction, TransactionOutput } from '../../transaction/types.js'
import { scriptBytes } from './flat.js'

const languages = {
  PlutusV1: { tag: 1, witnessKey: 3 },
  PlutusV2: { tag: 2, witnessKey: 6 },
  PlutusV3: { tag: 3, witnessKey: 7 },
}

export interface Mint {
  readonly flat: Uint8Array
  readonly language?: PlutusLanguage
  readonly declared?: ExecutionUnits
  /** 0 by default. */
  readonly redeemer?: bigint
  /** Whether the body is a map of indefinite length. */
  readonly indefinite?: boolean
}

/** A transaction that mints one token with a script as its policy, and the output that it spends. */
export function mintTransaction(mint: Mint): {
  transaction: Transaction
  utxos: Map<string, TransactionOutput>
} {
  const { language = 'PlutusV3', declared = { memory: 14_000_000n, steps: 10_000_000_000n } } = mint
  const { tag, witnessKey } = languages[language]
  const script = scriptBytes(mint.flat)
  const policy = blake2b224(Uint8Array.of(tag, ...script))
  const input = { transactionId: new Uint8Array(32).fill(1), index: 0 }
  const output = new CborWriter().map(2).uint(0).bytes(testAddress).uint(1).uint(5_000_000).toBytes()

  const body = new CborWriter()
  if (mint.indefinite === true) body.indefiniteMap()
  else body.map(4)
  body.uint(0).array(1).array(2).bytes(input.transactionId).uint(input.index)
  body.uint(1).array(1).raw(output)
  body.uint(2).uint(200_000)
  body.uint(9).map(1).bytes(policy).map(1).bytes(new Uint8Array()).uint(1)
  if (mint.indefinite === true) body.break()

  const witnesses = new CborWriter(script.length + 64).map(2).uint(witnessKey).array(1).bytes(script)
  witnesses.uint(5).map(1).array(2).uint(1).uint(0)
  witnesses
    .array(2)
    .int(mint.redeemer ?? 0n)
    .array(2)
    .uint(declared.memory)
    .uint(declared.steps)

  const bytes = new CborWriter(script.length + 512)
    .array(4)
    .raw(body.toBytes())
    .raw(witnesses.toBytes())
    .boolean(true)
    .null()
    .toBytes()
  const transaction = decodeTransaction(bytes)
  const [spent] = transaction.body.outputs
  if (spent === undefined) throw new Error('The transaction has an output')
  return { transaction, utxos: new Map([[outputReferenceKey(input), spent]]) }
}

/** A key hash's address on a test network. */
const testAddress = Uint8Array.of(0x60, ...new Uint8Array(28).fill(7))

/** Evaluates such a transaction; a slot lasts a second. */
export function evaluateMint(
  evaluator: Evaluator,
  mint: Mint,
  parameters: ProtocolParameters,
): Promise<EvaluationResult> {
  const { transaction, utxos } = mintTransaction(mint)
  return evaluator.evaluate(transaction, utxos, parameters, { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 })
}
