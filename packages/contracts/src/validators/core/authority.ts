import type { PBool, PData, PLam, PList } from '@harmoniclabs/plu-ts'
import { hashLength } from '@ratatosk/block'
import { bytes, equalsByteString, equalsData, equalsInteger, headList, integer, unBData } from './builtins.js'
import { inputsOf, paymentCredentialOf, resolvedOf, signatoriesOf } from './context.js'
import { any, both, constructorOf, fieldsOf, includes, not } from './data.js'
import { type Bool, call, choose, type Data, define, hoisted, type List, lambda } from './term.js'

/** Whether a credential is renounced: its hash is 28 zero bytes. */
export const isRenounced = define(
  (credential: Data): Bool =>
    equalsByteString(unBData(headList(fieldsOf(credential))), bytes(new Uint8Array(hashLength))),
)

/**
 * Whether a credential authorises the transaction: its key is among the required signers, or an output that
 * its script locks is spent, which the ledger allows only if the script succeeds. A renounced credential
 * authorises nothing.
 */
export const authorises = (credential: Data, transaction: List): Bool =>
  call(authority, credential, transaction)

const authority = hoisted(
  lambda<PData, PLam<PList<PData>, PBool>>((credential) =>
    lambda((transaction) =>
      both(
        not(isRenounced(credential)),
        choose(
          equalsInteger(constructorOf(credential), integer(0)),
          includes(signatoriesOf(transaction), headList(fieldsOf(credential))),
          any(inputsOf(transaction), (input) =>
            equalsData(paymentCredentialOf(resolvedOf(input)), credential),
          ),
        ),
      ),
    ),
  ),
)
