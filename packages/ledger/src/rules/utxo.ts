import { toHex } from '@ratatosk/cbor'
import { bootstrapAttributesSize } from '../address/address.js'
import type { ProtocolParameters, Rational } from '../parameters/types.js'
import { outputReferenceKey } from '../transaction/output-reference.js'
import type { Transaction, TransactionOutput, Value } from '../transaction/types.js'
import { type AssetQuantities, addAssets, addValue, valueToJson } from './assets.js'
import type { Resolution, RuleContext } from './context.js'
import type { Findings, Json } from './predicates.js'

/** UTXO: InputSetEmptyUTxO. */
export function validateInputsPresent({ body }: Transaction, findings: Findings): void {
  if (body.inputs.length > 0) return
  findings.add('InputSetEmptyUTxO', 'The transaction spends nothing, so it could be repeated at will')
}

/** UTXO: BabbageNonDisjointRefInputs, in ledger versions 9 and 10; later `validateScriptContexts`. */
export function validateDisjointInputs(
  { body }: Transaction,
  { parameters }: RuleContext,
  findings: Findings,
): void {
  const { major } = parameters.ledgerVersion
  if (body.referenceInputs.length === 0 || major < 9 || major > 10) return
  const spent = new Set(body.inputs.map(outputReferenceKey))
  const common = body.referenceInputs.map(outputReferenceKey).filter((key) => spent.has(key))
  if (common.length === 0) return
  findings.add('BabbageNonDisjointRefInputs', 'An output is both spent and referred to', { inputs: common })
}

/** UTXO: BadInputsUTxO, for spent, collateral and reference inputs alike. */
export function validateInputsKnown({ missing }: Resolution, findings: Findings): void {
  if (missing.length === 0) return
  const inputs = missing.map(({ key }) => key)
  findings.add('BadInputsUTxO', `${inputs.length} of the inputs are unknown or spent`, { inputs })
}

/** UTXO: OutsideValidityIntervalUTxO. The lower bound is inclusive, the upper exclusive. */
export function validateInterval({ body }: Transaction, { slot }: RuleContext, findings: Findings): void {
  const { invalidBefore, invalidHereafter } = body.validityInterval
  const early = invalidBefore !== undefined && slot < invalidBefore
  const late = invalidHereafter !== undefined && slot >= invalidHereafter
  if (!early && !late) return
  const message = late
    ? `The transaction was valid before slot ${invalidHereafter}, and the next block is in slot ${slot}`
    : `The transaction is valid from slot ${invalidBefore} on, and the next block is in slot ${slot}`
  const details: { [key: string]: Json } = { slot: String(slot) }
  if (invalidBefore !== undefined) details.invalidBefore = String(invalidBefore)
  if (invalidHereafter !== undefined) details.invalidHereafter = String(invalidHereafter)
  findings.add('OutsideValidityIntervalUTxO', message, details)
}

/** UTXO: OutsideForecast. With redeemers, the upper bound must be convertible to a time for scripts. */
export function validateForecast(transaction: Transaction, context: RuleContext, findings: Findings): void {
  const { invalidHereafter } = transaction.body.validityInterval
  const horizon = context.forecastHorizon
  if (horizon === undefined || invalidHereafter === undefined) return
  if (transaction.witnesses.redeemers.length === 0 || invalidHereafter <= horizon) return
  findings.add(
    'OutsideForecast',
    `The time of slot ${invalidHereafter} is not known yet, because the forecast ends at slot ${horizon}`,
    { slot: String(invalidHereafter), horizon: String(horizon) },
  )
}

/** Size of a price tier of reference scripts in bytes, fixed by the Conway ledger. */
const tierSize = 25_600
/** The factor from the price of a tier to that of the next, fixed by the Conway ledger. */
const tierFactor: Rational = { numerator: 6n, denominator: 5n }
/** Conway's limit on the total size of the reference scripts that a transaction uses, in bytes. */
const defaultMaxReferenceScriptsSize = 204_800

