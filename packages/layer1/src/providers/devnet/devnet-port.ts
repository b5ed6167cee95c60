import type {
  ProtocolParameters,
  RedeemerPurpose,
  SlotConfig,
  Transaction,
  TransactionOutput,
} from '@ratatosk/ledger'

export interface ChainPoint {
  readonly slot: bigint
  readonly hash: string
}

/**
 * A layer 1 in the same process, such as `createDevnet` of `@ratatosk/devnet`.
 */
export interface DevnetPort {
  readonly networkId: 0
  readonly parameters: ProtocolParameters
  readonly slots: SlotConfig
  currentSlot(): bigint
  tip(): ChainPoint & { readonly height: number }
  utxos(query: {
    readonly address?: string
    readonly unit?: string
    readonly policy?: string
    readonly references?: readonly string[]
  }): readonly {
    readonly transactionHash: string
    readonly index: number
    readonly output: TransactionOutput
  }[]
  output(reference: string): { readonly spent?: { readonly transactionHash: string } } | undefined
  /** Also of outputs that are spent. */
  outputsOf(
    transactionHash: string,
  ): readonly { readonly index: number; readonly output: TransactionOutput }[]
  transaction(hash: string): { readonly transaction: { readonly transaction: Transaction } } | undefined
  status(transactionId: string):
    | { readonly status: 'unknown' | 'pending' }
    | {
        readonly status: 'confirmed'
        readonly place: { readonly block: ChainPoint }
        readonly confirmations: number
      }
  submit(cbor: Uint8Array): Promise<DevnetSubmission>
  evaluate(cbor: Uint8Array): Promise<PortEvaluation>
  /** Injected faults; this provider's target is `client`. */
  readonly faults?: {
    take(target: 'client', operation: DevnetOperation): DevnetFault | undefined
  }
}

export type DevnetSubmission =
  | { readonly kind: 'accepted'; readonly hash: string }
  | { readonly kind: 'malformed'; readonly message: string }
  | {
      readonly kind: 'rejected'
      readonly failures: readonly { readonly predicate: string; readonly message: string }[]
    }

export type PortEvaluation =
  | { readonly kind: 'malformed'; readonly message: string }
  | { readonly kind: 'overlapping-outputs'; readonly references: readonly string[] }
  | {
      readonly kind: 'faulty-redeemers'
      readonly faults: readonly {
        readonly purpose: RedeemerPurpose
        readonly index: number
        readonly fault: { readonly kind: string }
      }[]
    }
  | {
      readonly kind: 'evaluated'
      readonly result: {
        readonly ok: boolean
        readonly failure?: { readonly kind: string; readonly message: string }
        readonly redeemers: readonly {
          readonly purpose: RedeemerPurpose
          readonly index: number
          readonly outcome:
            | {
                readonly kind: 'Succeeded'
                readonly used: { readonly memory: bigint; readonly steps: bigint }
              }
            | { readonly kind: Exclude<string, 'Succeeded'> }
        }[]
      }
    }

export type DevnetOperation = 'utxos' | 'transaction' | 'submit' | 'evaluate' | 'parameters' | 'tip'

export interface DevnetFault {
  readonly kind: 'time-out' | 'refusal' | 'rate-limit' | 'failure' | 'garbage' | 'delay' | 'lost-answer'
  readonly delayMs?: number
}
