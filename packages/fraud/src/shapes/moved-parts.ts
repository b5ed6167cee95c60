import type { MovedParts } from '@ratatosk/block'
import { decodeOutputReference, profileLimits } from '@ratatosk/ledger'
import { itemIn } from './item.js'
import { bodyFields, fieldOf, isReference, itemsOf, strangeKeysOf } from './shapes.js'

/** Keys of the CDDL. */
const [inputs, outputs, fee, referenceInputs] = [0, 1, 2, 18]

/** Bytes of the smallest output: an array of an address without a stake part and a number. */
const leastOutputBytes = 33

/**
 * The changes that the scripts read of a transaction whose body the ledger does not decode; undefined if they
 * cannot read one of these fields, or the body has no room for so many outputs. Both are frauds.
 */
export function movedParts(body: Uint8Array): MovedParts | undefined {
  if (body.length > profileLimits.bodyBytes) return undefined
  const item = itemIn(body, profileLimits.bodyItems)
  if (typeof item === 'string') return undefined
  // The scripts find no field behind a key of more than one byte.
  const hides = (key: number) => key >= 24 || [inputs, outputs, fee, referenceInputs].includes(key)
  if (strangeKeysOf(item, bodyFields).some(hides)) return undefined
  // Each takes a follower much more memory than its bytes.
  if (itemsOf(item, outputs).length * leastOutputBytes > body.length) return undefined
  const references = [...itemsOf(item, inputs), ...itemsOf(item, referenceInputs)]
  if (!references.every(isReference)) return undefined
  const referencesAt = (key: number) => itemsOf(item, key).map(({ bytes }) => decodeOutputReference(bytes))
  return {
    inputs: referencesAt(inputs),
    referenceInputs: referencesAt(referenceInputs),
    outputs: itemsOf(item, outputs).map(({ bytes }) => bytes),
    fee: fieldOf(item, fee)?.argument ?? 0n,
  }
}