/**
 * Returns the size that determines the fee and is subject to the size limit, in bytes: the size of the
 * transaction as submitted, without its `is_valid` flag. (The ledger adds body, witnesses, auxiliary data and
 * one byte for the list header.)
 */
export function transactionSize(transaction: Transaction): number {
  const auxiliaryData = transaction.auxiliaryData?.bytes.length ?? 1
  return 1 + transaction.body.bytes.length + transaction.witnesses.bytes.length + auxiliaryData
}

/**
 * Returns the minimum fee in lovelace: `minFeeA × size + minFeeB`, plus the price of the declared execution
 * units (rounded up), plus the price of the reference scripts (see {@link referenceScriptsFee}).
 *
 * @param referenceScriptsSize total size in bytes of the reference scripts on spent and referenced outputs;
 *   duplicates count each time
 */
export function minimumFee(
  transaction: Transaction,
  parameters: ProtocolParameters,
  referenceScriptsSize: number,
): bigint {
  const linear = parameters.minFeeA * BigInt(transactionSize(transaction)) + parameters.minFeeB
  if (transaction.witnesses.redeemers.length === 0 && referenceScriptsSize === 0) return linear
  return (
    linear +
    executionUnitsFee(transaction, parameters) +
    referenceScriptsFee(referenceScriptsSize, parameters.referenceScriptCostPerByte)
  )
}

/**
 * Returns the price in lovelace of reference scripts with a total size of `size` bytes, rounded down. Each
 * tier of 25,600 bytes costs 1.2 times as much per byte as the one before.
 *
 * @param costPerByte lovelace per byte in the first tier
 */
export function referenceScriptsFee(size: number, costPerByte: Rational): bigint {
  let { numerator: price, denominator } = costPerByte
  let sum = 0n
  let left = size
  // All terms share one denominator, so that only the result is rounded.
  while (left >= tierSize) {
    sum = (sum + BigInt(tierSize) * price) * tierFactor.denominator
    price *= tierFactor.numerator
    denominator *= tierFactor.denominator
    left -= tierSize
  }
  return (sum + BigInt(left) * price) / denominator
}

/** The sum of the execution units that the redeemers declare. */
function totalExecutionUnits(transaction: Transaction): { memory: bigint; steps: bigint } {
  let memory = 0n
  let steps = 0n
  for (const { executionUnits } of transaction.witnesses.redeemers) {
    memory += executionUnits.memory
    steps += executionUnits.steps
  }
  return { memory, steps }
}

function executionUnitsFee(transaction: Transaction, { executionPrices }: ProtocolParameters): bigint {
  const units = totalExecutionUnits(transaction)
  const { memory, steps } = executionPrices
  const numerator =
    units.memory * memory.numerator * steps.denominator + units.steps * steps.numerator * memory.denominator
  const denominator = memory.denominator * steps.denominator
  return (numerator + denominator - 1n) / denominator
}

/** UTXO: FeeTooSmallUTxO. If the spent outputs are unknown, `referenceScriptsSize` 0 yields a lower bound. */
export function validateFee(
  transaction: Transaction,
  { parameters }: RuleContext,
  referenceScriptsSize: number,
  findings: Findings,
): void {
  const required = minimumFee(transaction, parameters, referenceScriptsSize)
  const { fee } = transaction.body
  if (fee >= required) return
  findings.add('FeeTooSmallUTxO', `The fee is ${fee} lovelace, at least ${required} are required`, {
    requiredFee: String(required),
    fee: String(fee),
    size: transactionSize(transaction),
    referenceScriptsSize,
  })
}

/**
 * UTXO, the collateral part of `feesOK`: ScriptsNotPaidUTxO, CollateralContainsNonADA,
 * InsufficientCollateral, IncorrectTotalCollateralField, NoCollateralInputs; with redeemers, for both values
 * of `is_valid`. An unknown collateral input leaves the rules that do not depend on it.
 */
