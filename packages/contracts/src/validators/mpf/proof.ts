import type { PBool, PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import { redeemerOf } from '../core/context.js'
import { at, both, constructorOf, either, every, fieldsOf, not } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import * as p from '../core/term.js'
import {
  combine,
  emptyHash,
  hasTwo,
  nibble,
  nibbles,
  rootAbove,
  rootOfTwo,
  rootsAbove,
  suffix,
} from './merkle.js'

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
const Step = { branch: 0, fork: 1 } as const

/** The root of the map in which `key` has `value`; with the proof of an absent key, after its insertion. */
export const rootIncluding = (key: p.Bytes, value: p.Bytes, proof: p.List): p.Bytes =>
  rootAt(p.blake2b256(key), p.blake2b256(value), proof)

/** The root of the map without `key`. With the proof of a present key: the root after its deletion. */
export const rootExcluding = (key: p.Bytes, proof: p.List): p.Bytes =>
  rootAt(p.blake2b256(key), noValue(), proof)

/** Takes the place of a value's hash where the map lacks the key. */
export const noValue = (): p.Bytes => p.bytes(new Uint8Array())

/**
 * The root of a map, from one path. Fails for the hash of a value that has any length but 32 and 0: a leaf
 * with a short hash and a long path could have the hash of a branch.
 *
 * @param path the hash of a key; {@link isPath} if the prover may choose it
 * @param valueHash the hash of its value, 32 bytes; {@link noValue} for the map without the key
 */
export const rootAt = p.defineOf<[PByteString, PByteString, PList<PData>], PByteString>(
  3,
  (path, valueHash, proof) =>
    p.scope(function* () {
      const excluding = yield* p.bind(p.equalsInteger(p.lengthOfByteString(valueHash), p.integer(0)))
      return fold(
        path,
        proof,
        (cursor) =>
          p.choose(excluding, emptyHash(), combine(suffix(path, cursor), ofLength(valueHash, hashBytes))),
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
  path: p.Bytes,
  proof: p.List,
  end: (cursor: p.Int) => p.Bytes,
  collapses: p.Bool,
  depth: p.Int = p.integer(0),
): p.Bytes {
  const below = p.recursive<PList<PData>, PLam<PInt, PByteString>>((self, steps) =>
    p.lambda((cursor) =>
      p.choose(
        p.nullList(steps),
        end(cursor),
        p.scope(function* () {
          const step = yield* p.bind(p.headList(steps))
          const fields = yield* p.bind(fieldsOf(step))
          const kind = yield* p.bind(constructorOf(step))
          const fork = yield* p.bind(p.addInteger(cursor, natural(p.unIData(p.headList(fields)))))
          const next = yield* p.bind(p.addInteger(fork, p.integer(1)))
          const child = p.call<PByteString>(self(p.tailList(steps)), next)
          const around: Branching = { path, cursor, fork }
          const alone = both(collapses, p.nullList(p.tailList(steps)))
          return p.choose(
            p.equalsInteger(kind, p.integer(Step.branch)),
            branch(around, child, ofLength(p.unBData(at(fields, 1)), 4 * hashBytes)),
            p.choose(
              p.equalsInteger(kind, p.integer(Step.fork)),
              forked(around, child, fieldsOf(at(fields, 1)), alone),
              leaf(around, child, fields, alone),
            ),
          )
        }),
      ),
    ),
  )
  return p.call(below(proof), depth)
}

/** The place of a step: its prefix begins at nibble `cursor`, its children differ in nibble `fork`. */
interface Branching {
  readonly path: p.Bytes
  readonly cursor: p.Int
  readonly fork: p.Int
}

const branch = ({ path, cursor, fork }: Branching, child: p.Bytes, siblings: p.Bytes): p.Bytes =>
  combine(nibbles(path, cursor, fork), rootAbove(nibble(path, fork), child, siblings))

const pairOf = (
  { path, cursor, fork }: Branching,
  child: p.Bytes,
  place: p.Int,
  neighbor: p.Bytes,
): p.Bytes => combine(nibbles(path, cursor, fork), rootOfTwo(nibble(path, fork), child, place, neighbor))

/** The only neighbour is a branch. @param alone whether it takes the place of the branch above it */
const forked = (around: Branching, child: p.Bytes, neighbor: p.List, alone: p.Bool): p.Bytes =>
  p.scope(function* () {
    const { path, cursor, fork } = around
    const place = yield* p.bind(p.unIData(at(neighbor, 0)))
    const prefix = yield* p.bind(p.unBData(at(neighbor, 1)))
    const root = yield* p.bind(ofLength(p.unBData(at(neighbor, 2)), hashBytes))
    const stands = every(
      areNibbles(p.consByteString(place, prefix)),
      not(p.equalsInteger(place, nibble(path, fork))),
      p.lessThanInteger(p.addInteger(fork, p.lengthOfByteString(prefix)), p.integer(pathLength - 1)),
    )
    const collapsed = p.appendByteString(nibbles(path, cursor, fork), p.consByteString(place, prefix))
    return p.choose(
      stands,
      p.choose(alone, combine(collapsed, root), pairOf(around, child, place, combine(prefix, root))),
      p.fail(),
    )
  })

/** The only neighbour is a leaf, given by its full path. @param alone as above */
const leaf = (around: Branching, child: p.Bytes, fields: p.List, alone: p.Bool): p.Bytes =>
  p.scope(function* () {
    const { path, cursor, fork } = around
    const key = yield* p.bind(ofLength(p.unBData(at(fields, 1)), hashBytes))
    const value = yield* p.bind(ofLength(p.unBData(at(fields, 2)), hashBytes))
    const place = yield* p.bind(nibble(key, fork))
    const stands = both(
      p.equalsByteString(nibbles(key, p.integer(0), fork), nibbles(path, p.integer(0), fork)),
      not(p.equalsInteger(place, nibble(path, fork))),
    )
    return p.choose(
      stands,
      p.choose(
        alone,
        combine(suffix(key, cursor), value),
        pairOf(around, child, place, combine(suffix(key, p.addInteger(fork, p.integer(1))), value)),
      ),
      p.fail(),
    )
  })

const natural = (value: p.Int): p.Int =>
  p.scope(function* () {
    const number = yield* p.bind(value)
    return p.choose(p.lessThanEqualsInteger(p.integer(0), number), number, p.fail())
  })

export const ofLength = (value: p.Bytes, length: number): p.Bytes =>
  p.scope(function* () {
    const held = yield* p.bind(value)
    return p.choose(p.equalsInteger(p.lengthOfByteString(held), p.integer(length)), held, p.fail())
  })

/**
 * Whether bytes are the path of a leaf: 32, of which the last 24 are not all nibbles. The leaf of any other
 * path could have the hash of a branch, whose prefix has a nibble in each byte. To find a key with such a
 * path takes 2^96 tries. This holds for the hashes of values that {@link rootAt} takes, of 32 bytes.
 */
export const isPath = p.define<PByteString, PBool>((path) =>
  both(
    p.equalsInteger(p.lengthOfByteString(path), p.integer(hashBytes)),
    not(areNibbles(p.sliceByteString(p.integer(8), p.integer(24), path))),
  ),
)

export const areNibbles = (held: p.Bytes): p.Bool =>
  p.scope(function* () {
    const whole = yield* p.bind(held)
    const from = p.recursive<PInt, PBool>((self, index) =>
      p.choose(
        p.equalsInteger(index, p.lengthOfByteString(whole)),
        p.boolean(true),
        both(
          p.lessThanInteger(p.indexByteString(whole, index), p.integer(16)),
          self(p.addInteger(index, p.integer(1))),
        ),
      ),
    )
    return from(p.integer(0))
  })

/*
 * Deletion of a key by the proof that it is there.
 *
 * A branch with one child is in no map: without the key, the only other child takes the branch's place. The
 * last step of a proof shows this child unless it claims that there are two, which its siblings do not
 * always show. Then the step has a third field: `[nibble, hash, siblings]` of another child, whose siblings
 * show two.
 */

const pair = (first: p.Bytes, second: p.Bytes): p.Bytes => p.appendByteString(first, second)
export const firstRoot = (roots: p.Bytes): p.Bytes =>
  p.sliceByteString(p.integer(0), p.integer(hashBytes), roots)
export const secondRoot = (roots: p.Bytes): p.Bytes =>
  p.sliceByteString(p.integer(hashBytes), p.integer(hashBytes), roots)

/**
 * The root of the map in which a key has a value, and that of the map without the key, one behind the other.
 *
 * @param path the hash of the key
 * @param valueHash the hash of its value, 32 bytes
 * @param judged the roots, with whether the second is that of a map
 */
export function rootsAround(
  path: p.Bytes,
  valueHash: p.Bytes,
  proof: p.List,
  judged: (isMap: p.Bool, roots: p.Bytes) => p.Bytes,
): p.Bytes {
  const below = p.recursive<PList<PData>, PLam<PInt, PByteString>>((self, steps) =>
    p.lambda((cursor) =>
      p.choose(
        p.nullList(steps),
        pair(combine(suffix(path, cursor), valueHash), emptyHash()),
        p.scope(function* () {
          const step = yield* p.bind(p.headList(steps))
          const fields = yield* p.bind(fieldsOf(step))
          const fork = yield* p.bind(p.addInteger(cursor, natural(p.unIData(p.headList(fields)))))
          const rest = yield* p.bind(p.tailList(steps))
          const children = yield* p.bind(p.call<PByteString>(self(rest), p.addInteger(fork, p.integer(1))))
          const around: Branching = { path, cursor, fork }
          return p.choose(
            p.equalsInteger(constructorOf(step), p.integer(Step.branch)),
            besideMany(around, children, fields, p.nullList(rest), judged),
            besideOne(around, children, step, p.nullList(rest)),
          )
        }),
      ),
    ),
  )
  return p.call(below(proof), p.integer(0))
}

/** The nodes of a branch whose step claims two other children. @param last whether it is the last step */
const besideMany = (
  { path, cursor, fork }: Branching,
  children: p.Bytes,
  fields: p.List,
  last: p.Bool,
  judged: (isMap: p.Bool, roots: p.Bytes) => p.Bytes,
): p.Bytes =>
  p.scope(function* () {
    const siblings = yield* p.bind(ofLength(p.unBData(at(fields, 1)), 4 * hashBytes))
    const roots = yield* p.bind(
      rootsAbove(nibble(path, fork), firstRoot(children), secondRoot(children), siblings),
    )
    const prefix = yield* p.bind(nibbles(path, cursor, fork))
    const nodes = yield* p.bind(pair(combine(prefix, firstRoot(roots)), combine(prefix, secondRoot(roots))))
    return p.choose(last, judged(keepsTwo(fields, siblings, firstRoot(roots)), nodes), nodes)
  })

/** Whether a branch has two children besides the one that a step is beside. @param root over all children */
const keepsTwo = (fields: p.List, siblings: p.Bytes, root: p.Bytes): p.Bool =>
  either(
    hasTwo(siblings),
    p.scope(function* () {
      const other = yield* p.bind(p.unListData(at(fields, 2)))
      const hash = yield* p.bind(ofLength(p.unBData(at(other, 1)), hashBytes))
      const beside = yield* p.bind(ofLength(p.unBData(at(other, 2)), 4 * hashBytes))
      return every(
        hasTwo(beside),
        not(p.equalsByteString(hash, emptyHash())),
        p.equalsByteString(rootAbove(p.unIData(p.headList(other)), hash, beside), root),
      )
    }),
  )

/** The nodes of a branch with one other child; without the key, at the last step, this child's. */
const besideOne = (around: Branching, children: p.Bytes, step: p.Data, last: p.Bool): p.Bytes =>
  p.scope(function* () {
    const fields = yield* p.bind(fieldsOf(step))
    const node = yield* p.bind(
      p.lambda<PByteString, PLam<PBool, PByteString>>((child) =>
        p.lambda((alone) =>
          p.choose(
            p.equalsInteger(constructorOf(step), p.integer(Step.fork)),
            forked(around, child, fieldsOf(at(fields, 1)), alone),
            leaf(around, child, fields, alone),
          ),
        ),
      ),
    )
    const over = (child: p.Bytes, alone: p.Bool) => p.call<PByteString>(node, child, alone)
    return pair(over(firstRoot(children), p.boolean(false)), over(secondRoot(children), last))
  })

/** The claims `[root, key, value, proof, next root]`; `leads`: path `key` leads to a leaf of hash `value`. */
export const Claim = { has: 0, misses: 1, inserts: 2, deletes: 3, leads: 4 } as const

/** A validator that succeeds if the redeemer's proof proves its claim; for tests and measurements. */
export const proofCheck = (book: RuleBook, context: p.Data): p.Unit =>
  p.scope(function* () {
    const redeemer = yield* p.bind(redeemerOf(context))
    const claim = yield* p.bind(constructorOf(redeemer))
    const fields = yield* p.bind(fieldsOf(redeemer))
    const root = yield* p.bind(p.unBData(at(fields, 0)))
    const next = yield* p.bind(p.unBData(at(fields, 4)))
    const key = p.unBData(at(fields, 1))
    const value = p.unBData(at(fields, 2))
    const proof = p.unListData(at(fields, 3))
    const include = yield* p.bind(p.lambda<PData, PByteString>(() => rootIncluding(key, value, proof)))
    const exclude = yield* p.bind(p.lambda<PData, PByteString>(() => rootExcluding(key, proof)))
    const including: p.Bytes = p.call(include, redeemer)
    const excluding: p.Bytes = p.call(exclude, redeemer)
    const is = (index: number) => p.equalsInteger(claim, p.integer(index))
    const proven = p.choose(
      is(Claim.has),
      p.equalsByteString(including, root),
      p.choose(
        is(Claim.misses),
        p.equalsByteString(excluding, root),
        p.choose(
          is(Claim.inserts),
          both(p.equalsByteString(excluding, root), p.equalsByteString(including, next)),
          p.choose(
            is(Claim.deletes),
            both(p.equalsByteString(including, root), p.equalsByteString(excluding, next)),
            p.choose(is(Claim.leads), p.equalsByteString(rootAt(key, value, proof), root), p.fail()),
          ),
        ),
      ),
    )
    return book.enforce({ 'proof-proves-claim': proven })
  })
