import { fromHex, toHex } from '@ratatosk/cbor'
import {
  decodeAddress,
  type Json,
  outputReferenceKey,
  type PredicateFailure,
  type Transaction,
  type UtxoView,
} from '@ratatosk/ledger'
import { addressText } from '../view/address-text.js'
import { assetsJson, lovelaceJson, outputJson, purposes, referenceJson, valueJson } from './output-json.js'
import type { RpcErrorObject } from './rpc.js'
import { consumedValue, producedValue } from './transaction-balance.js'

interface Rejection {
  readonly transaction: Transaction
  readonly utxos: UtxoView
  readonly keyDeposit: bigint
  readonly network: 'mainnet' | 'testnet'
  readonly slot: bigint
  readonly details: PredicateFailure['details']
}

/** Builds the `data` of an error. */
type Data = (rejection: Rejection) => unknown

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
  context: Omit<Rejection, 'details'>,
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

export function intervalJson({ body }: Transaction) {
  const { invalidBefore, invalidHereafter } = body.validityInterval
  return {
    ...(invalidBefore !== undefined && { invalidBefore }),
    ...(invalidHereafter !== undefined && { invalidAfter: invalidHereafter }),
  }
}

function integrity({ details }: Rejection): unknown {
  return {
    providedScriptIntegrity: details.supplied ?? null,
    computedScriptIntegrity: details.expected ?? null,
  }
}

function nonAdaCollateral({ transaction, utxos }: Rejection): unknown {
  const outputs = transaction.body.collateralInputs.flatMap((reference) => {
    const output = utxos.get(outputReferenceKey(reference))
    return output === undefined ? [] : [output]
  })
  const lovelace = outputs.reduce((sum, { value }) => sum + value.lovelace, 0n)
  return {
    unsuitableCollateralValue: Object.assign(
      lovelaceJson(lovelace),
      ...outputs.map(({ value }) => assetsJson(value.assets)),
    ),
  }
}

/** The failure of each redeemer. */
function mismatchReason({ description, failures }: Rejection['details']): string {
  const reasons = entries(failures).map(({ purpose, index, message, logs }) => {
    const traces = Array.isArray(logs) && logs.length > 0 ? ` (traces: ${logs.join('; ')})` : ''
    return `${purpose}:${index} ${message}${traces}`
  })
  return [String(description), ...reasons].join(': ')
}

/** The outputs that a failure names by index; the collateral return follows the other outputs. */
function failedOutputs({ transaction, details }: Rejection) {
  const { outputs, collateralReturn } = transaction.body
  const all = collateralReturn === undefined ? outputs : [...outputs, collateralReturn]
  return entries(details.outputs).flatMap(({ output }) => all[Number(output)] ?? [])
}

function pointers(redeemers: Json | undefined) {
  return entries(redeemers).map(({ purpose, index }) => ({
    purpose: purposes[purpose as keyof typeof purposes],
    index,
  }))
}

/** @param credential `key:<hash>` or `script:<hash>`, as in the details of a predicate */
function credentialJson(credential: Json | undefined) {
  const [kind, hash = ''] = String(credential).split(':')
  return { from: kind === 'script' ? 'script' : 'verificationKey', hash }
}

/** The purpose of a missing redeemer. The ledger numbers inputs by reference. */
function scriptPurpose({ transaction }: Rejection) {
  const inputs = transaction.body.inputs.map(outputReferenceKey).sort(byReference)
  return ({ purpose, index, scriptHash }: { readonly [key: string]: Json }): unknown => {
    if (purpose === 'spend') return { purpose, outputReference: referenceJson(inputs[Number(index)] ?? '') }
    if (purpose === 'mint') return { purpose, policy: scriptHash }
    const accounts = transaction.body.withdrawals.map(({ account }) => account)
    const account = accounts.find((each) => each.kind === 'reward' && toHex(each.stake.hash) === scriptHash)
    return { purpose: 'withdraw', rewardAccount: account && addressText(account) }
  }
}

function byReference(a: string, b: string): number {
  const [[idA = '', indexA], [idB = '', indexB]] = [a.split('#'), b.split('#')]
  return idA === idB ? Number(indexA) - Number(indexB) : idA < idB ? -1 : 1
}

function references(inputs: Json | undefined) {
  return (Array.isArray(inputs) ? inputs : []).map((input) => referenceJson(String(input)))
}

function units(json: Json | undefined) {
  const [{ memory, steps } = {}] = entries([json ?? null])
  return { memory: amount(memory), cpu: amount(steps) }
}

function entries(json: Json | undefined): readonly { readonly [key: string]: Json }[] {
  if (!Array.isArray(json)) return []
  return json.filter((entry) => typeof entry === 'object' && entry !== null && !Array.isArray(entry))
}

function amount(json: Json | undefined): bigint {
  return BigInt(String(json ?? 0))
}