export function validateCollateral(
  transaction: Transaction,
  { parameters }: RuleContext,
  { collateral }: Resolution,
  findings: Findings,
): void {
  if (transaction.witnesses.redeemers.length === 0) return
  const { body } = transaction
  if (collateral.length === 0) {
    findings.add('NoCollateralInputs', 'A transaction with redeemers needs collateral')
  }

  const locked = collateral.filter(({ output }) => {
    if (output === undefined) return false
    const { address } = output
    return address.kind !== 'byron' && address.kind !== 'reward' && address.payment.kind === 'script'
  })
  if (locked.length > 0) {
    findings.add('ScriptsNotPaidUTxO', 'Collateral is locked by a script', {
      inputs: locked.map(({ key, output }) => ({
        input: key,
        address: output ? toHex(output.address.bytes) : '',
      })),
    })
  }
  if (collateral.some(({ output }) => output === undefined)) return

  const assets: AssetQuantities = new Map()
  let balance = 0n
  for (const { output } of collateral) if (output) balance += addValue(assets, output.value, 1n)
  const { collateralReturn } = body
  if (collateralReturn) balance += addValue(assets, collateralReturn.value, -1n)

  if ([...assets.values()].some((quantity) => quantity !== 0n)) {
    findings.add('CollateralContainsNonADA', 'Native assets in the collateral are not all returned', {
      balance: valueToJson(balance, assets),
    })
  }
  const percentage = parameters.collateralPercentage
  if (balance * 100n < body.fee * percentage) {
    const required = (body.fee * percentage + 99n) / 100n
    findings.add(
      'InsufficientCollateral',
      `The collateral is ${balance} lovelace, ${required} are required`,
      {
        collateral: String(balance),
        requiredCollateral: String(required),
      },
    )
  }
  if (body.totalCollateral !== undefined && body.totalCollateral !== balance) {
    findings.add(
      'IncorrectTotalCollateralField',
      `The collateral is ${balance} lovelace, but the transaction states ${body.totalCollateral}`,
      { collateral: String(balance), totalCollateral: String(body.totalCollateral) },
    )
  }
}

/**
 * UTXO: ValueNotConservedUTxO. Consumed: inputs, mint, withdrawals, refunds; produced: outputs, burns, fee,
 * deposits, donation. A certificate without its deposit pays the current key deposit. A pool registration
 * pays the pool deposit only if the pool is new: that is not known here, so both sums pass.
 */
export function validateConservation(
  { body }: Transaction,
  { parameters }: RuleContext,
  { inputs }: Resolution,
  findings: Findings,
): void {
  const surplus: AssetQuantities = new Map()
  let consumed = 0n
  let produced = body.fee + body.treasuryDonation
  for (const { output } of inputs) if (output) consumed += addValue(surplus, output.value, 1n)
  for (const output of body.outputs) produced -= addValue(surplus, output.value, -1n)
  addAssets(surplus, body.mint, 1n)

  for (const { lovelace } of body.withdrawals) consumed += lovelace
  for (const { deposit } of body.proposalProcedures) produced += deposit
  let newPools = 0
  for (const certificate of body.certificates) {
    if (certificate.deposit !== undefined) {
      if (certificate.deposit > 0n) produced += certificate.deposit
      else consumed -= certificate.deposit
    } else if (certificate.kind === 'stake_registration') produced += parameters.keyDeposit
    else if (certificate.kind === 'stake_deregistration') consumed += parameters.keyDeposit
    else if (certificate.kind === 'pool_registration') newPools += 1
  }

  const missing = consumed - produced
  const balanced = missing === 0n || paysForPools(missing, newPools, parameters.poolDeposit)
  if (balanced && isEmpty(surplus)) return
  findings.add('ValueNotConservedUTxO', 'What the transaction consumes is not what it produces', {
    consumed: { lovelace: String(consumed) },
    produced: { lovelace: String(produced) },
    surplus: valueToJson(consumed - produced, surplus),
  })
}

/** Whether the difference equals the deposits of some of the registered pools. */
function paysForPools(missing: bigint, pools: number, poolDeposit: bigint): boolean {
  if (pools === 0 || missing < 0n || poolDeposit === 0n) return false
  return missing % poolDeposit === 0n && missing / poolDeposit <= BigInt(pools)
}

