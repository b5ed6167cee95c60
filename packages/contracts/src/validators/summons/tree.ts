import type { PBool, PByteString, PData, PInt, PLam, PList, Term } from '@harmoniclabs/plu-ts'
import { headerFieldIndex as Header } from '@ratatosk/block'
import { NodeOpening, Question, QuestionKind } from '../../layout.js'
import { at, both, branch, constructorOf, either, every, fieldsOf, not } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import * as p from '../core/term.js'
import { childrenLength, combine, emptyHash, nibbles, rootOfSixteen, suffix } from '../mpf/merkle.js'
import { areNibbles, fold, hashBytes, isPath, ofLength, pathLength } from '../mpf/proof.js'

/*
 * Questions about nodes of a map. Their key is a path of 32 bytes and the number of its first nibbles that
 * lead to the node, which is the hash of the question.
 */

const pathBytes = 32

/** Reads a part of what an answer shows. */
type Part = Term<PLam<PData, PByteString>>

/** Length in bytes of the key of a question about a node. */
export const treeKeyLength = pathBytes + 1

export const pathOf = (key: p.Bytes): p.Bytes => p.sliceByteString(p.integer(0), p.integer(pathBytes), key)
/** The number of nibbles above the node. */
export const depthOf = (key: p.Bytes): p.Int => p.indexByteString(key, p.integer(pathBytes))

/** The hash of the node at a depth of a path, over what the steps below it lead to. */
export const nodeAbove = (
  path: p.Bytes,
  steps: p.List,
  depth: p.Int,
  end: (cursor: p.Int) => p.Bytes,
): p.Bytes => folded(path, steps, depth, p.lambda(end), p.boolean(false))

/** The hash of the node at a depth of a path that the map does not have. */
export const nodeWithout = (path: p.Bytes, steps: p.List, depth: p.Int): p.Bytes =>
  folded(
    path,
    steps,
    depth,
    p.lambda(() => emptyHash()),
    p.boolean(true),
  )

export const leafHash = (path: p.Bytes, valueHash: p.Bytes, depth: p.Int): p.Bytes =>
  combine(suffix(path, depth), valueHash)

const folded = p.defineOf<[PByteString, PList<PData>, PInt, PLam<PInt, PByteString>, PBool], PByteString>(
  5,
  (path, steps, depth, end, collapses) =>
    fold(path, steps, (cursor) => p.call<PByteString>(end, cursor), collapses, depth),
)

/**
 * Answers a question about a node: a leaf below it; for a subtree, the node and all of its children; for an
 * entry, the leaf at the path of the question or the proof that there is none. Leaves of the
 * transactions map are shown with key and value, those of other maps by path and hash of the value.
 *
 * @param answer `Branch [prefix, children, nodes]`, `Leaf [path, value, steps]` or `None [steps]`
 */
export const showsNode = (book: RuleBook, question: p.Data, asked: p.List, answer: p.Data): p.Unit =>
  p.scope(function* () {
    const kind = yield* p.bind(constructorOf(question))
    const isSubtree = yield* p.bind(p.equalsInteger(kind, p.integer(QuestionKind.subtree)))
    const isEntry = yield* p.bind(p.equalsInteger(kind, p.integer(QuestionKind.entry)))
    const key = yield* p.bind(p.unBData(at(asked, Question.key)))
    const node = yield* p.bind(p.unBData(at(asked, Question.hash)))
    const hasKeys = yield* p.bind(
      p.equalsInteger(p.unIData(at(asked, Question.root)), p.integer(Header.transactionsRoot)),
    )
    const part = yield* p.bind(
      p.lambda<PData, PByteString>((shown) =>
        p.choose(hasKeys, p.blake2b256(p.unBData(shown)), ofLength(p.unBData(shown), hashBytes)),
      ),
    )
    const leafAt = yield* p.bind(
      p.lambda<PData, PByteString>((shown) =>
        p.scope(function* () {
          const path = yield* p.bind(p.call<PByteString>(part, shown))
          return p.choose(isPath(path), path, p.fail<PByteString>())
        }),
      ),
    )
    const above = yield* p.bind(nibbles(pathOf(key), p.integer(0), depthOf(key)))
    const shown = yield* p.bind(fieldsOf(answer))
    return branch(
      constructorOf(answer),
      [
        NodeOpening.branch,
        p.scope(function* () {
          const children = yield* p.bind(p.unBData(at(shown, 1)))
          const below = yield* p.bind(p.appendByteString(above, p.unBData(p.headList(shown))))
          return book.enforce({
            'branch-answers-subtree': isSubtree,
            'branch-is-in-map': p.equalsByteString(branchHash(above, shown), node),
            'branch-shows-children': p.lessThanInteger(
              p.integer(1),
              countShown(p.unListData(at(shown, 2)), children, below, hashOfChild(leafAt, part)),
            ),
          })
        }),
      ],
      [
        NodeOpening.leaf,
        p.scope(function* () {
          const leaf = yield* p.bind(p.call<PByteString>(leafAt, p.headList(shown)))
          const value = yield* p.bind(p.call<PByteString>(part, at(shown, 1)))
          const steps = yield* p.bind(p.unListData(at(shown, 2)))
          const depth = yield* p.bind(depthOf(key))
          const isAtPath = yield* p.bind(p.equalsByteString(leaf, pathOf(key)))
          return book.enforce({
            'leaf-is-below': p.equalsByteString(nibbles(leaf, p.integer(0), depth), above),
            'leaf-is-asked-for': either(
              p.nullList(steps),
              p.choose(isEntry, isAtPath, both(not(isSubtree), not(isAtPath))),
            ),
            'leaf-is-in-map': p.equalsByteString(
              nodeAbove(leaf, steps, depth, (cursor) => leafHash(leaf, value, cursor)),
              node,
            ),
          })
        }),
      ],
      [
        NodeOpening.none,
        lacksEntry(
          book,
          isEntry,
          nodeWithout(pathOf(key), p.unListData(p.headList(shown)), depthOf(key)),
          node,
        ),
      ],
    )
  })

