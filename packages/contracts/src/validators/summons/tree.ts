import type { PBool, PByteString, PData, PInt, PLam, PList } from '@harmoniclabs/plu-ts'
import { headerFieldIndex as Header } from '@ratatosk/block'
import { NodeOpening, Question, QuestionKind } from '../../summons-layout.js'
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
  lessThanInteger,
  multiplyInteger,
  nullList,
  sliceByteString,
  tailList,
  unBData,
  unIData,
  unListData,
} from '../core/builtins.js'
import { at, both, branch, constructorOf, either, every, fieldsOf, not } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  choose,
  type Data,
  defineOf,
  type Int,
  type List,
  lambda,
  recursive,
  scope,
  type Unit,
} from '../core/term.js'
import { childrenLength, emptyHash, rootOfSixteen } from '../mpf/merkle.js'
import { combine, nibbles, suffix } from '../mpf/nibbles.js'
import { areNibbles, fold, hashBytes, isPath, ofLength, pathLength } from '../mpf/proof.js'

/*
 * Questions about nodes of a map. Their key is a path of 32 bytes and the number of its first nibbles that
 * lead to the node, which is the hash of the question.
 */

const pathBytes = 32

/** Length in bytes of the key of a question about a node. */
export const treeKeyLength = pathBytes + 1

export const pathOf = (key: Bytes): Bytes => sliceByteString(integer(0), integer(pathBytes), key)
/** The number of nibbles above the node. */
export const depthOf = (key: Bytes): Int => indexByteString(key, integer(pathBytes))

/** The hash of the node at a depth of a path, over what the steps below it lead to. */
export const nodeAbove = (path: Bytes, steps: List, depth: Int, end: (cursor: Int) => Bytes): Bytes =>
  folded(path, steps, depth, lambda(end), boolean(false))

/** The hash of the node at a depth of a path that the map does not have. */
export const nodeWithout = (path: Bytes, steps: List, depth: Int): Bytes =>
  folded(
    path,
    steps,
    depth,
    lambda(() => emptyHash()),
    boolean(true),
  )

export const leafHash = (path: Bytes, valueHash: Bytes, depth: Int): Bytes =>
  combine(suffix(path, depth), valueHash)

const folded = defineOf<[PByteString, PList<PData>, PInt, PLam<PInt, PByteString>, PBool], PByteString>(
  5,
  (path, steps, depth, end, collapses) =>
    fold(path, steps, (cursor) => call<PByteString>(end, cursor), collapses, depth),
)

/**
 * Answers a question about a node: a leaf below it; for a subtree, the node and all of its children; for an
 * entry, the leaf at the path of the question or the proof that there is none. Leaves of the
 * transactions map are shown with key and value, those of other maps by path and hash of the value.
 *
 * @param answer `Branch [prefix, children, nodes]`, `Leaf [path, value, steps]` or `None [steps]`
 */
