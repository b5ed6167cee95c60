import { fromHex } from '@ratatosk/cbor'
import { decodeAddress, type PredicateFailure } from '@ratatosk/ledger'
import { addressText } from '../../view/address-text.js'
import type { RpcErrorObject } from '../rpc.js'
import {
  amount,
  credentialJson,
  entries,
  type FailureContext,
  failedOutputs,
  integrity,
  mismatchReason,
  nonAdaCollateral,
  pointers,
  references,
  scriptPurpose,
  units,
} from './failure-details.js'
import { lovelaceJson, outputJson, referenceJson, valueJson } from './output-json.js'
import { consumedValue, producedValue } from './transaction-balance.js'
import { intervalJson } from './transaction-json.js'

/** Builds the `data` of an error. */
type Data = (rejection: FailureContext) => unknown

/** Ogmios's error code and data for each ledger predicate; 3997 with the details for all others. */
const known: Readonly<Record<string, readonly [code: number, data?: Data]>> = {
  InvalidWitnessesUTXOW: [3100, ({ details }) => ({ invalidSignatories: details.publicKeys })],
  MissingVKeyWitnessesUTXOW: [3101, ({ details }) => ({ missingSignatories: details.keyHashes })],
  MissingScriptWitnessesUTXOW: [3102, ({ details }) => ({ missingScripts: details.scripts })],
  ScriptWitnessNotValidatingUTXOW: [3103, ({ details }) => ({ failingNativeScripts: details.scripts })],
  ExtraneousScriptWitnessesUTXOW: [3104, ({ details }) => ({ extraneousScripts: details.scripts })],
  MissingTxBodyMetadataHash: [3105, ({ details }) => ({ metadata: { hash: details.hash } })],
  MissingTxMetadata: [3106, ({ details }) => ({ metadata: { hash: details.hash } })],
  ConflictingMetadataHash: [
    3107,
    ({ details }) => ({ provided: { hash: details.declared }, computed: { hash: details.actual } }),
  ],
  InvalidMetadata: [3108],
  MissingRedeemers: [
    3109,
    (rejection) => ({ missingRedeemers: entries(rejection.details.redeemers).map(scriptPurpose(rejection)) }),
  ],
  ExtraRedeemers: [3110, ({ details }) => ({ extraneousRedeemers: pointers(details.redeemers) })],
  MissingRequiredDatums: [3111, ({ details }) => ({ missingDatums: details.datums })],
  NotAllowedSupplementalDatums: [3112, ({ details }) => ({ extraneousDatums: details.datums })],
  PPViewHashesDontMatch: [3113, integrity],
  ScriptIntegrityHashMismatch: [3113, integrity],
  UnspendableUTxONoDatumHash: [3114, ({ details }) => ({ orphanScriptInputs: references(details.inputs) })],
  MalformedScriptWitnesses: [3116, ({ details }) => ({ malformedScripts: details.scripts })],
  MalformedReferenceScripts: [3116, ({ details }) => ({ malformedScripts: details.scripts })],
  BadInputsUTxO: [3117, ({ details }) => ({ unknownOutputReferences: references(details.inputs) })],
  OutsideValidityIntervalUTxO: [
    3118,
    ({ transaction, slot }) => ({ validityInterval: intervalJson(transaction), currentSlot: slot }),
  ],
  MaxTxSizeUTxO: [
    3119,
    ({ details }) => ({
      measuredTransactionSize: { bytes: details.size },
      maximumTransactionSize: { bytes: details.maximum },
    }),
  ],
  OutputTooBigUTxO: [
    3120,
    (rejection) => ({ excessivelyLargeOutputs: failedOutputs(rejection).map(outputJson) }),
  ],
  InputSetEmptyUTxO: [3121],
  FeeTooSmallUTxO: [
    3122,
    ({ details }) => ({
      minimumRequiredFee: lovelaceJson(amount(details.requiredFee)),
      providedFee: lovelaceJson(amount(details.fee)),
    }),
  ],
  ValueNotConservedUTxO: [
    3123,
    ({ transaction, utxos, keyDeposit }) => ({
      valueConsumed: valueJson(consumedValue(transaction, utxos, keyDeposit)),
      valueProduced: valueJson(producedValue(transaction, keyDeposit)),
    }),
  ],
  WrongNetwork: [
    3124,
    ({ transaction, details, network }) => ({
      expectedNetwork: network,
      discriminatedType: 'address',
      invalidEntities: transaction.body.outputs
        .map(({ address }) => address)
        .filter(({ networkId }) => networkId !== details.networkId)
        .map(addressText),
    }),
  ],
  WrongNetworkInTxBody: [
    3124,
    ({ network }) => ({ expectedNetwork: network, discriminatedType: 'transaction' }),
  ],
  BabbageOutputTooSmallUTxO: [
    3125,
    (rejection) => ({
      insufficientlyFundedOutputs: failedOutputs(rejection).map((output, position) => ({
        output: outputJson(output),
        minimumRequiredValue: lovelaceJson(
          amount(entries(rejection.details.outputs)[position]?.requiredLovelace),
        ),
      })),
    }),
  ],
  OutputBootAddrAttrsTooBig: [
    3126,
    (rejection) => ({ bootstrapOutputs: failedOutputs(rejection).map(outputJson) }),
  ],
  InsufficientCollateral: [
    3128,
    ({ details }) => ({
      providedCollateral: lovelaceJson(amount(details.collateral)),
      minimumRequiredCollateral: lovelaceJson(amount(details.requiredCollateral)),
    }),
  ],
  ScriptsNotPaidUTxO: [
    3129,
    ({ details }) => ({
      unsuitableCollateralInputs: entries(details.inputs).map(({ input }) => referenceJson(String(input))),
    }),
  ],
  TooManyCollateralInputs: [
    3131,
    ({ details }) => ({ maximumCollateralInputs: details.maximum, countedCollateralInputs: details.count }),
  ],
  NoCollateralInputs: [3132],
  CollateralContainsNonADA: [3133, nonAdaCollateral],
  ExUnitsTooBigUTxO: [
    3134,
    ({ details }) => ({
      providedExecutionUnits: units(details.declared),
      maximumExecutionUnits: units(details.maximum),
    }),
  ],
  IncorrectTotalCollateralField: [
    3135,
    ({ details }) => ({
      declaredTotalCollateral: lovelaceJson(amount(details.totalCollateral)),
      computedTotalCollateral: lovelaceJson(amount(details.collateral)),
    }),
  ],
  ValidationTagMismatch: [
    3136,
    ({ transaction, details }) => ({
      declaredSpending: transaction.isValid ? 'inputs' : 'collaterals',
      mismatchReason: mismatchReason(details),
    }),
  ],
  WithdrawalsNotInRewardsCERTS: [
    3141,
    ({ details }) => ({
      incompleteWithdrawals: {
        [addressText(decodeAddress(fromHex(String(details.account))))]: lovelaceJson(
          amount(details.lovelace),
        ),
      },
    }),
  ],
  StakeKeyRegisteredDELEG: [
    3145,
    ({ details }) => {
      const { from, hash } = credentialJson(details.credential)
      return { knownCredential: hash, from }
    },
  ],
  StakeKeyNotRegisteredDELEG: [
    3146,
    ({ details }) => {
      const { from, hash } = credentialJson(details.credential)
      return { unknownCredential: hash, from }
    },
  ],
  ConwayWdrlNotDelegatedToDRep: [
    3150,
    ({ details }) => ({ marginalizedCredentials: [credentialJson(details.credential).hash] }),
  ],
  IncorrectDepositDELEG: [
    3151,
    ({ details }) => ({
      providedDeposit: lovelaceJson(amount(details.provided)),
      expectedDeposit: lovelaceJson(amount(details.expected)),
    }),
  ],
  BabbageNonDisjointRefInputs: [
    3164,
    ({ details }) => ({ conflictingReferences: references(details.inputs) }),
  ],
  ConwayTxRefScriptsSizeTooBig: [
    3166,
    ({ details }) => ({
      measuredReferenceScriptsSize: { bytes: details.size },
      maximumReferenceScriptsSize: { bytes: details.maximum },
    }),
  ],
}

/** Predicates that often follow from another failure, such as an unknown input. */
const consequences = ['FeeTooSmallUTxO', 'ValueNotConservedUTxO']

/** The error for a rejected transaction. Ogmios reports one failure: the one that explains most. */
export function submitFailure(
  failures: readonly PredicateFailure[],
  context: Omit<FailureContext, 'details'>,
): RpcErrorObject {
  const failure =
    failures.find(({ predicate }) => predicate === 'BadInputsUTxO') ??
    failures.find(({ predicate }) => !consequences.includes(predicate)) ??
    failures[0]
  if (failure === undefined) throw new RangeError('a rejected transaction violates at least one rule')
  const { predicate, message, details } = failure
  const [code, data] = known[predicate] ?? []
  if (code === undefined)
    return { code: 3997, message: `${predicate}: ${message}`, data: { predicate, ...details } }
  return {
    code,
    message: `${predicate}: ${message}`,
    ...(data && { data: data({ ...context, details }) }),
  }
}
