import type { PByteString, PData } from '@harmoniclabs/plu-ts'
import { equalsByteString, equalsInteger, fail, integer, unBData, unListData } from '../core/builtins.js'
import { redeemerOf } from '../core/context.js'
import { at, both, constructorOf, fieldsOf } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import { type Bytes, call, choose, type Data, keep, lambda, naming, type Unit } from '../core/term.js'
import { rootExcluding, rootIncluding } from './proof.js'

/** What a proof shows, by the constructor of the redeemer `[root, key, value, proof, next root]`. */
export const Claim = { has: 0, misses: 1, inserts: 2, deletes: 3 } as const

/** Succeeds where the redeemer's proof shows what the redeemer claims: the proofs' own validator, for tests and examples. */
export const proofCheck = (book: RuleBook, context: Data): Unit =>
  naming(function* () {
    const redeemer = yield* keep(redeemerOf(context))
    const claim = yield* keep(constructorOf(redeemer))
    const fields = yield* keep(fieldsOf(redeemer))
    const root = yield* keep(unBData(at(fields, 0)))
    const next = yield* keep(unBData(at(fields, 4)))
    const key = unBData(at(fields, 1))
    const value = unBData(at(fields, 2))
    const proof = unListData(at(fields, 3))
    const include = yield* keep(lambda<PData, PByteString>(() => rootIncluding(key, value, proof)))
    const exclude = yield* keep(lambda<PData, PByteString>(() => rootExcluding(key, proof)))
    const including: Bytes = call(include, redeemer)
    const excluding: Bytes = call(exclude, redeemer)
    const is = (index: number) => equalsInteger(claim, integer(index))
    const shown = choose(
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
            fail(),
          ),
        ),
      ),
    )
    return book.enforce({ 'proof-shows-the-claim': shown })
  })
