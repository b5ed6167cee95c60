import type { ExecutionUnits, RedeemerPointer } from '../rules/script-evaluator.js'

/** A request to an engine, in a form that is cheap to transfer to a thread. */
export interface EngineRequest {
  readonly transaction: Uint8Array
  /** CBOR of each input and reference input; `outputs` has the CBOR of their outputs at the same index. */
  readonly inputs: readonly Uint8Array[]
  readonly outputs: readonly Uint8Array[]
  /** For Plutus V1, V2 and V3; empty if the network has none. */
  readonly costModels: readonly BigInt64Array[]
  /** Slot `zeroSlot` began at `zeroTime` and each lasts `slotLength`, in POSIX milliseconds. */
  readonly slots: { readonly zeroTime: bigint; readonly zeroSlot: bigint; readonly slotLength: number }
  readonly protocolMajor: number
}

/**
 * The answer of an engine.
 *
 * `failed`: a script failed. `refused`: the engine could not decode a part of the request or reached a limit
 * of its own, so the scripts were not validated.
 */
export type EngineAnswer =
  | {
      readonly kind: 'evaluated'
      readonly redeemers: readonly (RedeemerPointer & { readonly used: ExecutionUnits })[]
    }
  | {
      readonly kind: 'failed'
      readonly message: string
      readonly logs: readonly string[]
      readonly overBudget: boolean
      /** If the budget was exceeded: the units requested when the script was stopped. */
      readonly used?: ExecutionUnits
      /** The redeemer of the failed script, if the engine knows it. */
      readonly redeemer?: RedeemerPointer
    }
  | { readonly kind: 'refused'; readonly message: string }

/** A Plutus implementation. It runs in its own thread and must not be used again after it throws. */
export type Engine = (request: EngineRequest) => EngineAnswer

const maxMessage = 1_000
const maxLogs = 100
const maxLogCharacters = 16_384

/** Truncates the message of an engine, which may contain a whole script. */
export function shorten(message: string): string {
  return message.length > maxMessage ? `${message.slice(0, maxMessage)}…` : message
}

/** Truncates traces to the last lines, which precede the failure. */
export function shortenLogs(logs: readonly string[]): string[] {
  const kept: string[] = []
  let room = maxLogCharacters
  for (let i = logs.length - 1; i >= 0 && kept.length < maxLogs && room > 0; i--) {
    const line = (logs[i] ?? '').slice(0, room)
    kept.unshift(line)
    room -= line.length
  }
  return kept
}
