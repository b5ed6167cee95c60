import { OutputDatum } from '../../layout.js'
import {
  addInteger,
  bData,
  equalsData,
  equalsInteger,
  indexByteString,
  integer,
  lengthOfByteString,
  lessThanEqualsInteger,
  sliceByteString,
  subtractInteger,
  unIData,
  unListData,
} from '../core/builtins.js'
import { addressOf, datumFieldOf, lovelaceOf, scriptFieldOf } from '../core/context.js'
import { constr, every, none, not } from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import { type Bytes, bind, choose, type Data, type Int, scope } from '../core/term.js'
import { withFields } from '../fraud/cbor/fields.js'
import { stringAt, withArray, withHead } from '../fraud/cbor/read.js'
import { isThere } from '../fraud/cbor/references.js'
import { shortString } from '../fraud/cbor/skip.js'
import { lovelaceAt } from '../fraud/cbor/values.js'
import { hashBytes } from '../mpf/proof.js'
import { addressData, isAddress, isPlaceOf } from './addresses.js'
import { holdsAssets } from './assets.js'
import type { BridgeParameters } from './context.js'

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
export const paid = (
  book: RuleBook,
  { bridged, payoutFee }: BridgeParameters,
  bridge: Bytes,
  cbor: Bytes,
  output: Data,
): Int =>
  withFields(cbor, fields, (address, value, datum, script) =>
    withArray(cbor, datum, (_size, kind) =>
      withHead(cbor, addInteger(kind, integer(1)), (_tag, content) =>
        scope(function* () {
          const encoded = yield* bind(stringAt(cbor, content))
          const target = yield* bind(sliceByteString(integer(2), lengthOfByteString(encoded), encoded))
          const hasHash = yield* bind(
            equalsInteger(lengthOfByteString(target), integer(enterpriseBytes + hashBytes)),
          )
          const payee = yield* bind(
            choose(hasHash, sliceByteString(integer(0), integer(enterpriseBytes), target), target),
          )
          const hash = sliceByteString(integer(enterpriseBytes), integer(hashBytes), target)
          const lovelace = yield* bind(lovelaceAt(cbor, value))
          yield* bind(
            book.enforce({
              'withdrawal-at-bridge': isPlaceOf(stringAt(cbor, address), bridge),
              'withdrawal-datum': every(
                equalsInteger(indexByteString(cbor, kind), integer(inlineKind)),
                equalsInteger(indexByteString(encoded, integer(0)), integer(shortString)),
                equalsInteger(indexByteString(encoded, integer(1)), lengthOfByteString(target)),
                isAddress(payee),
              ),
              'withdrawal-no-script': not(isThere(script)),
            }),
          )
          const hasAssets = yield* bind(holdsAssets(book, unListData(bridged), cbor, value, output))
          return book.guard(
            {
              'payment-assets': hasAssets,
              'payment-address': equalsData(addressOf(output), addressData(payee)),
              'payment-datum': equalsData(
                datumFieldOf(output),
                choose(hasHash, constr(OutputDatum.hash, bData(hash)), constr(OutputDatum.none)),
              ),
              'payment-no-script': equalsData(scriptFieldOf(output), none()),
              'payment-ada': lessThanEqualsInteger(
                subtractInteger(lovelace, unIData(payoutFee)),
                lovelaceOf(output),
              ),
            },
            lovelace,
          )
        }),
      ),
    ),
  )
