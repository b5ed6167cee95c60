import type { PBool, PData, PLam, PList, PPair } from '@harmoniclabs/plu-ts'
import { hashLength } from '@ratatosk/block'
import { any, at, both, constr, constructorOf, fieldsOf, find, includes, not } from './data.js'
import * as p from './term.js'

/*
 * The parts of the Plutus V3 script context (plutus-ledger-api, `PlutusLedgerApi.V3`) that the validators
 * read.
 */

/** Constructors of `ScriptInfo`. Every other purpose fails. */
export const Purpose = { minting: 0, spending: 1 } as const

/** The fields of `TxInfo`. */
export const transactionOf = (context: p.Data): p.List => fieldsOf(at(fieldsOf(context), 0))
export const redeemerOf = (context: p.Data): p.Data => at(fieldsOf(context), 1)
export const scriptInfoOf = (context: p.Data): p.Data => at(fieldsOf(context), 2)

export const inputsOf = (transaction: p.List): p.List => p.unListData(at(transaction, 0))
export const referenceInputsOf = (transaction: p.List): p.List => p.unListData(at(transaction, 1))
export const outputsOf = (transaction: p.List): p.List => p.unListData(at(transaction, 2))
export const mintOf = (transaction: p.List): p.Entries => p.unMapData(at(transaction, 4))
/** The redeemers by `ScriptPurpose`, which numbers minting and spending as {@link Purpose} does. */
export const redeemersOf = (transaction: p.List): p.Entries => p.unMapData(at(transaction, 9))
export const signatoriesOf = (transaction: p.List): p.List => p.unListData(at(transaction, 8))

/** A bound of the validity interval `[from, to)` in POSIX milliseconds; fails if it is infinite. */
const boundOf = (transaction: p.List, bound: 0 | 1): p.Int =>
  p.unIData(p.headList(fieldsOf(at(fieldsOf(at(fieldsOf(at(transaction, 7)), bound)), 0))))
export const validFromOf = (transaction: p.List): p.Int => boundOf(transaction, 0)
export const validToOf = (transaction: p.List): p.Int => boundOf(transaction, 1)

export const referenceOf = (input: p.Data): p.Data => at(fieldsOf(input), 0)
export const resolvedOf = (input: p.Data): p.Data => at(fieldsOf(input), 1)

export const addressOf = (output: p.Data): p.Data => at(fieldsOf(output), 0)
export const valueFieldOf = (output: p.Data): p.Data => at(fieldsOf(output), 1)
export const datumFieldOf = (output: p.Data): p.Data => at(fieldsOf(output), 2)
export const scriptFieldOf = (output: p.Data): p.Data => at(fieldsOf(output), 3)

/** The datum field of an output without a datum. */
export const noDatum = (): p.Data => constr(0)
export const inlineDatum = (datum: p.Data): p.Data => constr(2, datum)
/** The inline datum of an output. Of an output with a datum hash, this is the hash: reading fields fails. */
export const datumOf = p.define((output: p.Data): p.Data => p.headList(fieldsOf(datumFieldOf(output))))

export const paymentCredentialOf = p.define((output: p.Data): p.Data => at(fieldsOf(addressOf(output)), 0))
export const scriptCredential = (hash: p.Data): p.Data => constr(1, hash)
export const keyCredential = (hash: p.Data): p.Data => constr(0, hash)

/** Ada comes first in an output's value: policies are sorted, and its policy is empty. */
export const lovelaceOf = p.define(
  (output: p.Data): p.Int =>
    p.unIData(p.sndPair(p.headList(p.unMapData(p.sndPair(p.headList(p.unMapData(valueFieldOf(output)))))))),
)
/** The value without ada. */
export const tokensOf = p.define(
  (output: p.Data): p.Data => p.mapData(p.tailList(p.unMapData(valueFieldOf(output)))),
)
/** The policy of an output's first token; fails if it has none. */
export const policyOf = p.define((output: p.Data): p.Data => p.fstPair(firstToken(output)))
/** The name of an output's first token; fails if it has none. */
export const tokenNameOf = p.define(
  (output: p.Data): p.Bytes => p.unBData(p.fstPair(p.headList(p.unMapData(p.sndPair(firstToken(output)))))),
)
const firstToken = (output: p.Data): p.Entry => p.headList(p.tailList(p.unMapData(valueFieldOf(output))))

/** The value of an output with ada only, without ada. */
export const noTokens = (): p.Data => p.mapData(p.noEntries())
/** The value of an output with one token, without ada. */
export const oneToken = (policy: p.Data, name: p.Bytes, quantity: p.Int): p.Data =>
  p.mapOf(policy, p.mapOf(p.bData(name), p.iData(quantity)))

