import type { ProtocolParameters } from '../parameters/types.js'
import { byReference, outputReferenceKey } from '../transaction/output-reference.js'
import type { OutputReference, Transaction, TransactionOutput } from '../transaction/types.js'

/** The state that the rules read, apart from the unspent outputs. */
export interface RuleContext {
  readonly parameters: ProtocolParameters
  /** 0 for test networks, 1 for mainnet. */
  readonly networkId: number
  /** The slot in which the transaction is to be included. */
  readonly slot: bigint
  /**
   * The last slot that can be converted to a time. If absent, every slot can, as on a layer without hard
   * forks.
   */
  readonly forecastHorizon?: bigint
  /** Lovelace in the treasury. If absent, a declared treasury value is not checked. */
  readonly treasury?: bigint
}

/** Looks up unspent outputs by `outputReferenceKey`. A `Map` is a `UtxoView`. */
export interface UtxoView {
  get(key: string): TransactionOutput | undefined
}

export interface ResolvedInput {
  readonly reference: OutputReference
  readonly key: string
  readonly output: TransactionOutput | undefined
}

/**
 * The outputs that a transaction refers to, sorted as in the ledger's sets (transaction id, then index):
 * redeemer pointers count in this order.
 */
export interface Resolution {
  readonly inputs: readonly ResolvedInput[]
  readonly collateral: readonly ResolvedInput[]
  readonly referenceInputs: readonly ResolvedInput[]
  /** The unknown outputs, each once. */
  readonly missing: readonly ResolvedInput[]
}

export function resolve(transaction: Transaction, utxos: UtxoView): Resolution {
  const { body } = transaction
  const inputs = resolveSet(body.inputs, utxos)
  const collateral = resolveSet(body.collateralInputs, utxos)
  const referenceInputs = resolveSet(body.referenceInputs, utxos)
  const missing: ResolvedInput[] = []
  for (const set of [inputs, collateral, referenceInputs]) {
    for (const input of set) {
      if (input.output === undefined && !missing.some(({ key }) => key === input.key)) missing.push(input)
    }
  }
  return { inputs, collateral, referenceInputs, missing }
}

/** The outputs whose scripts a transaction may use: those of its inputs and reference inputs, each once. */
export function* scriptSources(resolution: Resolution): Generator<TransactionOutput> {
  for (const { output } of resolution.inputs) if (output !== undefined) yield output
  for (const { key, output } of resolution.referenceInputs) {
    if (output !== undefined && !resolution.inputs.some((input) => input.key === key)) yield output
  }
}

function resolveSet(references: readonly OutputReference[], utxos: UtxoView): readonly ResolvedInput[] {
  if (references.length === 0) return nothing
  const resolved: ResolvedInput[] = []
  const sorted = references.length === 1 ? references : [...references].sort(byReference)
  for (const reference of sorted) {
    const key = outputReferenceKey(reference)
    if (resolved.at(-1)?.key !== key) resolved.push({ reference, key, output: utxos.get(key) })
  }
  return resolved
}

const nothing: readonly ResolvedInput[] = []
