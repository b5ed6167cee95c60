import { isLayer1Error, isProtocolError, isWalletError } from '@ratatosk/layer1'
import { StoreError } from '@ratatosk/store'
import type { OperationResult, RefusalCode } from './types.js'

/** A state of things in which the work cannot go on; the message says what to do. */
export class Refusal extends Error {
  override readonly name = 'Refusal'

  constructor(
    readonly code: RefusalCode,
    message: string,
  ) {
    super(message)
  }
}

/** What an operation answers where it failed for a reason that is to be expected; undefined for any other. */
export function resultOf(error: unknown): OperationResult | undefined {
  const refused = refusalOf(error)
  if (refused !== undefined) return { kind: 'refused', code: refused.code, message: refused.message }
  if (isLayer1Error(error)) return { kind: 'layer1-failed', cause: error.kind, code: error.code }
  // Our own rules have seen what the network would have said: layer 1 went on while the transaction was built.
  if (isWalletError(error) && error.code === 'WALLET_TRANSACTION_REFUSED') {
    return { kind: 'layer1-failed', cause: 'rejected', code: 'LAYER1_REJECTED' }
  }
  return undefined
}

/** The same failure in the words of a refusal, where it is one that an operator can mend. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error
  if (isProtocolError(error) && error.code === 'PROTOCOL_BROKEN_QUEUE') return brokenQueue(error.message)
  if (isProtocolError(error) && error.code === 'PROTOCOL_NOT_SCHEDULED') {
    return new Refusal('not-in-turn', `${error.message}: wait for the next turn`)
  }
  if (isWalletError(error) && error.code === 'WALLET_INSUFFICIENT_FUNDS') {
    return new Refusal('insufficient-funds', `${error.message}: send ada to the wallet`)
  }
  if (error instanceof StoreError && error.code === 'STORE_GENESIS_MISMATCH') {
    return new Refusal('genesis-mismatch', `${error.message}: reset, or set the genesis that it began with`)
  }
  if (error instanceof StoreError && error.code === 'STORE_LEASE_LOST') return notActive()
  return undefined
}

export const notActive = (): Refusal =>
  new Refusal(
    'not-active',
    'Another process has the lease of the sequencer, or it is free in a moment: try again',
  )

export const brokenQueue = (message: string): Refusal =>
  new Refusal('broken-queue', `${message}: repair the root units where there are several, otherwise reset`)

export const notInitialised = (): Refusal =>
  new Refusal('not-initialised', 'There is no root unit on layer 1: initialise the state queue')

export const foreignQueue = (what: string): Refusal =>
  new Refusal('foreign-queue', `${what}: use the store that committed it, or reset and initialise anew`)
