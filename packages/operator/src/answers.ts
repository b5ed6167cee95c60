import { operationError } from '@ratatosk/http'
import type { OperationResult } from '@ratatosk/ports'
import { RootExistsError } from './errors.js'
import type {
  Committed,
  Initiated,
  Merged,
  Registered,
  Released,
  Removed,
  Reset,
  Retired,
} from './schemas.js'

/** Body of `/init`. Like the functions below, throws the error with which any other result is answered. */
export function initAnswer(result: OperationResult): Initiated {
  if (result.kind === 'root-exists') throw new RootExistsError(result)
  if (result.kind !== 'initiated') throw operationError('init', result)
  const { transactionId, rootUnit } = result
  return { message: `Initiation successful: ${transactionId}`, txHash: transactionId, rootUnit }
}

export function commitAnswer(result: OperationResult): Committed {
  if (result.kind === 'nothing-to-commit') return { message: 'Nothing to commit', transactions: 0 }
  if (result.kind !== 'committed') throw operationError('commit', result)
  const { headerHash, transactionId, transactions } = result
  const message = `Block commitment successful: ${headerHash}`
  return { message, headerHash, txHash: transactionId, transactions }
}

export function mergeAnswer(result: OperationResult): Merged {
  if (result.kind === 'nothing-to-merge') return { message: 'Nothing to merge' }
  if (result.kind !== 'merged') throw operationError('merge', result)
  const { headerHash, transactionId } = result
  return {
    message: `Merging confirmed state successful: ${headerHash}`,
    headerHash,
    txHash: transactionId,
  }
}

export function resetAnswer(result: OperationResult): Reset {
  if (result.kind !== 'reset') throw operationError('reset', result)
  return { message: 'Collected all UTxOs successfully!' }
}

export function removeAnswer(result: OperationResult): Removed {
  if (result.kind !== 'removed') throw operationError('remove', result)
  const { headerHash, transactionId, removed } = result
  return {
    message: `Block removal successful: ${headerHash}`,
    headerHash,
    txHash: transactionId,
    removed: [...removed],
  }
}

/** Body of `/operator/register`. */
export function registerAnswer(result: OperationResult): Registered {
  if (result.kind !== 'registered') throw operationError('register', result)
  const { transactionId, bond, activeFrom } = result
  return { ...done('The operator is registered', transactionId), bond, activeFrom: timeOf(activeFrom) }
}

/** Body of `/operator/retire`. */
export function retireAnswer(result: OperationResult): Retired {
  if (result.kind !== 'retired') throw operationError('retire', result)
  const { transactionId, activeUntil, releaseAt } = result
  const message = done('The operator has retired', transactionId)
  return { ...message, activeUntil: timeOf(activeUntil), releaseAt: timeOf(releaseAt) }
}

/** Body of `/operator/release`. */
export function releaseAnswer(result: OperationResult): Released {
  if (result.kind !== 'released') throw operationError('release', result)
  return { ...done('The bond is withdrawn', result.transactionId), bond: result.bond }
}

function done(message: string, txHash: string | undefined): { message: string; txHash?: string } {
  return txHash === undefined ? { message: `${message} already` } : { message, txHash }
}

const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString()
