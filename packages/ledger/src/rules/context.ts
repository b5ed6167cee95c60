import type { ProtocolParameters } from '../parameters/types.js'
import type { TransactionOutput } from '../transaction/types.js'

/** What the rules are judged against, besides the transaction and the outputs that it names. */
export interface RuleContext {
  readonly parameters: ProtocolParameters
  /** 0 is every test network, 1 is mainnet. */
  readonly networkId: number
  /** The slot that the transaction is to be included in. */
  readonly slot: bigint
  /** The last slot that can be turned into a time; without it every slot can, as on a layer without hard forks. */
  readonly forecastHorizon?: bigint
  /** Lovelace in the treasury, where it is known: only then is a declared treasury value compared with it. */
  readonly treasury?: bigint
}

/** The unspent outputs, by `outputReferenceKey`. A `Map` is one. */
export interface UtxoView {
  get(key: string): TransactionOutput | undefined
}
