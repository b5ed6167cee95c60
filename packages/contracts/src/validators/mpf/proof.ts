import type { PBool, PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  appendByteString,
  blake2b256,
  boolean,
  bytes,
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
  sliceByteString,
  tailList,
  unBData,
  unIData,
} from '../core/builtins.js'
import { at, both, constructorOf, every, fieldsOf, not } from '../core/data.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  choose,
  define,
  defineOf,
  type Int,
  type List,
  lambda,
  recursive,
  scope,
} from '../core/term.js'
import { emptyHash, rootAbove, rootOfTwo } from './merkle.js'
import { combine, nibble, nibbles, suffix } from './nibbles.js'

/*
 * On-chain verification of Merkle Patricia Forestry proofs, in the encoding of Aiken's library and
 * `@ratatosk/trie`. A forged proof fails, or gives a root that belongs to no map.
 *
 * The constructor of a fork's neighbour is not read, and a step of any constructor but the first two is a
 * leaf: so one proof has several forms, which all prove the same.
 */

export const pathLength = 64
export const hashBytes = 32
/** Constructors of a step: any other is a leaf. */
export const Step = { branch: 0, fork: 1 } as const

/** The root of the map in which `key` has `value`; with the proof of an absent key, after its insertion. */
export const rootIncluding = (key: Bytes, value: Bytes, proof: List): Bytes =>
  rootAt(blake2b256(key), blake2b256(value), proof)

/** The root of the map without `key`. With the proof of a present key: the root after its deletion. */
export const rootExcluding = (key: Bytes, proof: List): Bytes => rootAt(blake2b256(key), noValue(), proof)

/** Takes the place of a value's hash where the map lacks the key. */
export const noValue = (): Bytes => bytes(new Uint8Array())

/**
 * The root of a map, from one path. Fails for the hash of a value that has any length but 32 and 0: a leaf
 * with a short hash and a long path could have the hash of a branch.
 *
 * @param path the hash of a key; {@link isPath} if the prover may choose it
 * @param valueHash the hash of its value, 32 bytes; {@link noValue} for the map without the key
 */
export const rootAt = defineOf<[PByteString, PByteString, PList<PData>], PByteString>(
  3,
  (path, valueHash, proof) =>
    scope(function* () {
      const excluding = yield* bind(equalsInteger(lengthOfByteString(valueHash), integer(0)))
      return fold(
        path,
        proof,
        (cursor) =>
          choose(excluding, emptyHash(), combine(suffix(path, cursor), ofLength(valueHash, hashBytes))),
        excluding,
      )
    }),
)

/**
 * The hash of a node, from one path through it.
 * @param end the hash below the last step
 * @param collapses whether a neighbour that is the only one left replaces its branch
 * @param depth the number of nibbles above the node
 */
export function fold(
  path: Bytes,
  proof: List,
  end: (cursor: Int) => Bytes,
  collapses: Bool,
  depth: Int = integer(0),
): Bytes {
  const below = recursive<PList<PData>, PLam<PInt, PByteString>>((self, steps) =>
    lambda((cursor) =>
      choose(
        nullList(steps),
        end(cursor),
        scope(function* () {
          const step = yield* bind(headList(steps))
          const fields = yield* bind(fieldsOf(step))
          const kind = yield* bind(constructorOf(step))
          const fork = yield* bind(addInteger(cursor, natural(unIData(headList(fields)))))
          const next = yield* bind(addInteger(fork, integer(1)))
          const child = call<PByteString>(self(tailList(steps)), next)
          const around: Branching = { path, cursor, fork }
          const alone = both(collapses, nullList(tailList(steps)))
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
  return call(below(proof), depth)
}

/** The place of a step: its prefix begins at nibble `cursor`, its children differ in nibble `fork`. */
export interface Branching {
  readonly path: Bytes
  readonly cursor: Int
  readonly fork: Int
}

const branch = ({ path, cursor, fork }: Branching, child: Bytes, siblings: Bytes): Bytes =>
  combine(nibbles(path, cursor, fork), rootAbove(nibble(path, fork), child, siblings))

const pairOf = ({ path, cursor, fork }: Branching, child: Bytes, place: Int, neighbor: Bytes): Bytes =>
  combine(nibbles(path, cursor, fork), rootOfTwo(nibble(path, fork), child, place, neighbor))

/** The only neighbour is a branch. @param alone whether it takes the place of the branch above it */
export const forked = (around: Branching, child: Bytes, neighbor: List, alone: Bool): Bytes =>
  scope(function* () {
    const { path, cursor, fork } = around
    const place = yield* bind(unIData(at(neighbor, 0)))
    const prefix = yield* bind(unBData(at(neighbor, 1)))
    const root = yield* bind(ofLength(unBData(at(neighbor, 2)), hashBytes))
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

/** The only neighbour is a leaf, given by its full path. @param alone as above */
export const leaf = (around: Branching, child: Bytes, fields: List, alone: Bool): Bytes =>
  scope(function* () {
    const { path, cursor, fork } = around
    const key = yield* bind(ofLength(unBData(at(fields, 1)), hashBytes))
    const value = yield* bind(ofLength(unBData(at(fields, 2)), hashBytes))
    const place = yield* bind(nibble(key, fork))
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

export const natural = (value: Int): Int =>
  scope(function* () {
    const number = yield* bind(value)
    return choose(lessThanEqualsInteger(integer(0), number), number, fail())
  })

export const ofLength = (value: Bytes, length: number): Bytes =>
  scope(function* () {
    const held = yield* bind(value)
    return choose(equalsInteger(lengthOfByteString(held), integer(length)), held, fail())
  })

/**
 * Whether bytes are the path of a leaf: 32, of which the last 24 are not all nibbles. The leaf of any other
 * path could have the hash of a branch, whose prefix has a nibble in each byte. To find a key with such a
 * path takes 2^96 tries. This holds for the hashes of values that {@link rootAt} takes, of 32 bytes.
 */
export const isPath = define<PByteString, PBool>((path) =>
  both(
    equalsInteger(lengthOfByteString(path), integer(hashBytes)),
    not(areNibbles(sliceByteString(integer(8), integer(24), path))),
  ),
)

export const areNibbles = (held: Bytes): Bool =>
  scope(function* () {
    const whole = yield* bind(held)
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
