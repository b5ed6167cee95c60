import type { OperationResult } from '@ratatosk/ports'
import { type TProperties, Type } from '@sinclair/typebox'
import { portOutcome } from './port-results.js'

const hex = (bytes: number) => Type.String({ pattern: `^[0-9a-f]{${2 * bytes}}$` })
const text = Type.String({ minLength: 1 })
const [transactionId, headerHash, operatorKey] = [hex(32), hex(28), hex(28)]
const rootUnit = Type.String({ pattern: '^[0-9a-f]{56,}$' })
const lovelace = Type.String({ pattern: '^[0-9]+$' })
const count = Type.Integer({ minimum: 0 })
const time = Type.Integer({ minimum: 0, maximum: 8.64e15 })
const change = (fields: TProperties) => ({ transactionId: Type.Optional(transactionId), ...fields })

/** The fields of results that answers have. */
const shapes: { readonly [Kind in OperationResult['kind']]: TProperties } = {
  initiated: { transactionId, rootUnit },
  'root-exists': { rootUnit: text, stateQueueAddress: text, count, outRefs: Type.Array(Type.String()) },
  committed: { headerHash, transactionId, transactions: count },
  'nothing-to-commit': {},
  merged: { headerHash, transactionId },
  'nothing-to-merge': {},
  reset: {},
  removed: { headerHash, transactionId, removed: Type.Array(headerHash) },
  repaired: {},
  registered: change({ operatorKey, bond: lovelace, activeFrom: time }),
  retired: change({ operatorKey, activeUntil: time, releaseAt: time }),
  released: change({ operatorKey, bond: lovelace }),
  busy: { operation: text },
  refused: { code: text, message: text },
  'layer1-failed': { cause: text, code: text },
  'timed-out': { message: text },
}

/**
 * The result of an operation, checked by `portOutcome`.
 *
 * @param method of the port
 *
 * @example
 * ```ts
 * const result = operationResult('runner.run', await runner.run('reset'))
 * ```
 */
export function operationResult(method: string, result: OperationResult): OperationResult {
  return portOutcome(method, shapes, result)
}
