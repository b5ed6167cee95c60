import type { PByteString, PData, PInt, PLam, PList, PUnit } from '@harmoniclabs/plu-ts'
import { BridgeDatum, OwedEntry, Settlement } from '../../layout.js'
import {
  addInteger,
  bData,
  blake2b256,
  equalsByteString,
  equalsData,
  equalsInteger,
  headList,
  integer,
  nullList,
  tailList,
  unBData,
  unIData,
  unListData,
} from '../core/builtins.js'
import {
  datumOf,
  mintedQuantity,
  oneToken,
  outputsOf,
  paymentCredentialOf,
  tokenNameOf,
  tokensOf,
} from '../core/context.js'
import { at, constr, fieldsOf, not } from '../core/data.js'
import { continuingOutputRules } from '../core/output-rules.js'
import type { RuleBook } from '../core/rules.js'
import {
  type Bytes,
  bind,
  call,
  choose,
  type Int,
  type List,
  lambda,
  recursive,
  scope,
  type Unit,
} from '../core/term.js'
import { firstRoot, rootsAround, secondRoot } from '../mpf/deletion.js'
import { emptyHash } from '../mpf/merkle.js'
import type { BridgeParameters, BridgeSpending } from './context.js'
import { paid } from './payment.js'
import { holdsOnlyAda, type Treasury } from './treasury.js'

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
  entries: List,
): Unit =>
  scope(function* () {
    const policy = yield* bind(headList(fieldsOf(paymentCredentialOf(own))))
    const bridge = yield* bind(unBData(policy))
    const name = yield* bind(tokenNameOf(own))
    const datum = yield* bind(fieldsOf(datumOf(own)))
    const time = yield* bind(at(datum, Settlement.time))
    const outputs = yield* bind(outputsOf(transaction))
    const first = yield* bind(headList(outputs))

    const end = (root: Bytes, rest: List, owed: Int): Unit =>
      scope(function* () {
        yield* bind(treasury.balances(true, unIData(time), rest, owed))
        return choose(
          equalsByteString(root, emptyHash()),
          book.enforce({
            'pay-burns-settlement': equalsInteger(
              mintedQuantity(transaction, policy, bData(name)),
              integer(-1),
            ),
            'pay-ends-with-ada': holdsOnlyAda(first),
          }),
          book.enforce(
            continuingOutputRules(
              'pay-continues',
              first,
              own,
              constr(BridgeDatum.settlement, bData(root), time),
            ),
          ),
        )
      })

    const walk = recursive<PList<PData>, PLam<PList<PData>, PLam<PByteString, PLam<PInt, PUnit>>>>(
      (self, left) =>
        lambda((rest) =>
          lambda((root) =>
            lambda((owed) =>
              choose(
                nullList(left),
                end(root, rest, owed),
                scope(function* () {
                  const entry = yield* bind(unListData(headList(left)))
                  const path = yield* bind(blake2b256(unBData(at(entry, OwedEntry.key))))
                  const output = yield* bind(unBData(at(entry, OwedEntry.output)))
                  const proof = yield* bind(unListData(at(entry, OwedEntry.proof)))
                  const roots = yield* bind(
                    rootsAround(path, blake2b256(output), proof, (isMap, result) =>
                      book.guard({ 'pay-leaves-map': isMap }, result),
                    ),
                  )
                  yield* bind(book.enforce({ 'pay-owed-only': equalsByteString(firstRoot(roots), root) }))
                  return call<PUnit>(
                    self(tailList(left)),
                    tailList(rest),
                    secondRoot(roots),
                    addInteger(owed, paid(book, parameters, bridge, output, headList(rest))),
                  )
                }),
              ),
            ),
          ),
        ),
    )
    return book.guard(
      {
        'pay-genuine-settlement': equalsData(tokensOf(own), oneToken(policy, name, integer(1))),
        'pay-some': not(nullList(entries)),
      },
      call<PUnit>(walk(entries), tailList(outputs), unBData(at(datum, Settlement.root)), integer(0)),
    )
  })
