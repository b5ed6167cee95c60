import type { PBool, PByteString, PInt } from '@harmoniclabs/plu-ts'
import { emptySubtrees } from '../../datum/bridge.js'
import * as p from '../core/term.js'

/*
 * The binary Merkle tree over the sixteen children of a branch; level 0 are the children.
 */

const levels = 4
const hashBytes = 32

const noChild = p.hoisted(p.bytes(new Uint8Array(hashBytes)))
const empties = emptySubtrees.map((hash, level) => (level === 0 ? noChild : p.hoisted(p.bytes(hash))))

export const emptyHash = (): p.Bytes => noChild

const emptySubtree = (level: number): p.Bytes => empties[level] ?? noChild

/** Length in bytes of the children of a branch. */
export const childrenLength = 16 * hashBytes

/** The root over sixteen children, {@link childrenLength} bytes. */
export const rootOfSixteen = p.define<PByteString, PByteString>((children) => rootOver(children, 0, 16))

const rootOver = (children: p.Bytes, first: number, count: number): p.Bytes =>
  count === 1
    ? p.sliceByteString(p.integer(first * hashBytes), p.integer(hashBytes), children)
    : combine(rootOver(children, first, count / 2), rootOver(children, first + count / 2, count / 2))

const parent = (place: p.Int, node: p.Bytes, sibling: p.Bytes): p.Bytes =>
  p.choose(isEven(place), combine(node, sibling), combine(sibling, node))

/** Whether two of the four siblings of a child, highest level first, have children. */
export const hasTwo = p.define<PByteString, PBool>((siblings) =>
  p.lessThanInteger(
    p.integer(1),
    empties
      .map((empty, level) => {
        const sibling = siblingAt(siblings, level)
        return p.choose(p.equalsByteString(sibling, empty), p.integer(0), p.integer(1))
      })
      .reduce(p.addInteger),
  ),
)

const siblingAt = (siblings: p.Bytes, level: number): p.Bytes =>
  p.sliceByteString(p.integer((levels - 1 - level) * hashBytes), p.integer(hashBytes), siblings)

/** The root over a child, from its siblings: those of the highest level come first. */
export const rootAbove = p.defineOf<[PInt, PByteString, PByteString], PByteString>(
  3,
  (place, child, siblings) => rootAboveFrom(place, child, siblings, 0),
)

function rootAboveFrom(place: p.Int, child: p.Bytes, siblings: p.Bytes, level: number): p.Bytes {
  if (level === levels) return child
  const sibling = siblingAt(siblings, level)
  return p.scope(function* () {
    const here = yield* p.bind(parent(place, child, sibling))
    const above = yield* p.bind(half(place))
    return rootAboveFrom(above, here, siblings, level + 1)
  })
}

/** The roots over a child, and over another in its place, one behind the other. Siblings as above. */
export const rootsAbove = p.defineOf<[PInt, PByteString, PByteString, PByteString], PByteString>(
  4,
  (place, child, other, siblings) => rootsAboveFrom(place, child, other, siblings, 0),
)

function rootsAboveFrom(
  place: p.Int,
  child: p.Bytes,
  other: p.Bytes,
  siblings: p.Bytes,
  level: number,
): p.Bytes {
  if (level === levels) return p.appendByteString(child, other)
  return p.scope(function* () {
    const sibling = yield* p.bind(siblingAt(siblings, level))
    const isLeft = yield* p.bind(isEven(place))
    const over = (node: p.Bytes) => p.choose(isLeft, combine(node, sibling), combine(sibling, node))
    const here = yield* p.bind(over(child))
    const there = yield* p.bind(over(other))
    const above = yield* p.bind(half(place))
    return rootsAboveFrom(above, here, there, siblings, level + 1)
  })
}

/** The root over a node that has no children beside it, from its level upwards. */
function rootAlone(place: p.Int, node: p.Bytes, level: number): p.Bytes {
  if (level === levels) return node
  return p.scope(function* () {
    const here = yield* p.bind(parent(place, node, emptySubtree(level)))
    const above = yield* p.bind(half(place))
    return rootAlone(above, here, level + 1)
  })
}

/** The root over two children; fails where both have one place. */
export const rootOfTwo = p.defineOf<[PInt, PByteString, PInt, PByteString], PByteString>(
  4,
  (place, child, otherPlace, other) => rootOfTwoFrom(place, child, otherPlace, other, 0),
)

function rootOfTwoFrom(
  place: p.Int,
  child: p.Bytes,
  otherPlace: p.Int,
  other: p.Bytes,
  level: number,
): p.Bytes {
  if (level === levels) return p.fail()
  return p.scope(function* () {
    const above = yield* p.bind(half(place))
    const otherAbove = yield* p.bind(half(otherPlace))
    const empty = emptySubtree(level)
    return p.choose(
      p.equalsInteger(above, otherAbove),
      p.choose(
        p.equalsInteger(place, otherPlace),
        p.fail(),
        p.scope(function* () {
          const joined = yield* p.bind(parent(place, child, other))
          return rootAlone(above, joined, level + 1)
        }),
      ),
      p.scope(function* () {
        const here = yield* p.bind(parent(place, child, empty))
        const there = yield* p.bind(parent(otherPlace, other, empty))
        return rootOfTwoFrom(above, here, otherAbove, there, level + 1)
      }),
    )
  })
}

/*
 * Paths of the Merkle Patricia Forestry: the 64 nibbles of a Blake2b-256, the high one of each byte first.
 */

const pathBytes = 32

const isEven = (value: p.Int): p.Bool => p.equalsInteger(p.modInteger(value, p.integer(2)), p.integer(0))
const half = (value: p.Int): p.Int => p.divideInteger(value, p.integer(2))

/** Fails beyond the end of the path. */
export const nibble = p.defineOf<[PByteString, PInt], PInt>(2, (path, index) =>
  p.choose(
    isEven(index),
    p.divideInteger(p.indexByteString(path, half(index)), p.integer(16)),
    p.modInteger(p.indexByteString(path, half(index)), p.integer(16)),
  ),
)

/** The nibbles from one place up to another, a byte each. */
export const nibbles = p.defineOf<[PByteString, PInt, PInt], PByteString>(3, (path, from, to) =>
  p.choose(
    p.equalsInteger(from, to),
    p.bytes(new Uint8Array()),
    p.recursive<PInt, PByteString>((self, index) =>
      p.choose(
        p.lessThanInteger(index, to),
        p.consByteString(nibble(path, index), self(p.addInteger(index, p.integer(1)))),
        p.bytes(new Uint8Array()),
      ),
    )(from),
  ),
)

/** The rest of a path as a leaf's hash has it: packed, behind a byte that says if it begins within a byte. */
export const suffix = p.defineOf<[PByteString, PInt], PByteString>(2, (path, from) =>
  p.choose(
    isEven(from),
    p.consByteString(p.integer(0xff), bytesFrom(path, half(from))),
    p.consByteString(
      p.integer(0),
      p.consByteString(nibble(path, from), bytesFrom(path, half(p.addInteger(from, p.integer(1))))),
    ),
  ),
)

const bytesFrom = (path: p.Bytes, start: p.Int): p.Bytes =>
  p.sliceByteString(start, p.integer(pathBytes), path)

export const combine = (left: p.Bytes, right: p.Bytes): p.Bytes =>
  p.blake2b256(p.appendByteString(left, right))
