import { HttpError, type OperationResult, operationError } from '@ratatosk/http'
import type { Committed, Initiated, Merged, Reset } from './schemas.js'

type RootExists = Extract<OperationResult, { kind: 'root-exists' }>

/** 409: there is a root unit already; the body says where. */
export class RootExistsError extends HttpError {
  constructor({ rootUnit, stateQueueAddress, count, outRefs }: RootExists) {
    const message =
      count === 1
        ? 'The state queue is initialised already: this is its root unit'
        : `There are ${count} root units where there may be one: repair them, then initialise again`
    super(409, 'OPERATOR_ROOT_EXISTS', message, {
      bodyFields: { rootUnit, stateQueueAddress, count, outRefs },
    })
  }
}

/** The body of `/init`. Like the others, throws what any other end of the operation is answered with. */
export function initiated(result: OperationResult): Initiated {
  if (result.kind === 'root-exists') throw new RootExistsError(result)
  if (result.kind !== 'initiated') throw operationError('init', result)
  const { transactionId, rootUnit } = result
  return { message: `Initiation successful: ${transactionId}`, txHash: transactionId, rootUnit }
}

/** The body of `/commit`. */
export function committed(result: OperationResult): Committed {
  if (result.kind === 'nothing-to-commit') return { message: 'Nothing to commit', transactions: 0 }
  if (result.kind !== 'committed') throw operationError('commit', result)
  const { headerHash, transactionId, transactions } = result
  const message = `Block commitment successful: ${headerHash}`
  return { message, headerHash, txHash: transactionId, transactions }
}

/** The body of `/merge`. */
export function merged(result: OperationResult): Merged {
  if (result.kind === 'nothing-to-merge') return { message: 'Nothing to merge' }
  if (result.kind !== 'merged') throw operationError('merge', result)
  const { headerHash, transactionId } = result
  return {
    message: `Merging confirmed state successful: ${headerHash}`,
    headerHash,
    txHash: transactionId,
  }
}

/** The body of `/reset`. */
export function wasReset(result: OperationResult): Reset {
  if (result.kind !== 'reset') throw operationError('reset', result)
  return { message: 'Collected all UTxOs successfully!' }
}
