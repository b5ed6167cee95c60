import type { PByteString, PData, PInt, PLam, PList, PPair, PUnit } from '@harmoniclabs/plu-ts'
import { BridgeDatum, OutputDatum, OwedEntry, Settlement } from '../../layout.js'
import {
  addressOf,
  datumFieldOf,
  datumOf,
  lovelaceOf,
  mintedQuantity,
  noTokens,
  oneToken,
  outputsOf,
  paymentCredentialOf,
  scriptFieldOf,
  tokenNameOf,
  tokensOf,
} from '../core/context.js'
import { at, constr, every, fieldsOf, includes, none, not } from '../core/data.js'
import { continuingOutputRules, type RuleBook } from '../core/rules.js'
import * as p from '../core/term.js'
import { addressData, isAddress, isPlaceOf, lovelaceAt } from '../fraud/cbor/outputs.js'
import { isArray, isEnd, stringAt, withArray, withFields, withHead, withMap } from '../fraud/cbor/read.js'
import { isThere } from '../fraud/cbor/references.js'
import { shortString, skip } from '../fraud/cbor/skip.js'
import { emptyHash } from '../mpf/merkle.js'
import { firstRoot, hashBytes, rootsAround, secondRoot } from '../mpf/proof.js'
import { type BridgeParameters, type BridgeSpending, holdsOnlyAda, type Treasury } from './treasury.js'

/**
 * Pays entries of a settlement: output i + 1 pays entry i, which leaves the settlement's map. Output 0 pays
 * the settlement back with the rest of the map; when nothing is left, its token is burned instead.
 *
 * @param entries `[key, output, proof]` each, a proof for the map without the entries before
 */
export const pay = (
  book: RuleBook,
  parameters: BridgeParameters,
  { transaction, own }: BridgeSpending,
  treasury: Treasury,
  entries: p.List,
): p.Unit =>
  p.scope(function* () {
    const policy = yield* p.bind(p.headList(fieldsOf(paymentCredentialOf(own))))
    const bridge = yield* p.bind(p.unBData(policy))
    const name = yield* p.bind(tokenNameOf(own))
    const datum = yield* p.bind(fieldsOf(datumOf(own)))
    const time = yield* p.bind(at(datum, Settlement.time))
    const outputs = yield* p.bind(outputsOf(transaction))
    const first = yield* p.bind(p.headList(outputs))

    const end = (root: p.Bytes, rest: p.List, owed: p.Int): p.Unit =>
      p.scope(function* () {
        yield* p.bind(treasury.balances(true, p.unIData(time), rest, owed))
        return p.choose(
          p.equalsByteString(root, emptyHash()),
          book.enforce({
            'pay-burns-settlement': p.equalsInteger(
              mintedQuantity(transaction, policy, p.bData(name)),
              p.integer(-1),
            ),
            'pay-ends-with-ada': holdsOnlyAda(first),
          }),
          book.enforce(
            continuingOutputRules(
              'pay-continues',
              first,
              own,
              constr(BridgeDatum.settlement, p.bData(root), time),
            ),
          ),
        )
      })

    const walk = p.recursive<PList<PData>, PLam<PList<PData>, PLam<PByteString, PLam<PInt, PUnit>>>>(
      (self, left) =>
        p.lambda((rest) =>
          p.lambda((root) =>
            p.lambda((owed) =>
              p.choose(
                p.nullList(left),
                end(root, rest, owed),
                p.scope(function* () {
                  const entry = yield* p.bind(p.unListData(p.headList(left)))
                  const path = yield* p.bind(p.blake2b256(p.unBData(at(entry, OwedEntry.key))))
                  const output = yield* p.bind(p.unBData(at(entry, OwedEntry.output)))
                  const proof = yield* p.bind(p.unListData(at(entry, OwedEntry.proof)))
                  const roots = yield* p.bind(
                    rootsAround(path, p.blake2b256(output), proof, (isMap, result) =>
                      book.guard({ 'pay-leaves-map': isMap }, result),
                    ),
                  )
                  yield* p.bind(book.enforce({ 'pay-owed-only': p.equalsByteString(firstRoot(roots), root) }))
                  return p.call<PUnit>(
                    self(p.tailList(left)),
                    p.tailList(rest),
                    secondRoot(roots),
                    p.addInteger(owed, paid(book, parameters, bridge, output, p.headList(rest))),
                  )
                }),
              ),
            ),
          ),
        ),
    )
    return book.guard(
      {
        'pay-genuine-settlement': p.equalsData(tokensOf(own), oneToken(policy, name, p.integer(1))),
        'pay-some': not(p.nullList(entries)),
      },
      p.call<PUnit>(walk(entries), p.tailList(outputs), p.unBData(at(datum, Settlement.root)), p.integer(0)),
    )
  })

