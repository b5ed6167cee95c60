import type { PBool, PData, PList, PPair } from '@harmoniclabs/plu-ts'
import {
  equalsData,
  fstPair,
  integer,
  lessThanInteger,
  sndPair,
  tailList,
  unIData,
  unListData,
  unMapData,
} from '../core/builtins.js'
import { mintOf, referenceInputsOf, resolvedOf, valueFieldOf } from '../core/context.js'
import { any, both, either, includes } from '../core/data.js'
import { type Bool, bind, call, type Data, type List, lambda, scope } from '../core/term.js'

/**
 * Whether a verdict against a block is shown: a token with the header hash as its name, under one of the
 * verdict policies, is minted in the transaction or held by one of its reference inputs. A verdict speaks of
 * the header alone, so it stays true however often it is shown.
 */
export const showsVerdict = (transaction: List, policies: Data, hash: Data): Bool =>
  scope(function* () {
    const listed = yield* bind(unListData(policies))
    const convicts = yield* bind(
      lambda<PList<PPair<PData, PData>>, PBool>((value) =>
        any(value, (entry) =>
          both(
            includes(listed, fstPair(entry)),
            any(unMapData(sndPair(entry)), (token) =>
              both(equalsData(fstPair(token), hash), lessThanInteger(integer(0), unIData(sndPair(token)))),
            ),
          ),
        ),
      ),
    )
    return either(
      call<PBool>(convicts, mintOf(transaction)),
      any(referenceInputsOf(transaction), (input) =>
        call(convicts, tailList(unMapData(valueFieldOf(resolvedOf(input))))),
      ),
    )
  })
