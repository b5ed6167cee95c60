import type { PBool, PByteString, PData } from '@harmoniclabs/plu-ts'
import {
  bData,
  divideInteger,
  equalsByteString,
  equalsInteger,
  indexByteString,
  integer,
  lengthOfByteString,
  lessThanInteger,
  modInteger,
  sliceByteString,
} from '../core/builtins.js'
import { both, constr, every, none, some } from '../core/data.js'
import {
  type Bool,
  type Bytes,
  bind,
  choose,
  type Data,
  define,
  defineOf,
  type Int,
  scope,
} from '../core/term.js'
import { paymentHashIn } from '../fraud/cbor/outputs.js'

/*
 * Addresses as bytes (CIP-19): the first byte is sixteen times the type, and the network.
 */

const typeOf = (address: Bytes): Int => divideInteger(indexByteString(address, integer(0)), integer(16))

export const networkOf = (address: Bytes): Int =>
  modInteger(indexByteString(address, integer(0)), integer(16))

/** Whether bytes are an address with two credentials or, without a pointer, with one. */
export const isAddress = define<PByteString, PBool>((address) =>
  scope(function* () {
    const type = yield* bind(typeOf(address))
    const hasLength = (length: number): Bool => equalsInteger(lengthOfByteString(address), integer(length))
    return choose(
      lessThanInteger(type, integer(4)),
      hasLength(57),
      every(lessThanInteger(integer(5), type), lessThanInteger(type, integer(8)), hasLength(29)),
    )
  }),
)

/** The `Address` that bytes stand for, with a staking part by its type. */
export const addressData = define<PByteString, PData>((address) =>
  scope(function* () {
    const type = yield* bind(typeOf(address))
    const credential = (isScript: Bool, hash: Bytes): Data =>
      scope(function* () {
        const content = yield* bind(bData(hash))
        return choose(isScript, constr(1, content), constr(0, content))
      })
    return constr(
      0,
      credential(equalsInteger(modInteger(type, integer(2)), integer(1)), paymentHashIn(address)),
      choose(
        lessThanInteger(type, integer(4)),
        some(
          constr(
            0,
            credential(lessThanInteger(integer(1), type), sliceByteString(integer(29), integer(28), address)),
          ),
        ),
        none(),
      ),
    )
  }),
)

/** Whether an address is that of a script, without a staking part. */
export const isPlaceOf = defineOf<[PByteString, PByteString], PBool>(2, (address, script) =>
  both(equalsByteString(paymentHashIn(address), script), equalsInteger(typeOf(address), integer(7))),
)
