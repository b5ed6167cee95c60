import {
  addInteger,
  equalsInteger,
  indexByteString,
  integer,
  lessThanInteger,
  modInteger,
  multiplyInteger,
  subtractInteger,
  unIData,
  unListData,
} from '../../core/builtins.js'
import { at, either, fieldsOf, not } from '../../core/data.js'
import { type Bytes, bind, choose, type Data, type Int, scope } from '../../core/term.js'
import { elementAt, fieldAt } from '../cbor/read.js'
import { BodyField } from '../cbor/references.js'
import { skip } from '../cbor/skip.js'
import { addressAt, lovelaceAt, valueAt } from '../cbor/values.js'
import { isGiven } from '../openings.js'
import type { FraudCheck, RuleParameters } from './opening.js'

/** The place of an output: `Output [index]` of the body, or `CollateralReturn`; `nowhere` is unreadable. */
export const outputAt = (body: Bytes, where: Data): Int =>
  scope(function* () {
    const shown = yield* bind(where)
    return choose(
      isGiven(shown),
      elementAt(body, fieldAt(body, integer(0), BodyField.outputs), unIData(at(fieldsOf(shown), 0))),
      fieldAt(body, integer(0), BodyField.collateralReturn),
    )
  })

/** An output holds too little lovelace for its size. `[transaction, output]`. `BabbageOutputTooSmallUTxO` */
export const outputTooSmall =
  (parameters: RuleParameters): FraudCheck =>
  (book, block, fields) =>
    scope(function* () {
      const body = yield* bind(block.bodyIn(unListData(at(fields, 0))))
      const output = yield* bind(outputAt(body, at(fields, 1)))
      const size = subtractInteger(skip(body, integer(1), output), output)
      return book.enforce({
        'output-is-too-small': lessThanInteger(
          lovelaceAt(body, valueAt(body, output)),
          multiplyInteger(addInteger(size, integer(entryOverhead)), unIData(parameters.coinsPerUtxoByte)),
        ),
      })
    })

/** The size of an output's entry besides its own bytes. */
const entryOverhead = 160

/**
 * An output pays to an address of another network or of the Byron era. `[transaction, output]`.
 * `WrongNetwork`, `ByronAddressesNotSupported`
 */
export const outputOnOtherNetwork =
  (parameters: RuleParameters): FraudCheck =>
  (book, block, fields) =>
    scope(function* () {
      const body = yield* bind(block.bodyIn(unListData(at(fields, 0))))
      const output = yield* bind(outputAt(body, at(fields, 1)))
      const address = yield* bind(addressAt(body, output))
      const head = yield* bind(indexByteString(body, address))
      const isLong = yield* bind(equalsInteger(head, integer(0x59)))
      const header = yield* bind(
        indexByteString(body, addInteger(address, choose(isLong, integer(3), integer(2)))),
      )
      return book.enforce({
        // A string of 24 to 65,535 bytes.
        'address-is-readable': either(isLong, equalsInteger(head, integer(0x58))),
        'address-is-on-other-network': either(
          lessThanInteger(integer(0x7f), header),
          not(equalsInteger(modInteger(header, integer(16)), unIData(parameters.networkId))),
        ),
      })
    })
