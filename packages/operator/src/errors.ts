import { HttpError } from '@ratatosk/http'
import type { OperationResult } from '@ratatosk/ports'

type RootExists = Extract<OperationResult, { kind: 'root-exists' }>

/** 409: a root unit exists already; the body says where. `code` is `OPERATOR_ROOT_EXISTS`. */
export class RootExistsError extends HttpError {
  constructor({ rootUnit, stateQueueAddress, count, outRefs }: RootExists) {
    const message =
      count === 1
        ? 'The state queue is already initialised: this is its root unit'
        : `There are ${count} root units instead of one: run /stateQueue/repair-root-units, then /init`
    super(409, 'OPERATOR_ROOT_EXISTS', message, {
      bodyFields: { rootUnit, stateQueueAddress, count, outRefs },
    })
  }
}

/** Whether a caught value is a {@link RootExistsError}; works across copies of this package. */
export function isRootExistsError(value: unknown): value is RootExistsError {
  return value instanceof Error && value.name === 'RootExistsError'
}