/** The fields of an output in its map form. One in array form has no inline datum, and cannot be paid. */
const fields = [0, 1, 2, 3] as const
/** The number before the datum of an output that is inline. */
const inlineKind = 1
const enterpriseBytes = 29

/**
 * The lovelace of an output that left layer 2; fails unless an output of layer 1 pays it, with all of its
 * assets, to the address in its datum. The payer may keep the payout fee of the lovelace.
 *
 * The datum is the CBOR of one byte string: an address, or an address of 29 bytes and the hash of a datum.
 *
 * @param bridge hash of the bridge's script: only an output at its address has left
 * @param cbor the output of layer 2
 */
const paid = (
  book: RuleBook,
  { bridged, payoutFee }: BridgeParameters,
  bridge: p.Bytes,
  cbor: p.Bytes,
  output: p.Data,
): p.Int =>
  withFields(cbor, fields, (address, value, datum, script) =>
    withArray(cbor, datum, (_size, kind) =>
      withHead(cbor, p.addInteger(kind, p.integer(1)), (_tag, content) =>
        p.scope(function* () {
          const encoded = yield* p.bind(stringAt(cbor, content))
          const target = yield* p.bind(
            p.sliceByteString(p.integer(2), p.lengthOfByteString(encoded), encoded),
          )
          const hasHash = yield* p.bind(
            p.equalsInteger(p.lengthOfByteString(target), p.integer(enterpriseBytes + hashBytes)),
          )
          const payee = yield* p.bind(
            p.choose(hasHash, p.sliceByteString(p.integer(0), p.integer(enterpriseBytes), target), target),
          )
          const hash = p.sliceByteString(p.integer(enterpriseBytes), p.integer(hashBytes), target)
          const lovelace = yield* p.bind(lovelaceAt(cbor, value))
          yield* p.bind(
            book.enforce({
              'withdrawal-at-bridge': isPlaceOf(stringAt(cbor, address), bridge),
              'withdrawal-datum': every(
                p.equalsInteger(p.indexByteString(cbor, kind), p.integer(inlineKind)),
                p.equalsInteger(p.indexByteString(encoded, p.integer(0)), p.integer(shortString)),
                p.equalsInteger(p.indexByteString(encoded, p.integer(1)), p.lengthOfByteString(target)),
                isAddress(payee),
              ),
              'withdrawal-no-script': not(isThere(script)),
            }),
          )
          const hasAssets = yield* p.bind(holdsAssets(book, p.unListData(bridged), cbor, value, output))
          return book.guard(
            {
              'payment-assets': hasAssets,
              'payment-address': p.equalsData(addressOf(output), addressData(payee)),
              'payment-datum': p.equalsData(
                datumFieldOf(output),
                p.choose(hasHash, constr(OutputDatum.hash, p.bData(hash)), constr(OutputDatum.none)),
              ),
              'payment-no-script': p.equalsData(scriptFieldOf(output), none()),
              'payment-ada': p.lessThanEqualsInteger(
                p.subtractInteger(lovelace, p.unIData(payoutFee)),
                lovelaceOf(output),
              ),
            },
            lovelace,
          )
        }),
      ),
    ),
  )

/*
 * Layer 2 has assets in any order, layer 1 in one. As multisets they are equal if the products over all
 * assets of a point plus the asset's hash are: modulo a prime of 255 bits, at a point that the hash of both
 * chooses.
 */

const prime = 2n ** 255n - 19n

/** A product with another asset. */
const times = p.defineOf<[PInt, PInt, PByteString, PByteString, PInt], PInt>(
  5,
  (product, point, policy, name, quantity) =>
    p.modInteger(
      p.multiplyInteger(
        product,
        p.addInteger(
          point,
          p.byteStringToInteger(
            p.blake2b256(
              p.appendByteString(policy, p.appendByteString(name, p.integerToByteString(8, quantity))),
            ),
          ),
        ),
      ),
      p.integer(prime),
    ),
)

