import type { ExecutionUnits, RedeemerPointer } from './types.js'

/** What an engine is asked, in forms that are cheap to hand to its thread. */
export interface EngineRequest {
  /** The transaction as submitted. */
  readonly transaction: Uint8Array
  /** CBOR of each input and reference input and, beside it, of the output that it names. */
  readonly inputs: readonly Uint8Array[]
  readonly outputs: readonly Uint8Array[]
  /** Plutus V1, V2, V3; empty where the network has none. */
  readonly costModels: readonly BigInt64Array[]
  /** Slot `zeroSlot` began at `zeroTime` and each lasts `slotLength`, in POSIX milliseconds. */
  readonly slots: { readonly zeroTime: bigint; readonly zeroSlot: bigint; readonly slotLength: number }
  readonly protocolMajor: number
}

/**
 * What an engine made of a request.
 *
 * `failed` is a judgement on a script; `refused` says nothing of the scripts: the engine could not read something, or
 * came to a bound of its own.
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
      /** Where it is over its budget: what it had asked for when it was stopped. */
      readonly used?: ExecutionUnits
      /** Whose script failed, where the engine knows. */
      readonly redeemer?: RedeemerPointer
    }
  | { readonly kind: 'refused'; readonly message: string }

/** One Plutus implementation. It lives in a thread of its own; where it throws, it may not be used again. */
export type Engine = (request: EngineRequest) => EngineAnswer

const maxMessage = 1_000
const maxLogs = 100
const maxLogCharacters = 16_384

/** Cuts what an engine says: it may print a whole script. */
export function shorten(message: string): string {
  return message.length > maxMessage ? `${message.slice(0, maxMessage)}…` : message
}

/** Cuts a trace to its last lines, which are those before the failure. */
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
