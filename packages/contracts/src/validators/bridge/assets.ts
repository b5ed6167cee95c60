import type { PByteString, PData, PInt, PLam, PList, PPair } from '@harmoniclabs/plu-ts'
import {
  addInteger,
  appendByteString,
  bData,
  blake2b256,
  byteStringToInteger,
  equalsData,
  equalsInteger,
  fstPair,
  headList,
  indexByteString,
  integer,
  integerToByteString,
  lessThanInteger,
  modInteger,
  multiplyInteger,
  nullList,
  serialiseData,
  sliceByteString,
  sndPair,
  subtractInteger,
  tailList,
  unBData,
  unIData,
  unMapData,
} from '../core/builtins.js'
import { noTokens, tokensOf } from '../core/context.js'
import { includes } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import {
  type Bool,
  type Bytes,
  bind,
  call,
  choose,
  type Data,
  defineOf,
  fixed,
  type Int,
  type List,
  lambda,
  recursive,
  scope,
} from '../core/term.js'
import { isArray, isEnd, withArray, withHead, withMap } from '../fraud/cbor/read.js'
import { skip } from '../fraud/cbor/skip.js'

/*
 * Layer 2 has assets in any order, layer 1 in one. As multisets they are equal if the products over all
 * assets of a point plus the asset's hash are: modulo a prime of 255 bits, at a point that the hash of both
 * chooses.
 */

const prime = 2n ** 255n - 19n

/** A product with another asset. */
const times = defineOf<[PInt, PInt, PByteString, PByteString, PInt], PInt>(
  5,
  (product, point, policy, name, quantity) =>
    modInteger(
      multiplyInteger(
        product,
        addInteger(
          point,
          byteStringToInteger(
            blake2b256(appendByteString(policy, appendByteString(name, integerToByteString(8, quantity)))),
          ),
        ),
      ),
      integer(prime),
    ),
)

/**
 * Whether an output of layer 1 holds the assets of a value of layer 2.
 *
 * @param listed the policies that layer 1 backs: it fails at any other
 * @param value where it is in the CBOR
 */
export const holdsAssets = (book: RuleBook, listed: List, cbor: Bytes, value: Int, output: Data): Bool =>
  scope(function* () {
    const tokens = yield* bind(tokensOf(output))
    return choose(
      isArray(indexByteString(cbor, value)),
      scope(function* () {
        const point = yield* bind(
          byteStringToInteger(blake2b256(appendByteString(blake2b256(cbor), serialiseData(tokens)))),
        )
        return equalsInteger(
          withArray(cbor, value, (_size, first) =>
            productIn(book, listed, cbor, skip(cbor, integer(1), first), point),
          ),
          productOf(tokens, point),
        )
      }),
      equalsData(tokens, noTokens()),
    )
  })

/** The product over a map of policies to maps of names to quantities. */
const productIn = (book: RuleBook, listed: List, cbor: Bytes, assets: Int, point: Int): Int =>
  withMap(cbor, assets, (policies, firstPolicy) =>
    call<PInt>(
      fixed<PInt, PLam<PInt, PLam<PInt, PInt>>>((outer, left) =>
        lambda((place) =>
          lambda((before) =>
            choose(
              isEnd(cbor, left, place),
              before,
              scope(function* () {
                // A policy is a string of 28 bytes behind a head of two.
                const policy = yield* bind(sliceByteString(addInteger(place, integer(2)), integer(28), cbor))
                return book.guard(
                  { 'withdrawal-bridged-only': includes(listed, bData(policy)) },
                  withMap(cbor, addInteger(place, integer(30)), (names, firstName) =>
                    call<PInt>(
                      fixed<PInt, PLam<PInt, PLam<PInt, PInt>>>((inner, rest) =>
                        lambda((here) =>
                          lambda((product) =>
                            choose(
                              isEnd(cbor, rest, here),
                              call<PInt>(
                                outer(subtractInteger(left, integer(1))),
                                behindEnd(rest, here),
                                product,
                              ),
                              withHead(cbor, here, (length, name) =>
                                withHead(cbor, addInteger(name, length), (quantity, behind) =>
                                  call<PInt>(
                                    inner(subtractInteger(rest, integer(1))),
                                    behind,
                                    times(
                                      product,
                                      point,
                                      policy,
                                      sliceByteString(name, length, cbor),
                                      quantity,
                                    ),
                                  ),
                                ),
                              ),
                            ),
                          ),
                        ),
                      ),
                      names,
                      firstName,
                      before,
                    ),
                  ),
                )
              }),
            ),
          ),
        ),
      ),
      policies,
      firstPolicy,
      integer(1),
    ),
  )

/** The place behind a map that ends at a place: of indefinite length (`left` negative), behind its break. */
const behindEnd = (left: Int, place: Int): Int =>
  choose(lessThanInteger(left, integer(0)), addInteger(place, integer(1)), place)

/** The product over a value without ada. */
const productOf = (tokens: Data, point: Int): Int =>
  call<PInt>(
    recursive<PList<PPair<PData, PData>>, PLam<PInt, PInt>>((outer, policies) =>
      lambda((before) =>
        choose(
          nullList(policies),
          before,
          scope(function* () {
            const entry = yield* bind(headList(policies))
            const policy = yield* bind(unBData(fstPair(entry)))
            return call<PInt>(
              recursive<PList<PPair<PData, PData>>, PLam<PInt, PInt>>((inner, names) =>
                lambda((product) =>
                  choose(
                    nullList(names),
                    call<PInt>(outer(tailList(policies)), product),
                    scope(function* () {
                      const name = yield* bind(headList(names))
                      return call<PInt>(
                        inner(tailList(names)),
                        times(product, point, policy, unBData(fstPair(name)), unIData(sndPair(name))),
                      )
                    }),
                  ),
                ),
              )(unMapData(sndPair(entry))),
              before,
            )
          }),
        ),
      ),
    )(unMapData(tokens)),
    integer(1),
  )