export const showsNode = (book: RuleBook, question: Data, asked: List, answer: Data): Unit =>
  scope(function* () {
    const kind = yield* bind(constructorOf(question))
    const isSubtree = yield* bind(equalsInteger(kind, integer(QuestionKind.subtree)))
    const isEntry = yield* bind(equalsInteger(kind, integer(QuestionKind.entry)))
    const key = yield* bind(unBData(at(asked, Question.key)))
    const node = yield* bind(unBData(at(asked, Question.hash)))
    const hasKeys = yield* bind(
      equalsInteger(unIData(at(asked, Question.root)), integer(Header.transactionsRoot)),
    )
    const part = yield* bind(
      lambda<PData, PByteString>((shown) =>
        choose(hasKeys, blake2b256(unBData(shown)), ofLength(unBData(shown), hashBytes)),
      ),
    )
    const leafAt = yield* bind(
      lambda<PData, PByteString>((shown) =>
        scope(function* () {
          const path = yield* bind(call<PByteString>(part, shown))
          return choose(isPath(path), path, fail<PByteString>())
        }),
      ),
    )
    const above = yield* bind(nibbles(pathOf(key), integer(0), depthOf(key)))
    const shown = yield* bind(fieldsOf(answer))
    return branch(
      constructorOf(answer),
      [
        NodeOpening.branch,
        scope(function* () {
          const children = yield* bind(unBData(at(shown, 1)))
          const below = yield* bind(appendByteString(above, unBData(headList(shown))))
          return book.enforce({
            'branch-answers-subtree': isSubtree,
            'branch-is-in-map': equalsByteString(branchHash(above, shown), node),
            'branch-shows-children': lessThanInteger(
              integer(1),
              countShown(unListData(at(shown, 2)), children, below, (path, opening) =>
                scope(function* () {
                  const fields = yield* bind(fieldsOf(opening))
                  return choose(
                    equalsInteger(constructorOf(opening), integer(NodeOpening.branch)),
                    branchHash(path, fields),
                    scope(function* () {
                      const leaf = yield* bind(call<PByteString>(leafAt, headList(fields)))
                      const depth = yield* bind(lengthOfByteString(path))
                      return choose(
                        equalsByteString(nibbles(leaf, integer(0), depth), path),
                        leafHash(leaf, call(part, at(fields, 1)), depth),
                        fail<PByteString>(),
                      )
                    }),
                  )
                }),
              ),
            ),
          })
        }),
      ],
      [
        NodeOpening.leaf,
        scope(function* () {
          const leaf = yield* bind(call<PByteString>(leafAt, headList(shown)))
          const value = yield* bind(call<PByteString>(part, at(shown, 1)))
          const steps = yield* bind(unListData(at(shown, 2)))
          const depth = yield* bind(depthOf(key))
          const isAtPath = yield* bind(equalsByteString(leaf, pathOf(key)))
          return book.enforce({
            'leaf-is-below': equalsByteString(nibbles(leaf, integer(0), depth), above),
            'leaf-is-asked-for': either(
              nullList(steps),
              choose(isEntry, isAtPath, both(not(isSubtree), not(isAtPath))),
            ),
            'leaf-is-in-map': equalsByteString(
              nodeAbove(leaf, steps, depth, (cursor) => leafHash(leaf, value, cursor)),
              node,
            ),
          })
        }),
      ],
      [
        NodeOpening.none,
        lacksEntry(book, isEntry, nodeWithout(pathOf(key), unListData(headList(shown)), depthOf(key)), node),
      ],
    )
  })

const lacksEntry = (book: RuleBook, isEntry: Bool, without: Bytes, node: Bytes): Unit =>
  book.enforce({
    'absence-answers-entry': isEntry,
    'entry-is-absent': equalsByteString(without, node),
  })

/** The hash of a branch below some nibbles; fails unless a map can have it. @param fields prefix, children */
const branchHash = defineOf<[PByteString, PList<PData>], PByteString>(2, (above, fields) =>
  scope(function* () {
    const prefix = yield* bind(unBData(headList(fields)))
    const children = yield* bind(unBData(at(fields, 1)))
    const fork = addInteger(lengthOfByteString(above), lengthOfByteString(prefix))
    return choose(
      every(
        areNibbles(prefix),
        lessThanInteger(fork, integer(pathLength)),
        equalsInteger(lengthOfByteString(children), integer(childrenLength)),
      ),
      combine(prefix, rootOfSixteen(children)),
      fail<PByteString>(),
    )
  }),
)

/** The number of children of a branch; fails unless each is shown. */
const countShown = (
  openings: List,
  children: Bytes,
  above: Bytes,
  hashOf: (path: Bytes, opening: Data) => Bytes,
): Int =>
  call(
    recursive<PList<PData>, PLam<PInt, PInt>>((self, rest) =>
      lambda((place) =>
        choose(
          nullList(rest),
          choose(equalsInteger(place, integer(16)), integer(0), fail<PInt>()),
          scope(function* () {
            const child = yield* bind(
              sliceByteString(multiplyInteger(place, integer(hashBytes)), integer(hashBytes), children),
            )
            const others = yield* bind(call<PInt>(self(tailList(rest)), addInteger(place, integer(1))))
            const path = appendByteString(above, consByteString(place, bytes(new Uint8Array())))
            return choose(
              equalsByteString(child, emptyHash()),
              others,
              choose(
                equalsByteString(hashOf(path, headList(rest)), child),
                addInteger(others, integer(1)),
                fail<PInt>(),
              ),
            )
          }),
        ),
      ),
    )(openings),
    integer(0),
  )
