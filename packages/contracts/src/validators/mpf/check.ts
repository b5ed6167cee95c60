import type { PByteString, PData } from '@harmoniclabs/plu-ts'
import { equalsByteString, equalsInteger, fail, integer, unBData, unListData } from '../core/builtins.js'
import { redeemerOf } from '../core/context.js'
import { at, both, constructorOf, fieldsOf } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import { type Bytes, bind, call, choose, type Data, lambda, scope, type Unit } from '../core/term.js'
import { rootAt, rootExcluding, rootIncluding } from './proof.js'

/** The claims `[root, key, value, proof, next root]`; `leads`: path `key` leads to a leaf of hash `value`. */
export const Claim = { has: 0, misses: 1, inserts: 2, deletes: 3, leads: 4 } as const

/** A validator that succeeds if the redeemer's proof proves its claim; for tests and measurements. */
export const proofCheck = (book: RuleBook, context: Data): Unit =>
  scope(function* () {
    const redeemer = yield* bind(redeemerOf(context))
    const claim = yield* bind(constructorOf(redeemer))
    const fields = yield* bind(fieldsOf(redeemer))
    const root = yield* bind(unBData(at(fields, 0)))
    const next = yield* bind(unBData(at(fields, 4)))
    const key = unBData(at(fields, 1))
    const value = unBData(at(fields, 2))
    const proof = unListData(at(fields, 3))
    const include = yield* bind(lambda<PData, PByteString>(() => rootIncluding(key, value, proof)))
    const exclude = yield* bind(lambda<PData, PByteString>(() => rootExcluding(key, proof)))
    const including: Bytes = call(include, redeemer)
    const excluding: Bytes = call(exclude, redeemer)
    const is = (index: number) => equalsInteger(claim, integer(index))
    const proven = choose(
      is(Claim.has),
      equalsByteString(including, root),
      choose(
        is(Claim.misses),
        equalsByteString(excluding, root),
        choose(
          is(Claim.inserts),
          both(equalsByteString(excluding, root), equalsByteString(including, next)),
          choose(
            is(Claim.deletes),
            both(equalsByteString(including, root), equalsByteString(excluding, next)),
            choose(is(Claim.leads), equalsByteString(rootAt(key, value, proof), root), fail()),
          ),
        ),
      ),
    )
    return book.enforce({ 'proof-proves-claim': proven })
  })
