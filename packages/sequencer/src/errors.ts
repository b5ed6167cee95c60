import { failureCause, isLayer1Error } from '@ratatosk/layer1'
import { isWalletError } from '@ratatosk/ledger/builder'
import type { OperationResult, RefusalCode } from '@ratatosk/ports'
import { isProtocolError } from '@ratatosk/protocol'
import { isStoreError } from '@ratatosk/store'

/**
 * A state in which the sequencer cannot go on. The message says what an operator can do and may be shown to
 * clients.
 */
export class SequencerError extends Error {
  override readonly name = 'SequencerError'

  constructor(
    readonly code: RefusalCode,
    message: string,
    /** Milliseconds for which the state lasts at least; absent where it may end at any time. */
    readonly lastsMs?: number,
  ) {
    super(message)
  }
}

/** Whether a caught value is a {@link SequencerError}; works across copies of the package. */
export function isSequencerError(value: unknown): value is SequencerError {
  return value instanceof Error && value.name === 'SequencerError'
}

/** The lease is held elsewhere. */
export const notActive = (): SequencerError =>
  new SequencerError(
    'SEQUENCER_NOT_ACTIVE',
    'Another process holds the lease of the sequencer, or the lease is about to be taken: try again',
  )

/** Refusals while store and queue disagree. */
export const disagreements: readonly string[] = ['SEQUENCER_FOREIGN_QUEUE', 'SEQUENCER_BROKEN_QUEUE']

/** @param fault what is wrong with the queue */
export const brokenQueue = (fault: string): SequencerError =>
  new SequencerError('SEQUENCER_BROKEN_QUEUE', `${fault}: repair the state queue, then initialise a new one`)

export const notRegistered = (): SequencerError =>
  new SequencerError(
    'SEQUENCER_NOT_REGISTERED',
    'The operator is not in the registry: register it with `ratatosk operator register`, or correct its ' +
      'key if that of another is registered',
  )

export const retired = (): SequencerError =>
  new SequencerError(
    'SEQUENCER_BOND_LOCKED',
    'The operator is retired: withdraw the bond once it is free (`ratatosk operator release`), ' +
      'then register again',
    Number.POSITIVE_INFINITY,
  )

export const notInitialised = (): SequencerError =>
  new SequencerError('SEQUENCER_NOT_INITIALISED', 'Layer 1 has no root unit: initialise the state queue')

/** @param finding what this store does not know */
export const foreignQueue = (finding: string): SequencerError =>
  new SequencerError(
    'SEQUENCER_FOREIGN_QUEUE',
    `${finding}: use the store that committed it, or repair the state queue and initialise a new one`,
  )

/** @param block hex of its header hash */
export const unservedBlock = (block: string): SequencerError =>
  new SequencerError(
    'SEQUENCER_FOREIGN_QUEUE',
    `The state queue holds block ${block} of another operator, and no peer serves its body: ` +
      'nothing is built on it until one does, or until it is removed',
  )

/** @param block hex of its header hash @param reason the rule that it breaks */
export const invalidBlock = (block: string, reason: string): SequencerError =>
  new SequencerError(
    'SEQUENCER_INVALID_BLOCK',
    `The state queue holds block ${block} of another operator, which is not valid: ${reason} ` +
      'Nothing is built on it: wait until a watcher has removed it',
  )

/** @param block hex of its header hash @param reason why this node's scripts do not run */
export const unjudgedBlock = (block: string, reason: string): SequencerError =>
  new SequencerError(
    'SEQUENCER_FOREIGN_QUEUE',
    `The state queue holds block ${block} of another operator, which could not be judged: ${reason}. ` +
      'Nothing is built on it until it is, or until it is removed',
  )

/** @param times how often it has failed, without a success between */
export const failed = (times: number): SequencerError =>
  new SequencerError(
    'SEQUENCER_FAILED',
    `Nothing is committed or merged: an unexpected error has come ${times} times in a row, see the log`,
  )

/** How an operation ends that failed for an expected reason; undefined for an unexpected error. */
export function resultOf(error: unknown): OperationResult | undefined {
  const refused = refusalOf(error)
  if (refused !== undefined) return { kind: 'refused', code: refused.code, message: refused.message }
  if (isLayer1Error(error)) return { kind: 'layer1-failed', cause: failureCause(error), code: error.code }
  // The wallet applies the network's rules before it sends: layer 1 changed while the transaction was built.
  if (isWalletError(error) && error.code === 'WALLET_TRANSACTION_REFUSED')
    return { kind: 'layer1-failed', cause: 'rejected', code: 'LAYER1_REJECTED' }
  return undefined
}

/** An error of another package as a {@link SequencerError}, if an operator can resolve its cause. */
export function refusalOf(error: unknown): SequencerError | undefined {
  if (isSequencerError(error)) return error
  if (isProtocolError(error) && error.code === 'PROTOCOL_BROKEN_QUEUE') return brokenQueue(error.message)
  if (isProtocolError(error) && error.code === 'PROTOCOL_NOT_SCHEDULED')
    return new SequencerError('SEQUENCER_NOT_IN_TURN', `${error.message}: wait for the next turn`)
  if (isWalletError(error) && error.code === 'WALLET_INSUFFICIENT_FUNDS')
    return new SequencerError('SEQUENCER_INSUFFICIENT_FUNDS', `${error.message}: send ada to it`)
  if (isStoreError(error) && error.code === 'STORE_GENESIS_MISMATCH')
    return new SequencerError(
      'SEQUENCER_GENESIS_MISMATCH',
      `${error.message}: reset, or configure the genesis that the ledger began with`,
    )
  if (isStoreError(error) && error.code === 'STORE_LEASE_LOST') return notActive()
  return undefined
}
