import type { PBool, PData, PList, PPair } from '@harmoniclabs/plu-ts'
import {
  bData,
  equalsData,
  fstPair,
  headList,
  iData,
  listOf,
  mapData,
  mapOf,
  noEntries,
  nullList,
  prepend,
  sndPair,
  tailList,
  unBData,
  unIData,
  unListData,
  unMapData,
} from './builtins.js'
import { any, at, constr, fieldsOf, find } from './data.js'
import {
  type Bool,
  type Bytes,
  bind,
  choose,
  type Data,
  define,
  defineOf,
  type Entries,
  type Entry,
  type Int,
  type List,
  recursive,
  scope,
} from './term.js'

/*
 * The parts of the Plutus V3 script context (plutus-ledger-api, `PlutusLedgerApi.V3`) that the validators
 * read.
 */

/** Constructors of `ScriptInfo`. Every other purpose fails. */
export const Purpose = { minting: 0, spending: 1 } as const

/** The fields of `TxInfo`. */
export const transactionOf = (context: Data): List => fieldsOf(at(fieldsOf(context), 0))
export const redeemerOf = (context: Data): Data => at(fieldsOf(context), 1)
export const scriptInfoOf = (context: Data): Data => at(fieldsOf(context), 2)

export const inputsOf = (transaction: List): List => unListData(at(transaction, 0))
export const referenceInputsOf = (transaction: List): List => unListData(at(transaction, 1))
export const outputsOf = (transaction: List): List => unListData(at(transaction, 2))
export const mintOf = (transaction: List): Entries => unMapData(at(transaction, 4))
/** The redeemers by `ScriptPurpose`, which numbers minting and spending as {@link Purpose} does. */
export const redeemersOf = (transaction: List): Entries => unMapData(at(transaction, 9))
export const signatoriesOf = (transaction: List): List => unListData(at(transaction, 8))

/** A bound of the validity interval `[from, to)` in POSIX milliseconds; fails if it is infinite. */
const boundOf = (transaction: List, bound: 0 | 1): Int =>
  unIData(headList(fieldsOf(at(fieldsOf(at(fieldsOf(at(transaction, 7)), bound)), 0))))
export const validFromOf = (transaction: List): Int => boundOf(transaction, 0)
export const validToOf = (transaction: List): Int => boundOf(transaction, 1)

export const referenceOf = (input: Data): Data => at(fieldsOf(input), 0)
export const resolvedOf = (input: Data): Data => at(fieldsOf(input), 1)

export const addressOf = (output: Data): Data => at(fieldsOf(output), 0)
export const valueFieldOf = (output: Data): Data => at(fieldsOf(output), 1)
export const datumFieldOf = (output: Data): Data => at(fieldsOf(output), 2)
export const scriptFieldOf = (output: Data): Data => at(fieldsOf(output), 3)

/** The datum field of an output without a datum. */
export const noDatum = (): Data => constr(0)
export const inlineDatum = (datum: Data): Data => constr(2, datum)
/** The inline datum of an output. Of an output with a datum hash, this is the hash: reading fields fails. */
export const datumOf = define((output: Data): Data => headList(fieldsOf(datumFieldOf(output))))

export const paymentCredentialOf = define((output: Data): Data => at(fieldsOf(addressOf(output)), 0))
export const scriptCredential = (hash: Data): Data => constr(1, hash)
export const keyCredential = (hash: Data): Data => constr(0, hash)

/** Ada comes first in an output's value: policies are sorted, and its policy is empty. */
export const lovelaceOf = define(
  (output: Data): Int =>
    unIData(sndPair(headList(unMapData(sndPair(headList(unMapData(valueFieldOf(output)))))))),
)
/** The value without ada. */
export const tokensOf = define((output: Data): Data => mapData(tailList(unMapData(valueFieldOf(output)))))
/** The policy of an output's first token; fails if it has none. */
export const policyOf = define((output: Data): Data => fstPair(firstToken(output)))
/** The name of an output's first token; fails if it has none. */
export const tokenNameOf = define(
  (output: Data): Bytes => unBData(fstPair(headList(unMapData(sndPair(firstToken(output)))))),
)
const firstToken = (output: Data): Entry => headList(tailList(unMapData(valueFieldOf(output))))

/** The value of an output with ada only, without ada. */
export const noTokens = (): Data => mapData(noEntries())
/** The value of an output with one token, without ada. */
export const oneToken = (policy: Data, name: Bytes, quantity: Int): Data =>
  mapOf(policy, mapOf(bData(name), iData(quantity)))

/** The first asset name minted or burned under one policy. */
export const mintedName = (minted: Data): Bytes =>
  unBData(fstPair(headList(unMapData(sndPair(headList(unMapData(minted)))))))

export const spentAt = (inputs: List, credential: Data): List =>
  spentWhere(inputs, (output) => equalsData(paymentCredentialOf(output), credential))

/** The spent outputs of which a condition holds. */
export const spentWhere = (inputs: List, holds: (output: Data) => Bool): List =>
  recursive<PList<PData>, PList<PData>>((self, rest) =>
    choose(
      nullList(rest),
      listOf(),
      scope(function* () {
        const output = yield* bind(resolvedOf(headList(rest)))
        const others = yield* bind(self(tailList(rest)))
        return choose(holds(output), prepend(output, others), others)
      }),
    ),
  )(inputs)

const holds = (output: Data, policy: Data): Bool => hasKey(tailList(unMapData(valueFieldOf(output))), policy)

export const hasKey = defineOf<[PList<PPair<PData, PData>>, PData], PBool>(
  2,
  (entries: Entries, key: Data): Bool => any(entries, (entry) => equalsData(fstPair(entry), key)),
)

/** The first input of a list that holds a token of a policy; fails if none does. */
export const inputHolding = defineOf<[PList<PData>, PData], PData>(
  2,
  (inputs: List, policy: Data): Data => find(inputs, (input) => holds(resolvedOf(input), policy)),
)
/** The first output of a list that holds a token of a policy; fails if none does. */
export const outputHolding = defineOf<[PList<PData>, PData], PData>(
  2,
  (outputs: List, policy: Data): Data => find(outputs, (output) => holds(output, policy)),
)
/** Whether an output of a list holds a token of a policy. */
export const anyHolds = defineOf<[PList<PData>, PData], PBool>(
  2,
  (outputs: List, policy: Data): Bool => any(outputs, (output) => holds(output, policy)),
)

/** The value at a key of a map; fails if the key is missing. */
export const lookUp = defineOf<[PList<PPair<PData, PData>>, PData], PData>(
  2,
  (entries: Entries, key: Data): Data =>
    recursive<PList<PPair<PData, PData>>, PData>((self, rest) =>
      choose(equalsData(fstPair(headList(rest)), key), sndPair(headList(rest)), self(tailList(rest))),
    )(entries),
)

/** The quantity of a token that is minted or burned; fails if there is none. */
export const mintedQuantity = (transaction: List, policy: Data, name: Data): Int =>
  unIData(lookUp(unMapData(lookUp(mintOf(transaction), policy)), name))

export const spentBy = (inputs: List, reference: Data): Data =>
  recursive<PList<PData>, PData>((self, rest) =>
    scope(function* () {
      const input = yield* bind(fieldsOf(headList(rest)))
      return choose(equalsData(headList(input), reference), at(input, 1), self(tailList(rest)))
    }),
  )(inputs)

/** Whether the policy with the hash of an output's payment credential mints or burns. */
export const mintsUnderGuardOf = (transaction: List, output: Data): Bool =>
  hasKey(mintOf(transaction), headList(fieldsOf(paymentCredentialOf(output))))
