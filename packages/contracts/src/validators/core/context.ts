import type { PData, PList, PPair } from '@harmoniclabs/plu-ts'
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
  choose,
  type Data,
  define,
  type Entries,
  type Entry,
  type Int,
  keep,
  type List,
  naming,
  recursive,
} from './term.js'

/*
 * The parts of Plutus V3's script context (plutus-ledger-api's `PlutusLedgerApi.V3`) that the validators read.
 */

/** The fields of `TxInfo`. */
export const transactionOf = (context: Data): List => fieldsOf(at(fieldsOf(context), 0))
export const redeemerOf = (context: Data): Data => at(fieldsOf(context), 1)
export const scriptInfoOf = (context: Data): Data => at(fieldsOf(context), 2)

export const inputsOf = (transaction: List): List => unListData(at(transaction, 0))
export const referenceInputsOf = (transaction: List): List => unListData(at(transaction, 1))
export const outputsOf = (transaction: List): List => unListData(at(transaction, 2))
export const mintOf = (transaction: List): Entries => unMapData(at(transaction, 4))
export const signatoriesOf = (transaction: List): List => unListData(at(transaction, 8))

/** A bound of the validity interval, in POSIX milliseconds; fails where there is none. The ledger's are `[from, to)`. */
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

export const inlineDatum = (datum: Data): Data => constr(2, datum)
/** The datum of an output that has it inline; where it has but a hash, what reads the datum fails. */
export const datumOf = define((output: Data): Data => headList(fieldsOf(datumFieldOf(output))))

export const paymentCredentialOf = define((output: Data): Data => at(fieldsOf(addressOf(output)), 0))
export const scriptCredential = (hash: Data): Data => constr(1, hash)
export const keyCredential = (hash: Data): Data => constr(0, hash)

/** In an output the ada comes first, by the order of policies. */
export const lovelaceOf = define(
  (output: Data): Int =>
    unIData(sndPair(headList(unMapData(sndPair(headList(unMapData(valueFieldOf(output)))))))),
)
/** All but the ada, as a value. */
export const tokensOf = define((output: Data): Data => mapData(tailList(unMapData(valueFieldOf(output)))))
/** The policy of the first token of an output; fails where it has none. */
export const policyOf = define((output: Data): Data => fstPair(firstToken(output)))
/** The name of the first token of an output; fails where it has none. */
export const tokenNameOf = define(
  (output: Data): Bytes => unBData(fstPair(headList(unMapData(sndPair(firstToken(output)))))),
)
const firstToken = (output: Data): Entry => headList(tailList(unMapData(valueFieldOf(output))))

/** A value of nothing but ada, without the ada. */
export const noTokens = (): Data => mapData(noEntries())
/** A value of one token, and nothing else but ada. */
export const oneToken = (policy: Data, name: Bytes, quantity: Int): Data =>
  mapOf(policy, mapOf(bData(name), iData(quantity)))

/** The first name in what is minted under one policy. */
export const mintedName = (minted: Data): Bytes =>
  unBData(fstPair(headList(unMapData(sndPair(headList(unMapData(minted)))))))

/** The outputs that the inputs spend at a payment credential. */
export const spentAt = (inputs: List, credential: Data): List =>
  recursive<PList<PData>, PList<PData>>((self, rest) =>
    choose(
      nullList(rest),
      listOf(),
      naming(function* () {
        const output = yield* keep(resolvedOf(headList(rest)))
        const others = yield* keep(self(tailList(rest)))
        return choose(equalsData(paymentCredentialOf(output), credential), prepend(output, others), others)
      }),
    ),
  )(inputs)

/** Whether an output holds a token of a policy. */
export const holds = (output: Data, policy: Data): Bool =>
  hasKey(tailList(unMapData(valueFieldOf(output))), policy)

export const hasKey = (entries: Entries, key: Data): Bool =>
  any(entries, (entry) => equalsData(fstPair(entry), key))

/** The value at a key of a map; fails where there is none. */
export const lookUp = (entries: Entries, key: Data): Data =>
  recursive<PList<PPair<PData, PData>>, PData>((self, rest) =>
    choose(equalsData(fstPair(headList(rest)), key), sndPair(headList(rest)), self(tailList(rest))),
  )(entries)

/** The output that an input spends, by its reference. */
export const spentBy = (inputs: List, reference: Data): Data =>
  resolvedOf(find(inputs, (input) => equalsData(referenceOf(input), reference)))

/** Whether the policy of the script that guards an output mints or burns. */
export const mintsUnderGuardOf = (transaction: List, output: Data): Bool =>
  hasKey(mintOf(transaction), headList(fieldsOf(paymentCredentialOf(output))))