function isEmpty(quantities: AssetQuantities): boolean {
  for (const quantity of quantities.values()) if (quantity !== 0n) return false
  return true
}

/** Overhead of an entry in the UTxO set, in bytes, added to the size of the output. */
const entryOverhead = 160
/** Maximum size of the attributes of a Byron address in an output, in bytes. */
const maxBootstrapAttributes = 64

/**
 * Returns the minimum lovelace that an output must hold: the size of `output.bytes` plus 160 bytes, times
 * `coinsPerUtxoByte`. Changing the lovelace can change the size, so a builder must repeat the calculation.
 */
export function minimumLovelace(
  output: Pick<TransactionOutput, 'bytes'>,
  parameters: Pick<ProtocolParameters, 'coinsPerUtxoByte'>,
): bigint {
  return BigInt(entryOverhead + output.bytes.length) * parameters.coinsPerUtxoByte
}

export function allOutputs({ body }: Transaction): readonly TransactionOutput[] {
  return body.collateralReturn ? [...body.outputs, body.collateralReturn] : body.outputs
}

/** UTXO: BabbageOutputTooSmallUTxO, OutputTooBigUTxO, OutputBootAddrAttrsTooBig. */
export function validateOutputs(
  outputs: readonly TransactionOutput[],
  { parameters }: RuleContext,
  findings: Findings,
): void {
  const small: { output: number; lovelace: string; requiredLovelace: string }[] = []
  const big: { output: number; size: number; maximum: number }[] = []
  const bloated: { output: number; size: number }[] = []
  outputs.forEach((output, position) => {
    const required = minimumLovelace(output, parameters)
    const { lovelace } = output.value
    if (lovelace < required) {
      small.push({ output: position, lovelace: String(lovelace), requiredLovelace: String(required) })
    }
    // A value is smaller than its output, so most values need not be measured.
    if (output.bytes.length > parameters.maxValueSize) {
      const size = valueSize(output.value)
      if (size > parameters.maxValueSize)
        big.push({ output: position, size, maximum: parameters.maxValueSize })
    }
    if (output.address.kind === 'byron') {
      const size = bootstrapAttributesSize(output.address)
      if (size > maxBootstrapAttributes) bloated.push({ output: position, size })
    }
  })
  const [firstSmall] = small
  if (firstSmall) {
    const { output, lovelace, requiredLovelace } = firstSmall
    const message = `Output ${output} holds ${lovelace} lovelace, but its size requires ${requiredLovelace}`
    findings.add('BabbageOutputTooSmallUTxO', message, { outputs: small })
  }
  if (big.length > 0) {
    findings.add('OutputTooBigUTxO', 'The value of an output is too large', { outputs: big })
  }
  if (bloated.length > 0) {
    findings.add('OutputBootAddrAttrsTooBig', 'The attributes of a Byron address are too large', {
      outputs: bloated,
      maximum: maxBootstrapAttributes,
    })
  }
}

/** The size of a value in the ledger's own encoding, which `maxValueSize` limits for every encoding. */
function valueSize({ lovelace, assets }: Value): number {
  const coin = headSize(lovelace)
  if (assets.size === 0) return coin
  let size = 1 + coin + headSize(BigInt(assets.size))
  for (const [policy, names] of assets) {
    const policyLength = policy.length / 2
    size += headSize(BigInt(policyLength)) + policyLength + headSize(BigInt(names.size))
    for (const [name, quantity] of names) {
      const nameLength = name.length / 2
      size += headSize(BigInt(nameLength)) + nameLength + headSize(quantity)
    }
  }
  return size
}

/** The size in bytes of a CBOR head with this argument, in its shortest form. */
function headSize(argument: bigint): number {
  if (argument < 24n) return 1
  if (argument < 0x100n) return 2
  if (argument < 0x1_0000n) return 3
  return argument < 0x1_0000_0000n ? 5 : 9
}

