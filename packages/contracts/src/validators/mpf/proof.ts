import type { PBool, PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  appendByteString,
  blake2b256,
  boolean,
  consByteString,
  equalsByteString,
  equalsInteger,
  fail,
  headList,
  indexByteString,
  integer,
  lengthOfByteString,
  lessThanEqualsInteger,
  lessThanInteger,
  nullList,
  tailList,
  unBData,
  unIData,
} from '../core/builtins.js'
import { at, both, constructorOf, every, fieldsOf, not } from '../core/data.js'
import {
  type Bool,
  type Bytes,
  call,
  choose,
  type Int,
  keep,
  type List,
  lambda,
  naming,
  recursive,
} from '../core/term.js'
import { emptyHash, rootAbove, rootOfTwo } from './merkle.js'
import { combine, nibble, nibbles, suffix } from './nibbles.js'

/*
 * Proofs of the Merkle Patricia Forestry on chain, in the data that Aiken's library and `@ratatosk/trie` write. A proof
 * that no map has fails, or gives a root that no map has.
 */

const pathLength = 64
const hashBytes = 32
const Step = { branch: 0, fork: 1 } as const

/** The root of the map in which `key` has `value`. With the proof of an absent key: the root after its insertion. */
export const rootIncluding = (key: Bytes, value: Bytes, proof: List): Bytes =>
  naming(function* () {
    const path = yield* keep(blake2b256(key))
    const valueHash = yield* keep(blake2b256(value))
    return fold(path, proof, (cursor) => combine(suffix(path, cursor), valueHash), false)
  })

/** The root of the map without `key`. With the proof of a present key: the root after its deletion. */
export const rootExcluding = (key: Bytes, proof: List): Bytes =>
  naming(function* () {
    const path = yield* keep(blake2b256(key))
    return fold(path, proof, emptyHash, true)
  })

/**
 * @param end the hash below the last step
 * @param collapses whether a neighbour that is left alone at the end takes the place of its branch
 */
function fold(path: Bytes, proof: List, end: (cursor: Int) => Bytes, collapses: boolean): Bytes {
  const below = recursive<PList<PData>, PLam<PInt, PByteString>>((self, steps) =>
    lambda((cursor) =>
      choose(
        nullList(steps),
        end(cursor),
        naming(function* () {
          const step = yield* keep(headList(steps))
          const fields = yield* keep(fieldsOf(step))
          const kind = yield* keep(constructorOf(step))
          const fork = yield* keep(addInteger(cursor, natural(unIData(headList(fields)))))
          const next = yield* keep(addInteger(fork, integer(1)))
          const child = call<PByteString>(self(tailList(steps)), next)
          const around: Place = { path, cursor, fork }
          const alone = collapses ? nullList(tailList(steps)) : boolean(false)
          return choose(
            equalsInteger(kind, integer(Step.branch)),
            branch(around, child, ofLength(unBData(at(fields, 1)), 4 * hashBytes)),
            choose(
              equalsInteger(kind, integer(Step.fork)),
              forked(around, child, fieldsOf(at(fields, 1)), alone),
              leaf(around, child, fields, alone),
            ),
          )
        }),
      ),
    ),
  )
  return call(below(proof), integer(0))
}

/** Where a step stands: its prefix begins at nibble `cursor`, its children differ in nibble `fork`. */
interface Place {
  readonly path: Bytes
  readonly cursor: Int
  readonly fork: Int
}

const branch = ({ path, cursor, fork }: Place, child: Bytes, siblings: Bytes): Bytes =>
  combine(nibbles(path, cursor, fork), rootAbove(nibble(path, fork), child, siblings))

const pairOf = ({ path, cursor, fork }: Place, child: Bytes, place: Int, neighbor: Bytes): Bytes =>
  combine(nibbles(path, cursor, fork), rootOfTwo(nibble(path, fork), child, place, neighbor))

/** The only neighbour is a branch. */
const forked = (around: Place, child: Bytes, neighbor: List, alone: Bool): Bytes =>
  naming(function* () {
    const { path, cursor, fork } = around
    const place = yield* keep(unIData(at(neighbor, 0)))
    const prefix = yield* keep(unBData(at(neighbor, 1)))
    const root = yield* keep(ofLength(unBData(at(neighbor, 2)), hashBytes))
    const stands = every(
      areNibbles(consByteString(place, prefix)),
      not(equalsInteger(place, nibble(path, fork))),
      lessThanInteger(addInteger(fork, lengthOfByteString(prefix)), integer(pathLength - 1)),
    )
    const collapsed = appendByteString(nibbles(path, cursor, fork), consByteString(place, prefix))
    return choose(
      stands,
      choose(alone, combine(collapsed, root), pairOf(around, child, place, combine(prefix, root))),
      fail(),
    )
  })

/** The only neighbour is a leaf, named by its whole path. */
const leaf = (around: Place, child: Bytes, fields: List, alone: Bool): Bytes =>
  naming(function* () {
    const { path, cursor, fork } = around
    const key = yield* keep(ofLength(unBData(at(fields, 1)), hashBytes))
    const value = yield* keep(ofLength(unBData(at(fields, 2)), hashBytes))
    const place = yield* keep(nibble(key, fork))
    const stands = both(
      equalsByteString(nibbles(key, integer(0), fork), nibbles(path, integer(0), fork)),
      not(equalsInteger(place, nibble(path, fork))),
    )
    return choose(
      stands,
      choose(
        alone,
        combine(suffix(key, cursor), value),
        pairOf(around, child, place, combine(suffix(key, addInteger(fork, integer(1))), value)),
      ),
      fail(),
    )
  })

const natural = (value: Int): Int =>
  naming(function* () {
    const number = yield* keep(value)
    return choose(lessThanEqualsInteger(integer(0), number), number, fail())
  })

const ofLength = (value: Bytes, length: number): Bytes =>
  naming(function* () {
    const held = yield* keep(value)
    return choose(equalsInteger(lengthOfByteString(held), integer(length)), held, fail())
  })

const areNibbles = (held: Bytes): Bool =>
  naming(function* () {
    const whole = yield* keep(held)
    const from = recursive<PInt, PBool>((self, index) =>
      choose(
        equalsInteger(index, lengthOfByteString(whole)),
        boolean(true),
        both(
          lessThanInteger(indexByteString(whole, index), integer(16)),
          self(addInteger(index, integer(1))),
        ),
      ),
    )
    return from(integer(0))
  })