/** The hash of a child that is shown below a path; fails for a leaf that is not below it. */
const hashOfChild = (leafAt: Part, part: Part) => (path: p.Bytes, opening: p.Data) =>
  p.scope(function* () {
    const fields = yield* p.bind(fieldsOf(opening))
    return p.choose(
      p.equalsInteger(constructorOf(opening), p.integer(NodeOpening.branch)),
      branchHash(path, fields),
      p.scope(function* () {
        const leaf = yield* p.bind(p.call<PByteString>(leafAt, p.headList(fields)))
        const depth = yield* p.bind(p.lengthOfByteString(path))
        return p.choose(
          p.equalsByteString(nibbles(leaf, p.integer(0), depth), path),
          leafHash(leaf, p.call(part, at(fields, 1)), depth),
          p.fail<PByteString>(),
        )
      }),
    )
  })

const lacksEntry = (book: RuleBook, isEntry: p.Bool, without: p.Bytes, node: p.Bytes): p.Unit =>
  book.enforce({
    'absence-answers-entry': isEntry,
    'entry-is-absent': p.equalsByteString(without, node),
  })

/** The hash of a branch below some nibbles; fails unless a map can have it. @param fields prefix, children */
const branchHash = p.defineOf<[PByteString, PList<PData>], PByteString>(2, (above, fields) =>
  p.scope(function* () {
    const prefix = yield* p.bind(p.unBData(p.headList(fields)))
    const children = yield* p.bind(p.unBData(at(fields, 1)))
    const fork = p.addInteger(p.lengthOfByteString(above), p.lengthOfByteString(prefix))
    return p.choose(
      every(
        areNibbles(prefix),
        p.lessThanInteger(fork, p.integer(pathLength)),
        p.equalsInteger(p.lengthOfByteString(children), p.integer(childrenLength)),
      ),
      combine(prefix, rootOfSixteen(children)),
      p.fail<PByteString>(),
    )
  }),
)

/** The number of children of a branch; fails unless each is shown. */
const countShown = (
  openings: p.List,
  children: p.Bytes,
  above: p.Bytes,
  hashOf: (path: p.Bytes, opening: p.Data) => p.Bytes,
): p.Int =>
  p.call(
    p.recursive<PList<PData>, PLam<PInt, PInt>>((self, rest) =>
      p.lambda((place) =>
        p.choose(
          p.nullList(rest),
          p.choose(p.equalsInteger(place, p.integer(16)), p.integer(0), p.fail<PInt>()),
          p.scope(function* () {
            const child = yield* p.bind(
              p.sliceByteString(
                p.multiplyInteger(place, p.integer(hashBytes)),
                p.integer(hashBytes),
                children,
              ),
            )
            const others = yield* p.bind(
              p.call<PInt>(self(p.tailList(rest)), p.addInteger(place, p.integer(1))),
            )
            const path = p.appendByteString(above, p.consByteString(place, p.bytes(new Uint8Array())))
            return p.choose(
              p.equalsByteString(child, emptyHash()),
              others,
              p.choose(
                p.equalsByteString(hashOf(path, p.headList(rest)), child),
                p.addInteger(others, p.integer(1)),
                p.fail<PInt>(),
              ),
            )
          }),
        ),
      ),
    )(openings),
    p.integer(0),
  )
