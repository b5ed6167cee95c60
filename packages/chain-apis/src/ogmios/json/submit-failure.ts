import { fromHex, toHex } from '@ratatosk/cbor'
import {
  type Assets,
  byReference,
  decodeAddress,
  type Json,
  outputReferenceKey,
  type PredicateFailure,
  type Transaction,
  type UtxoView,
  type Value,
} from '@ratatosk/ledger'
import { addressText } from '../../view/address-text.js'
import { deposits } from '../../view/certificates.js'
import type { RpcErrorObject } from '../rpc.js'
import { contextReason } from './evaluation-json.js'
import {
  assetsJson,
  intervalJson,
  lovelaceJson,
  outputJson,
  plutusLanguages,
  purposes,
  referenceJson,
  valueJson,
} from './transaction-json.js'

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
    ({ transaction, details }) => ({
      validityInterval: intervalJson(transaction),
      currentSlot: amount(details.slot),
    }),
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
  WrongNetworkWithdrawal: [
    3124,
    ({ transaction, details, network }) => ({
      expectedNetwork: network,
      discriminatedType: 'rewardAccount',
      invalidEntities: transaction.body.withdrawals
        .map(({ account }) => account)
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
  OutsideForecast: [3130, ({ details }) => ({ unforeseeableSlot: amount(details.slot) })],
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
  const { predicate, details } = failure
  const code = codeOf(failure)
  const message = `${predicate}: ${failure.message}`
  if (predicate === 'CollectErrors') return { code, message, data: collectErrors(details) }
  if (code === other) return { code, message, data: { error: `${message} ${JSON.stringify(details)}` } }
  const data = known[predicate]?.[1]
  return { code, message, ...(data && { data: data({ ...context, details }) }) }
}

/** The code of all failures that Ogmios has no code for. */
const other = 3997

function codeOf({ predicate, details }: PredicateFailure): number {
  if (predicate !== 'CollectErrors') return known[predicate]?.[0] ?? other
  return isWithoutCostModel(details) ? 3115 : 3004
}

function isWithoutCostModel({ errors }: PredicateFailure['details']): boolean {
  return entries(errors)[0]?.error === 'NoCostModel'
}

/** The first reason for which the transaction cannot be shown to its scripts. */
function collectErrors(details: PredicateFailure['details']): unknown {
  const [{ language, reason } = {}] = entries(details.errors)
  if (!isWithoutCostModel(details)) return { reason: contextReason(String(reason)) }
  return { missingCostModels: [plutusLanguages[language as keyof typeof plutusLanguages]] }
}

// The details of a failed predicate, in the JSON of Ogmios.

/** A rejected transaction, with what it was validated against, and one failure of it. */
interface FailureContext {
  readonly transaction: Transaction
  readonly utxos: UtxoView
  readonly keyDeposit: bigint
  readonly network: 'mainnet' | 'testnet'
  readonly details: PredicateFailure['details']
}

function integrity({ details }: FailureContext): unknown {
  return {
    providedScriptIntegrity: details.supplied ?? null,
    computedScriptIntegrity: details.expected ?? null,
  }
}

function nonAdaCollateral({ transaction, utxos }: FailureContext): unknown {
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

function mismatchReason({ description, failures }: FailureContext['details']): string {
  const reasons = entries(failures).map(({ purpose, index, message, logs }) => {
    const traces = Array.isArray(logs) && logs.length > 0 ? ` (traces: ${logs.join('; ')})` : ''
    return `${purpose}:${index} ${message}${traces}`
  })
  return [String(description), ...reasons].join(': ')
}

/** The outputs that a failure names by index; the collateral return follows the other outputs. */
function failedOutputs({ transaction, details }: FailureContext) {
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
function scriptPurpose({ transaction }: FailureContext) {
  const inputs = [...transaction.body.inputs].sort(byReference).map(outputReferenceKey)
  return ({ purpose, index, scriptHash }: { readonly [key: string]: Json }): unknown => {
    if (purpose === 'spend') return { purpose, outputReference: referenceJson(inputs[Number(index)] ?? '') }
    if (purpose === 'mint') return { purpose, policy: scriptHash }
    const accounts = transaction.body.withdrawals.map(({ account }) => account)
    const account = accounts.find((each) => each.kind === 'reward' && toHex(each.stake.hash) === scriptHash)
    return { purpose: 'withdraw', rewardAccount: account && addressText(account) }
  }
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

/** The value a transaction consumes: inputs, minted assets, withdrawals and refunded deposits. */
function consumedValue({ body }: Transaction, utxos: UtxoView, keyDeposit: bigint): Value {
  const sum = createSum()
  for (const reference of body.inputs) {
    const output = utxos.get(outputReferenceKey(reference))
    if (output !== undefined) sum.add(output.value)
  }
  for (const { lovelace } of body.withdrawals) sum.add({ lovelace, assets: new Map() })
  sum.add({ lovelace: deposits(body, keyDeposit).refunded, assets: new Map() })
  sum.add({ lovelace: 0n, assets: ofSign(body.mint, 1n) })
  return sum.value()
}

/** The value a transaction produces: outputs, fee, donation, paid deposits and burnt assets. */
function producedValue({ body }: Transaction, keyDeposit: bigint): Value {
  const sum = createSum()
  for (const { value } of body.outputs) sum.add(value)
  sum.add({
    lovelace: body.fee + body.treasuryDonation + deposits(body, keyDeposit).paid,
    assets: ofSign(body.mint, -1n),
  })
  return sum.value()
}

/** The minted (1) or burnt (−1) assets, as positive quantities. */
function ofSign(mint: Assets, sign: 1n | -1n): Assets {
  return new Map(
    Array.from(mint, ([policy, names]) => [
      policy,
      new Map(
        Array.from(names, ([name, quantity]) => [name, quantity * sign] as const).filter(
          ([, quantity]) => quantity > 0n,
        ),
      ),
    ]),
  )
}

function createSum() {
  let total = 0n
  const held = new Map<string, Map<string, bigint>>()
  return {
    add({ lovelace, assets }: Value): void {
      total += lovelace
      for (const [policy, names] of assets) {
        const sums = held.get(policy) ?? new Map<string, bigint>()
        for (const [name, quantity] of names) sums.set(name, (sums.get(name) ?? 0n) + quantity)
        if (sums.size > 0) held.set(policy, sums)
      }
    },
    value: (): Value => ({ lovelace: total, assets: held }),
  }
}
