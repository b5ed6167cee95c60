import type { PData, PList, PPair } from '@harmoniclabs/plu-ts'
import { BridgeDatum, Deposit, depositLimits, OutputDatum } from '../../layout.js'
import {
  addInteger,
  bData,
  blake2b256,
  equalsByteString,
  equalsData,
  equalsInteger,
  fstPair,
  headList,
  iData,
  integer,
  lengthOfByteString,
  lessThanEqualsInteger,
  mapOf,
  prepend,
  serialiseData,
  tailList,
  unBData,
  unIData,
  unitValue,
  unListData,
  unMapData,
} from '../core/builtins.js'
import {
  addressOf,
  datumOf,
  inputsOf,
  lookUp,
  lovelaceOf,
  mintOf,
  outputsOf,
  referenceOf,
  scriptCredential,
  scriptFieldOf,
  scriptInfoOf,
  tokensOf,
  transactionOf,
  validToOf,
} from '../core/context.js'
import {
  any,
  at,
  both,
  constr,
  either,
  fieldsOf,
  hasShape,
  includes,
  isBytesOf,
  none,
  not,
} from '../core/data.js'
import type { RuleBook } from '../core/rules.js'
import {
  type Bool,
  bind,
  choose,
  type Data,
  type Entries,
  type List,
  recursive,
  scope,
  type Unit,
} from '../core/term.js'
import { paymentHashIn } from '../fraud/cbor/outputs.js'
import { onlyBurns } from '../fraud/policy.js'
import { hashBytes } from '../mpf/proof.js'
import { isAddress, networkOf } from './addresses.js'
import { assetCount, outputBytes } from './layer2-output.js'

/** The parameters of the script of events, as data, in the blueprint's order. */
export interface EventParameters {
  /** Bytes: hash of the bridge's script. */
  readonly bridge: Data
  /** Integer: milliseconds from the upper validity bound of a deposit until its time. */
  readonly eventWait: Data
  /** Integer: the network of layer-2 addresses. */
  readonly networkId: Data
  /** List of bytes: the policies that layer 1 backs. */
  readonly bridged: Data
}

/**
 * The policy of events, which the blocks of layer 2 have to take in: a token shows that an output at the
 * bridge is a deposit. A deposit says what it becomes on layer 2: its id is that of a transaction there, of
 * which it is output 0. Tokens are burned without rules.
 */
export const events = (book: RuleBook, parameters: EventParameters, context: Data): Unit =>
  scope(function* () {
    const transaction = yield* bind(transactionOf(context))
    // Every other purpose than minting fails here: none has a policy as its first field.
    const policy = yield* bind(at(fieldsOf(scriptInfoOf(context)), 0))
    const minted = yield* bind(lookUp(mintOf(transaction), policy))
    return choose(
      onlyBurns(unMapData(minted)),
      unitValue(),
      deposit(book, parameters, transaction, policy, minted),
    )
  })

/** Makes output 0 a deposit. @param minted the quantities under the policy */
const deposit = (
  book: RuleBook,
  { bridge, eventWait, networkId, bridged }: EventParameters,
  transaction: List,
  policy: Data,
  minted: Data,
): Unit =>
  scope(function* () {
    const output = yield* bind(headList(outputsOf(transaction)))
    const datum = yield* bind(datumOf(output))
    const fields = yield* bind(fieldsOf(datum))
    const id = yield* bind(bData(blake2b256(serialiseData(referenceOf(headList(inputsOf(transaction)))))))
    const token = yield* bind(mapOf(id, iData(integer(1))))
    const held = yield* bind(unMapData(tokensOf(output)))
    const assets = yield* bind(withoutPolicy(held, policy))
    const address = yield* bind(unBData(at(fields, Deposit.address)))
    const carried = yield* bind(at(fields, Deposit.datum))
    return book.enforce({
      'event-mints-one': equalsData(minted, token),
      'event-holds-token': equalsData(lookUp(held, policy), token),
      'event-at-bridge': equalsData(addressOf(output), constr(0, scriptCredential(bridge), none())),
      'event-no-script': equalsData(scriptFieldOf(output), none()),
      'event-has-id': equalsData(at(fields, Deposit.id), id),
      'event-time': equalsData(
        at(fields, Deposit.time),
        iData(addInteger(validToOf(transaction), unIData(eventWait))),
      ),
      'deposit-shape': hasShape(datum, BridgeDatum.deposit, Deposit.size),
      'deposit-bridged-only': not(any(assets, (entry) => not(includes(unListData(bridged), fstPair(entry))))),
      'deposit-few-assets': lessThanEqualsInteger(assetCount(assets), integer(depositLimits.assets)),
      'deposit-address': both(isAddress(address), equalsInteger(networkOf(address), unIData(networkId))),
      'deposit-not-to-bridge': not(equalsByteString(paymentHashIn(address), unBData(bridge))),
      'deposit-datum': isDatum(carried),
      'deposit-output-hash': equalsData(
        at(fields, Deposit.outputHash),
        bData(blake2b256(outputBytes(address, lovelaceOf(output), assets, carried))),
      ),
    })
  })

/** The entries of a value but those of one policy; fails if it has none. */
const withoutPolicy = (entries: Entries, policy: Data): Entries =>
  recursive<PList<PPair<PData, PData>>, PList<PPair<PData, PData>>>((self, rest) =>
    choose(
      equalsData(fstPair(headList(rest)), policy),
      tailList(rest),
      prepend(headList(rest), self(tailList(rest))),
    ),
  )(entries)

/**
 * Whether data is the datum of an output. The length of an inline datum bounds its depth: decoders read 1,024
 * levels, and each takes two bytes.
 */
const isDatum = (datum: Data): Bool =>
  scope(function* () {
    const fields = yield* bind(fieldsOf(datum))
    return either(
      hasShape(datum, OutputDatum.none, 0),
      either(
        both(hasShape(datum, OutputDatum.hash, 1), isBytesOf(headList(fields), hashBytes)),
        both(
          hasShape(datum, OutputDatum.inline, 1),
          lessThanEqualsInteger(
            lengthOfByteString(serialiseData(headList(fields))),
            integer(depositLimits.datumBytes),
          ),
        ),
      ),
    )
  })
