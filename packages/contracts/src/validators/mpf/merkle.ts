import type { PBool, PByteString, PInt } from '@harmoniclabs/plu-ts'
import { emptySubtrees } from '../../datum/deletion-proof.js'
import {
  addInteger,
  appendByteString,
  bytes,
  divideInteger,
  equalsByteString,
  equalsInteger,
  fail,
  integer,
  lessThanInteger,
  sliceByteString,
} from '../core/builtins.js'
import { type Bytes, bind, choose, define, defineOf, hoisted, type Int, scope } from '../core/term.js'
import { combine, isEven } from './nibbles.js'

/*
 * The binary Merkle tree over the sixteen children of a branch; level 0 are the children.
 */

const levels = 4
const hashBytes = 32

const noChild = hoisted(bytes(new Uint8Array(hashBytes)))
const empties = emptySubtrees.map((hash, level) => (level === 0 ? noChild : hoisted(bytes(hash))))

export const emptyHash = (): Bytes => noChild

const emptySubtree = (level: number): Bytes => empties[level] ?? noChild

/** Length in bytes of the children of a branch. */
export const childrenLength = 16 * hashBytes

/** The root over sixteen children, {@link childrenLength} bytes. */
export const rootOfSixteen = define<PByteString, PByteString>((children) => rootOver(children, 0, 16))

const rootOver = (children: Bytes, first: number, count: number): Bytes =>
  count === 1
    ? sliceByteString(integer(first * hashBytes), integer(hashBytes), children)
    : combine(rootOver(children, first, count / 2), rootOver(children, first + count / 2, count / 2))

const half = (value: Int): Int => divideInteger(value, integer(2))

const parent = (place: Int, node: Bytes, sibling: Bytes): Bytes =>
  choose(isEven(place), combine(node, sibling), combine(sibling, node))

/** Whether two of the four siblings of a child, highest level first, have children. */
export const hasTwo = define<PByteString, PBool>((siblings) =>
  lessThanInteger(
    integer(1),
    empties
      .map((empty, level) => {
        const sibling = siblingAt(siblings, level)
        return choose(equalsByteString(sibling, empty), integer(0), integer(1))
      })
      .reduce(addInteger),
  ),
)

const siblingAt = (siblings: Bytes, level: number): Bytes =>
  sliceByteString(integer((levels - 1 - level) * hashBytes), integer(hashBytes), siblings)

/** The root over a child, from its siblings: those of the highest level come first. */
export const rootAbove = defineOf<[PInt, PByteString, PByteString], PByteString>(
  3,
  (place, child, siblings) => rootAboveFrom(place, child, siblings, 0),
)

function rootAboveFrom(place: Int, child: Bytes, siblings: Bytes, level: number): Bytes {
  if (level === levels) return child
  const sibling = siblingAt(siblings, level)
  return scope(function* () {
    const here = yield* bind(parent(place, child, sibling))
    const above = yield* bind(half(place))
    return rootAboveFrom(above, here, siblings, level + 1)
  })
}

/** The roots over a child, and over another in its place, one behind the other. Siblings as above. */
export const rootsAbove = defineOf<[PInt, PByteString, PByteString, PByteString], PByteString>(
  4,
  (place, child, other, siblings) => rootsAboveFrom(place, child, other, siblings, 0),
)

function rootsAboveFrom(place: Int, child: Bytes, other: Bytes, siblings: Bytes, level: number): Bytes {
  if (level === levels) return appendByteString(child, other)
  return scope(function* () {
    const sibling = yield* bind(siblingAt(siblings, level))
    const isLeft = yield* bind(isEven(place))
    const over = (node: Bytes) => choose(isLeft, combine(node, sibling), combine(sibling, node))
    const here = yield* bind(over(child))
    const there = yield* bind(over(other))
    const above = yield* bind(half(place))
    return rootsAboveFrom(above, here, there, siblings, level + 1)
  })
}

/** The root over a node that has no children beside it, from its level upwards. */
function rootAlone(place: Int, node: Bytes, level: number): Bytes {
  if (level === levels) return node
  return scope(function* () {
    const here = yield* bind(parent(place, node, emptySubtree(level)))
    const above = yield* bind(half(place))
    return rootAlone(above, here, level + 1)
  })
}

/** The root over two children; fails where both have one place. */
export const rootOfTwo = defineOf<[PInt, PByteString, PInt, PByteString], PByteString>(
  4,
  (place, child, otherPlace, other) => rootOfTwoFrom(place, child, otherPlace, other, 0),
)

function rootOfTwoFrom(place: Int, child: Bytes, otherPlace: Int, other: Bytes, level: number): Bytes {
  if (level === levels) return fail()
  return scope(function* () {
    const above = yield* bind(half(place))
    const otherAbove = yield* bind(half(otherPlace))
    const empty = emptySubtree(level)
    return choose(
      equalsInteger(above, otherAbove),
      choose(
        equalsInteger(place, otherPlace),
        fail(),
        scope(function* () {
          const joined = yield* bind(parent(place, child, other))
          return rootAlone(above, joined, level + 1)
        }),
      ),
      scope(function* () {
        const here = yield* bind(parent(place, child, empty))
        const there = yield* bind(parent(otherPlace, other, empty))
        return rootOfTwoFrom(above, here, otherAbove, there, level + 1)
      }),
    )
  })
}
