import type { OperationResult } from '@ratatosk/ports'
import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const hex = (bytes: number) => Type.String({ pattern: `^[0-9a-f]{${2 * bytes}}$` })
const [transactionId, headerHash] = [hex(32), hex(28)]
const lovelace = Type.String({ pattern: '^[0-9]+$' })
const time = Type.Integer({ minimum: 0, maximum: 8.64e15 })
const change = (fields: TProperties) =>
  Type.Object({ transactionId: Type.Optional(transactionId), ...fields })

/** The values of results that answers have. */
const shapes: { readonly [Kind in OperationResult['kind']]?: TSchema } = {
  initiated: Type.Object({ transactionId, rootUnit: Type.String({ pattern: '^[0-9a-f]{56,}$' }) }),
  committed: Type.Object({ headerHash, transactionId, transactions: Type.Integer({ minimum: 0 }) }),
  merged: Type.Object({ headerHash, transactionId }),
  removed: Type.Object({ headerHash, transactionId, removed: Type.Array(headerHash) }),
  registered: change({ bond: lovelace, activeFrom: time }),
  retired: change({ activeUntil: time, releaseAt: time }),
  released: change({ bond: lovelace }),
}

/** @throws {TypeError} for a result with values of other types: the answer would not be one */
export function checkResult(result: OperationResult): OperationResult {
  const shape = shapes[result.kind]
  const fault = shape && Value.Errors(shape, result).First()
  if (fault === undefined) return result
  throw new TypeError(`The result ${result.kind} has a wrong ${fault.path.slice(1)}: ${fault.message}`)
}
