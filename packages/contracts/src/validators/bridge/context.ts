import { Registry } from '../../layout.js'
import { datumOf, inputHolding, referenceInputsOf, resolvedOf } from '../core/context.js'
import { at, fieldsOf } from '../core/data.js'
import type { Data, List } from '../core/term.js'

/** The parameters of the bridge's script, as data, in the blueprint's order. */
export interface BridgeParameters {
  /** Bytes: policy of the operator registry, which names the state queue. */
  readonly registryPolicy: Data
  /** Bytes: asset name of the state queue's root. */
  readonly rootName: Data
  /** List of bytes: the policies that layer 1 backs. */
  readonly bridged: Data
  /** Integer: least lovelace in a reserve. */
  readonly reserveMin: Data
  /** Integer: lovelace of a withdrawal that the payer may keep. */
  readonly payoutFee: Data
}

/** A transaction that spends from the bridge. */
export interface BridgeSpending {
  /** The fields of `TxInfo`. */
  readonly transaction: List
  /** The reference to the output that the script is run for, and the output. */
  readonly reference: Data
  readonly own: Data
}

/** Bytes: the policy of the state queue, by the registry among the reference inputs. */
export const queueOf = (transaction: List, { registryPolicy }: BridgeParameters): Data =>
  at(
    fieldsOf(datumOf(resolvedOf(inputHolding(referenceInputsOf(transaction), registryPolicy)))),
    Registry.queue,
  )
