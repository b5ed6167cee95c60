import type { ProtocolParameters } from '../parameters/types.js'
import type { TransactionOutput } from '../transaction/types.js'

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