/** UTXO: WrongNetwork, WrongNetworkWithdrawal, WrongNetworkInTxBody. */
export function validateNetworks(
  { body }: Transaction,
  outputs: readonly TransactionOutput[],
  { networkId }: RuleContext,
  findings: Findings,
): void {
  const strangers = outputs.filter(({ address }) => address.networkId !== networkId)
  if (strangers.length > 0) {
    findings.add('WrongNetwork', 'An output pays to an address of another network', {
      networkId,
      addresses: strangers.map(({ address }) => toHex(address.bytes)),
    })
  }
  const accounts = body.withdrawals.filter(({ account }) => account.networkId !== networkId)
  if (accounts.length > 0) {
    findings.add('WrongNetworkWithdrawal', 'A withdrawal is from an account of another network', {
      networkId,
      accounts: accounts.map(({ account }) => toHex(account.bytes)),
    })
  }
  if (body.networkId !== undefined && body.networkId !== networkId) {
    findings.add(
      'WrongNetworkInTxBody',
      `The transaction is for network ${body.networkId}, but this is network ${networkId}`,
      {
        networkId,
        transactionNetworkId: body.networkId,
      },
    )
  }
}

/** UTXO: MaxTxSizeUTxO. */
export function validateSize(
  transaction: Transaction,
  { parameters }: RuleContext,
  findings: Findings,
): void {
  const size = transactionSize(transaction)
  const maximum = parameters.maxTransactionSize
  if (size <= maximum) return
  findings.add('MaxTxSizeUTxO', `The transaction has ${size} bytes, at most ${maximum} are allowed`, {
    size,
    maximum,
  })
}

/** UTXO: ExUnitsTooBigUTxO. */
export function validateExecutionUnits(
  transaction: Transaction,
  { parameters }: RuleContext,
  findings: Findings,
): void {
  if (transaction.witnesses.redeemers.length === 0) return
  const declared = totalExecutionUnits(transaction)
  const maximum = parameters.maxTransactionExecutionUnits
  if (declared.memory <= maximum.memory && declared.steps <= maximum.steps) return
  findings.add(
    'ExUnitsTooBigUTxO',
    `The redeemers declare ${declared.memory} memory units and ${declared.steps} steps, ` +
      `at most ${maximum.memory} and ${maximum.steps} are allowed`,
    {
      declared: { memory: String(declared.memory), steps: String(declared.steps) },
      maximum: { memory: String(maximum.memory), steps: String(maximum.steps) },
    },
  )
}

/** UTXO: TooManyCollateralInputs. Applies to every transaction, with or without scripts. */
export function validateCollateralCount(
  transaction: Transaction,
  { parameters }: RuleContext,
  findings: Findings,
): void {
  const count = transaction.body.collateralInputs.length
  const maximum = parameters.maxCollateralInputs
  if (count <= maximum) return
  findings.add(
    'TooManyCollateralInputs',
    `There are ${count} collateral inputs, at most ${maximum} are allowed`,
    {
      count,
      maximum,
    },
  )
}

/** LEDGER: ConwayTxRefScriptsSizeTooBig. Applies only to transactions that are marked valid. */
export function validateReferenceScriptsSize(
  transaction: Transaction,
  { parameters }: RuleContext,
  referenceScriptsSize: number,
  findings: Findings,
): void {
  const maximum = parameters.maxReferenceScriptsSize ?? defaultMaxReferenceScriptsSize
  if (!transaction.isValid || referenceScriptsSize <= maximum) return
  findings.add(
    'ConwayTxRefScriptsSizeTooBig',
    `The reference scripts have ${referenceScriptsSize} bytes, at most ${maximum} are allowed`,
    { size: referenceScriptsSize, maximum },
  )
}

/** LEDGER: ConwayTreasuryValueMismatch, if the treasury is known; for transactions marked valid only. */
export function validateTreasuryValue(
  { body, isValid }: Transaction,
  { treasury }: RuleContext,
  findings: Findings,
): void {
  if (!isValid || treasury === undefined || body.currentTreasury === undefined) return
  if (body.currentTreasury === treasury) return
  findings.add('ConwayTreasuryValueMismatch', `The treasury holds ${treasury} lovelace`, {
    supplied: String(body.currentTreasury),
    expected: String(treasury),
  })
}