/**
 * Whether an output of layer 1 holds the assets of a value of layer 2.
 *
 * @param listed the policies that layer 1 backs: it fails at any other
 * @param value where it is in the CBOR
 */
const holdsAssets = (book: RuleBook, listed: p.List, cbor: p.Bytes, value: p.Int, output: p.Data): p.Bool =>
  p.scope(function* () {
    const tokens = yield* p.bind(tokensOf(output))
    return p.choose(
      isArray(p.indexByteString(cbor, value)),
      p.scope(function* () {
        const point = yield* p.bind(
          p.byteStringToInteger(
            p.blake2b256(p.appendByteString(p.blake2b256(cbor), p.serialiseData(tokens))),
          ),
        )
        return p.equalsInteger(
          withArray(cbor, value, (_size, first) =>
            productIn(book, listed, cbor, skip(cbor, p.integer(1), first), point),
          ),
          productOf(tokens, point),
        )
      }),
      p.equalsData(tokens, noTokens()),
    )
  })

/** The product over a map of policies to maps of names to quantities. */
const productIn = (book: RuleBook, listed: p.List, cbor: p.Bytes, assets: p.Int, point: p.Int): p.Int =>
  withMap(cbor, assets, (policies, firstPolicy) =>
    p.call<PInt>(
      p.fixed<PInt, PLam<PInt, PLam<PInt, PInt>>>((outer, left) =>
        p.lambda((place) =>
          p.lambda((before) =>
            p.choose(
              isEnd(cbor, left, place),
              before,
              p.scope(function* () {
                // A policy is a string of 28 bytes behind a head of two.
                const policy = yield* p.bind(
                  p.sliceByteString(p.addInteger(place, p.integer(2)), p.integer(28), cbor),
                )
                return book.guard(
                  { 'withdrawal-bridged-only': includes(listed, p.bData(policy)) },
                  withMap(cbor, p.addInteger(place, p.integer(30)), (names, firstName) =>
                    p.call<PInt>(
                      p.fixed<PInt, PLam<PInt, PLam<PInt, PInt>>>((inner, rest) =>
                        p.lambda((here) =>
                          p.lambda((product) =>
                            p.choose(
                              isEnd(cbor, rest, here),
                              p.call<PInt>(
                                outer(p.subtractInteger(left, p.integer(1))),
                                behindEnd(rest, here),
                                product,
                              ),
                              withHead(cbor, here, (length, name) =>
                                withHead(cbor, p.addInteger(name, length), (quantity, behind) =>
                                  p.call<PInt>(
                                    inner(p.subtractInteger(rest, p.integer(1))),
                                    behind,
                                    times(
                                      product,
                                      point,
                                      policy,
                                      p.sliceByteString(name, length, cbor),
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
      p.integer(1),
    ),
  )

/** The place behind a map that ends at a place: of indefinite length (`left` negative), behind its break. */
const behindEnd = (left: p.Int, place: p.Int): p.Int =>
  p.choose(p.lessThanInteger(left, p.integer(0)), p.addInteger(place, p.integer(1)), place)

/** The product over a value without ada. */
const productOf = (tokens: p.Data, point: p.Int): p.Int =>
  p.call<PInt>(
    p.recursive<PList<PPair<PData, PData>>, PLam<PInt, PInt>>((outer, policies) =>
      p.lambda((before) =>
        p.choose(
          p.nullList(policies),
          before,
          p.scope(function* () {
            const entry = yield* p.bind(p.headList(policies))
            const policy = yield* p.bind(p.unBData(p.fstPair(entry)))
            return p.call<PInt>(
              p.recursive<PList<PPair<PData, PData>>, PLam<PInt, PInt>>((inner, names) =>
                p.lambda((product) =>
                  p.choose(
                    p.nullList(names),
                    p.call<PInt>(outer(p.tailList(policies)), product),
                    p.scope(function* () {
                      const name = yield* p.bind(p.headList(names))
                      return p.call<PInt>(
                        inner(p.tailList(names)),
                        times(product, point, policy, p.unBData(p.fstPair(name)), p.unIData(p.sndPair(name))),
                      )
                    }),
                  ),
                ),
              )(p.unMapData(p.sndPair(entry))),
              before,
            )
          }),
        ),
      ),
    )(p.unMapData(tokens)),
    p.integer(1),
  )
