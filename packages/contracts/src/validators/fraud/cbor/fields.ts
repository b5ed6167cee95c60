import type { PByteString, PInt, PLam, PType, Term } from '@harmoniclabs/plu-ts'
import { addInteger, equalsInteger, indexByteString, integer, subtractInteger } from '../../core/builtins.js'
import { type Bytes, bind, call, choose, defineOf, fixed, type Int, lambda, scope } from '../../core/term.js'
import { isEnd, withMap } from './read.js'
import { nowhere, type Skip, skipIn } from './skip.js'

/** The terms that take the places of four fields. */
type Places = PLam<PInt, PLam<PInt, PLam<PInt, PLam<PInt, PType>>>>

const fieldsUnder = defineOf<[PByteString, PInt, PInt, PInt, PInt, PInt, Places], PType>(
  7,
  (cbor, map, one, two, three, four, then) =>
    scope(function* () {
      const behind = yield* bind(call<Skip>(skipIn, cbor))
      const find = fixed<PInt, PLam<PInt, Places>>((self, left) =>
        lambda((place) =>
          lambda((first) =>
            lambda((second) =>
              lambda((third) =>
                lambda((fourth) =>
                  choose(
                    isEnd(cbor, left, place),
                    call(then, first, second, third, fourth),
                    scope(function* () {
                      const key = yield* bind(indexByteString(cbor, place))
                      const value = yield* bind(addInteger(place, integer(1)))
                      const found = (wanted: Int, earlier: Int) =>
                        choose(equalsInteger(key, wanted), value, earlier)
                      return call(
                        self(subtractInteger(left, integer(1))),
                        call<PInt>(behind, integer(2), place),
                        found(one, first),
                        found(two, second),
                        found(three, third),
                        found(four, fourth),
                      )
                    }),
                  ),
                ),
              ),
            ),
          ),
        ),
      )
      const none = integer(nowhere)
      return withMap(cbor, map, (count, first) => call(find, count, first, none, none, none, none))
    }),
)

/**
 * Reads up to four fields of the map at the start of CBOR in one pass: where the value of each is, as
 * `fieldAt`. Of a key that comes again, the last counts.
 */
export const withFields = <T extends PType>(
  cbor: Bytes,
  keys: readonly number[],
  then: (...places: readonly Int[]) => Term<T>,
): Term<T> => {
  const [one, two, three, four] = [0, 1, 2, 3].map((place) => integer(keys[place] ?? nowhere)) as [
    Int,
    Int,
    Int,
    Int,
  ]
  const continuation = lambda((first: Int) =>
    lambda((second: Int) =>
      lambda((third: Int) => lambda((fourth: Int) => then(first, second, third, fourth))),
    ),
  ) as Term<PType> as Term<Places>
  return fieldsUnder(cbor, integer(0), one, two, three, four, continuation) as Term<T>
}
