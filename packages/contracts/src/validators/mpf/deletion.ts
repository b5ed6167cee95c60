import type { PBool, PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  appendByteString,
  boolean,
  equalsByteString,
  equalsInteger,
  headList,
  integer,
  nullList,
  sliceByteString,
  tailList,
  unBData,
  unIData,
  unListData,
} from '../core/builtins.js'
import { at, constructorOf, either, every, fieldsOf, not } from '../core/data.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  choose,
  type Data,
  type List,
  lambda,
  recursive,
  scope,
} from '../core/term.js'
import { emptyHash, hasTwo, rootAbove, rootsAbove } from './merkle.js'
import { combine, nibble, nibbles, suffix } from './nibbles.js'
import { type Branching, forked, hashBytes, leaf, natural, ofLength, Step } from './proof.js'

/*
 * Deletion of a key by the proof that it is there.
 *
 * A branch with one child is in no map: without the key, the only other child takes the branch's place. The
 * last step of a proof shows this child unless it claims that there are two, which its siblings do not
 * always show. Then the step has a third field: `[nibble, hash, siblings]` of another child, whose siblings
 * show two.
 */

const pair = (first: Bytes, second: Bytes): Bytes => appendByteString(first, second)
export const firstRoot = (roots: Bytes): Bytes => sliceByteString(integer(0), integer(hashBytes), roots)
export const secondRoot = (roots: Bytes): Bytes =>
  sliceByteString(integer(hashBytes), integer(hashBytes), roots)

/**
 * The root of the map in which a key has a value, and that of the map without the key, one behind the other.
 *
 * @param path the hash of the key
 * @param valueHash the hash of its value, 32 bytes
 * @param judged the roots, with whether the second is that of a map
 */
export function rootsAround(
  path: Bytes,
  valueHash: Bytes,
  proof: List,
  judged: (isMap: Bool, roots: Bytes) => Bytes,
): Bytes {
  const below = recursive<PList<PData>, PLam<PInt, PByteString>>((self, steps) =>
    lambda((cursor) =>
      choose(
        nullList(steps),
        pair(combine(suffix(path, cursor), valueHash), emptyHash()),
        scope(function* () {
          const step = yield* bind(headList(steps))
          const fields = yield* bind(fieldsOf(step))
          const fork = yield* bind(addInteger(cursor, natural(unIData(headList(fields)))))
          const rest = yield* bind(tailList(steps))
          const children = yield* bind(call<PByteString>(self(rest), addInteger(fork, integer(1))))
          const around: Branching = { path, cursor, fork }
          return choose(
            equalsInteger(constructorOf(step), integer(Step.branch)),
            besideMany(around, children, fields, nullList(rest), judged),
            besideOne(around, children, step, nullList(rest)),
          )
        }),
      ),
    ),
  )
  return call(below(proof), integer(0))
}

/** The nodes of a branch whose step claims two other children. @param last whether it is the last step */
const besideMany = (
  { path, cursor, fork }: Branching,
  children: Bytes,
  fields: List,
  last: Bool,
  judged: (isMap: Bool, roots: Bytes) => Bytes,
): Bytes =>
  scope(function* () {
    const siblings = yield* bind(ofLength(unBData(at(fields, 1)), 4 * hashBytes))
    const roots = yield* bind(
      rootsAbove(nibble(path, fork), firstRoot(children), secondRoot(children), siblings),
    )
    const prefix = yield* bind(nibbles(path, cursor, fork))
    const nodes = yield* bind(pair(combine(prefix, firstRoot(roots)), combine(prefix, secondRoot(roots))))
    return choose(last, judged(keepsTwo(fields, siblings, firstRoot(roots)), nodes), nodes)
  })

/** Whether a branch has two children besides the one that a step is beside. @param root over all children */
const keepsTwo = (fields: List, siblings: Bytes, root: Bytes): Bool =>
  either(
    hasTwo(siblings),
    scope(function* () {
      const other = yield* bind(unListData(at(fields, 2)))
      const hash = yield* bind(ofLength(unBData(at(other, 1)), hashBytes))
      const beside = yield* bind(ofLength(unBData(at(other, 2)), 4 * hashBytes))
      return every(
        hasTwo(beside),
        not(equalsByteString(hash, emptyHash())),
        equalsByteString(rootAbove(unIData(headList(other)), hash, beside), root),
      )
    }),
  )

/** The nodes of a branch with one other child; without the key, at the last step, this child's. */
const besideOne = (around: Branching, children: Bytes, step: Data, last: Bool): Bytes =>
  scope(function* () {
    const fields = yield* bind(fieldsOf(step))
    const node = yield* bind(
      lambda<PByteString, PLam<PBool, PByteString>>((child) =>
        lambda((alone) =>
          choose(
            equalsInteger(constructorOf(step), integer(Step.fork)),
            forked(around, child, fieldsOf(at(fields, 1)), alone),
            leaf(around, child, fields, alone),
          ),
        ),
      ),
    )
    const over = (child: Bytes, alone: Bool) => call<PByteString>(node, child, alone)
    return pair(over(firstRoot(children), boolean(false)), over(secondRoot(children), last))
  })
