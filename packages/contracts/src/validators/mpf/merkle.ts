import { blake2b256 as hashOf } from '@ratatosk/ledger'
import { bytes, divideInteger, equalsInteger, fail, integer, sliceByteString } from '../core/builtins.js'
import { type Bytes, choose, type Int, keep, naming } from '../core/term.js'
import { combine, isEven } from './nibbles.js'

/*
 * The binary Merkle tree over the sixteen children of a branch; level 0 are the children.
 */

const levels = 4
const hashBytes = 32

const noHash = new Uint8Array(hashBytes)

/** The hash of a subtree without children, by level. */
const emptyAt: readonly Uint8Array[] = Array.from({ length: levels }, (_, level) => {
  let hash: Uint8Array = noHash
  for (let i = 0; i < level; i++) hash = hashOf(Buffer.concat([hash, hash]))
  return hash
})

export const emptyHash = (): Bytes => bytes(noHash)

const emptySubtree = (level: number): Bytes => bytes(emptyAt[level] ?? noHash)

const half = (value: Int): Int => divideInteger(value, integer(2))

/** The parent of a node and its sibling. */
const parent = (place: Int, node: Bytes, sibling: Bytes): Bytes =>
  choose(isEven(place), combine(node, sibling), combine(sibling, node))

/** The root over a child, from its siblings: those of the highest level come first. */
export function rootAbove(place: Int, child: Bytes, siblings: Bytes, level = 0): Bytes {
  if (level === levels) return child
  const sibling = sliceByteString(integer((levels - 1 - level) * hashBytes), integer(hashBytes), siblings)
  return naming(function* () {
    const here = yield* keep(parent(place, child, sibling))
    const above = yield* keep(half(place))
    return rootAbove(above, here, siblings, level + 1)
  })
}

/** The root over a node that has no children beside it, from its level upwards. */
function rootAlone(place: Int, node: Bytes, level: number): Bytes {
  if (level === levels) return node
  return naming(function* () {
    const here = yield* keep(parent(place, node, emptySubtree(level)))
    const above = yield* keep(half(place))
    return rootAlone(above, here, level + 1)
  })
}

/** The root over two children; fails where both have one place. */
export function rootOfTwo(place: Int, child: Bytes, otherPlace: Int, other: Bytes, level = 0): Bytes {
  if (level === levels) return fail()
  return naming(function* () {
    const above = yield* keep(half(place))
    const otherAbove = yield* keep(half(otherPlace))
    const empty = emptySubtree(level)
    return choose(
      equalsInteger(above, otherAbove),
      choose(
        equalsInteger(place, otherPlace),
        fail(),
        naming(function* () {
          const joined = yield* keep(parent(place, child, other))
          return rootAlone(above, joined, level + 1)
        }),
      ),
      naming(function* () {
        const here = yield* keep(parent(place, child, empty))
        const there = yield* keep(parent(otherPlace, other, empty))
        return rootOfTwo(above, here, otherAbove, there, level + 1)
      }),
    )
  })
}
