import { timeOf } from '../evaluate.js'
import { entry, registryOf, running, spendRegistry } from '../registry/scenarios.js'
import type { TestTransaction } from '../transaction.js'
import { operator, turnLength, type World } from '../world.js'
import * as removals from './removals.js'
import * as queue from './scenarios.js'

/** The registry when it is as full as it can be; the operator is the one in turn. */
function fullRegistry(from: World) {
  const count = 100
  const serving = Array.from({ length: count }, (_, i) => entry({ hash: new Uint8Array(28).fill(i + 1) }))
  serving[Number((timeOf(50n) / turnLength) % BigInt(count))] = entry(operator)
  const retired = serving.map((_, i) =>
    entry({ hash: new Uint8Array(28).fill(i + 101) }, { activeUntil: timeOf(0n) }),
  )
  return running(from, ...retired, ...serving)
}

export function slashInFullRegistry(from: World): TestTransaction {
  const before = fullRegistry(from)
  const operators = before.operators.filter(({ vkey }) => vkey !== operator.hash)
  const transaction = removals.removeActive(from)
  const slash = { kind: 'slash', operator: operator.hash, approach: 'active' } as const
  const [element, , ...others] = transaction.outputs
  return {
    ...transaction,
    inputs: [...transaction.inputs.filter(({ id }) => id !== 5), spendRegistry(from, 5, before, slash)],
    outputs: [element!, removals.withPenalty(from, { ...before, operators }), ...others],
  }
}

/** A commit beside a registry that is as full as it can be: half of its entries are retired. */
export function commitBesideFullRegistry(from: World): TestTransaction {
  const datum = fullRegistry(from)
  const transaction = queue.commitSecond(from)
  const referenceInputs = transaction.referenceInputs.map((input) =>
    input.id === 200 ? { id: 200, output: registryOf(from, datum) } : input,
  )
  return { ...transaction, referenceInputs }
}

export const burnedBlocks = 100

/** Burns as many blocks as `maxBurnedElements` of `@ratatosk/protocol` allows. */
export function deinitManyBlocks(from: World): TestTransaction {
  const { firstHeader } = queue
  const headers = Array.from({ length: burnedBlocks }, (_, i) => ({
    ...firstHeader,
    endTime: firstHeader.endTime + BigInt(i),
  }))
  return queue.deinitBlocks(from, ...headers)
}