/** The first asset name minted or burned under one policy. */
export const mintedName = (minted: p.Data): p.Bytes =>
  p.unBData(p.fstPair(p.headList(p.unMapData(p.sndPair(p.headList(p.unMapData(minted)))))))

export const spentAt = (inputs: p.List, credential: p.Data): p.List =>
  spentWhere(inputs, (output) => p.equalsData(paymentCredentialOf(output), credential))

/** The spent outputs of which a condition holds. */
export const spentWhere = (inputs: p.List, holds: (output: p.Data) => p.Bool): p.List =>
  p.recursive<PList<PData>, PList<PData>>((self, rest) =>
    p.choose(
      p.nullList(rest),
      p.listOf(),
      p.scope(function* () {
        const output = yield* p.bind(resolvedOf(p.headList(rest)))
        const others = yield* p.bind(self(p.tailList(rest)))
        return p.choose(holds(output), p.prepend(output, others), others)
      }),
    ),
  )(inputs)

const holds = (output: p.Data, policy: p.Data): p.Bool =>
  hasKey(p.tailList(p.unMapData(valueFieldOf(output))), policy)

export const hasKey = p.defineOf<[PList<PPair<PData, PData>>, PData], PBool>(
  2,
  (entries: p.Entries, key: p.Data): p.Bool => any(entries, (entry) => p.equalsData(p.fstPair(entry), key)),
)

/** The first input of a list that holds a token of a policy; fails if none does. */
export const inputHolding = p.defineOf<[PList<PData>, PData], PData>(
  2,
  (inputs: p.List, policy: p.Data): p.Data => find(inputs, (input) => holds(resolvedOf(input), policy)),
)
/** The first output of a list that holds a token of a policy; fails if none does. */
export const outputHolding = p.defineOf<[PList<PData>, PData], PData>(
  2,
  (outputs: p.List, policy: p.Data): p.Data => find(outputs, (output) => holds(output, policy)),
)
/** Whether an output of a list holds a token of a policy. */
export const anyHolds = p.defineOf<[PList<PData>, PData], PBool>(
  2,
  (outputs: p.List, policy: p.Data): p.Bool => any(outputs, (output) => holds(output, policy)),
)

/** The value at a key of a map; fails if the key is missing. */
export const lookUp = p.defineOf<[PList<PPair<PData, PData>>, PData], PData>(
  2,
  (entries: p.Entries, key: p.Data): p.Data =>
    p.recursive<PList<PPair<PData, PData>>, PData>((self, rest) =>
      p.choose(
        p.equalsData(p.fstPair(p.headList(rest)), key),
        p.sndPair(p.headList(rest)),
        self(p.tailList(rest)),
      ),
    )(entries),
)

/** The quantity of a token that is minted or burned; fails if there is none. */
export const mintedQuantity = (transaction: p.List, policy: p.Data, name: p.Data): p.Int =>
  p.unIData(lookUp(p.unMapData(lookUp(mintOf(transaction), policy)), name))

export const spentBy = (inputs: p.List, reference: p.Data): p.Data =>
  p.recursive<PList<PData>, PData>((self, rest) =>
    p.scope(function* () {
      const input = yield* p.bind(fieldsOf(p.headList(rest)))
      return p.choose(p.equalsData(p.headList(input), reference), at(input, 1), self(p.tailList(rest)))
    }),
  )(inputs)

/** Whether the policy with the hash of an output's payment credential mints or burns. */
export const mintsUnderGuardOf = (transaction: p.List, output: p.Data): p.Bool =>
  hasKey(mintOf(transaction), p.headList(fieldsOf(paymentCredentialOf(output))))

/** Whether a credential is renounced: its hash is 28 zero bytes. */
export const isRenounced = p.define(
  (credential: p.Data): p.Bool =>
    p.equalsByteString(p.unBData(p.headList(fieldsOf(credential))), p.bytes(new Uint8Array(hashLength))),
)

/**
 * Whether a credential authorises the transaction: its key is among the required signers, or an output that
 * its script locks is spent, which the ledger allows only if the script succeeds. A renounced credential
 * authorises nothing.
 */
export const authorises = (credential: p.Data, transaction: p.List): p.Bool =>
  p.call(authority, credential, transaction)

const authority = p.hoisted(
  p.lambda<PData, PLam<PList<PData>, PBool>>((credential) =>
    p.lambda((transaction) =>
      both(
        not(isRenounced(credential)),
        p.choose(
          p.equalsInteger(constructorOf(credential), p.integer(0)),
          includes(signatoriesOf(transaction), p.headList(fieldsOf(credential))),
          any(inputsOf(transaction), (input) =>
            p.equalsData(paymentCredentialOf(resolvedOf(input)), credential),
          ),
        ),
      ),
    ),
  ),
)
