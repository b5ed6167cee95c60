import { byPosition, type DataValue } from '@ratatosk/ledger/plutus-data'
import type { Proof, ProofStep } from '@ratatosk/trie'

const { at, bytesOf, constructorOf, fieldsOf, integerOf, itemsOf } = byPosition

/** Constructors of a step: any other is a leaf. */
const Step = { branch: 0n, fork: 1n } as const

/**
 * A proof, of which the scripts take several forms.
 *
 * @throws {PlutusDataError} if the scripts take none like it
 */
export const proofFrom = (data: DataValue): Proof => itemsOf(data).map(stepFrom)

function stepFrom(data: DataValue): ProofStep {
  const kind = constructorOf(data)
  const fields = fieldsOf(data)
  const skip = Number(integerOf(at(fields, 0)))
  if (kind === Step.branch) return { type: 'branch', skip, neighbors: bytesOf(at(fields, 1), 128) }
  if (kind !== Step.fork) {
    const neighbor = { key: bytesOf(at(fields, 1), 32), value: bytesOf(at(fields, 2), 32) }
    return { type: 'leaf', skip, neighbor }
  }
  const neighbor = fieldsOf(at(fields, 1))
  return {
    type: 'fork',
    skip,
    neighbor: {
      nibble: Number(integerOf(at(neighbor, 0))),
      prefix: bytesOf(at(neighbor, 1)),
      root: bytesOf(at(neighbor, 2), 32),
    },
  }
}
