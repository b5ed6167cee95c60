import type { PlutusLanguage, ProtocolParameters, Rational } from '@ratatosk/ledger'
import {
  defaultMaxReferenceScriptsSize,
  type Ratio,
  referenceScriptTiers,
  unusedParameters as unused,
} from '../mainnet-values.js'
import type { ChainView } from '../view/chain-view.js'
import { namedCosts } from './named-costs.js'

/** The protocol parameters of an epoch, which are those of all epochs. */
export function parametersJson(chain: ChainView, epoch: number) {
  const { parameters, maxBlockSize, genesisHash } = chain
  return {
    epoch,
    ...protocolParametersJson(parameters, maxBlockSize),
    nonce: genesisHash,
  }
}

/**
 * Protocol parameters under Blockfrost's names. Parameters that no rule reads are mainnet's.
 *
 * @param maxBlockSize in bytes
 */
export function protocolParametersJson(parameters: ProtocolParameters, maxBlockSize: number) {
  const { executionPrices, maxTransactionExecutionUnits, maxBlockExecutionUnits, ledgerVersion } = parameters
  const { pool, drep } = unused
  return {
    min_fee_a: Number(parameters.minFeeA),
    min_fee_b: Number(parameters.minFeeB),
    max_block_size: maxBlockSize,
    max_tx_size: parameters.maxTransactionSize,
    max_block_header_size: unused.maxBlockHeaderSize,
    key_deposit: String(parameters.keyDeposit),
    pool_deposit: String(parameters.poolDeposit),
    e_max: unused.stakePoolRetirementEpochBound,
    n_opt: unused.desiredNumberOfStakePools,
    a0: number(unused.stakePoolPledgeInfluence),
    rho: number(unused.monetaryExpansion),
    tau: number(unused.treasuryExpansion),
    decentralisation_param: 0,
    extra_entropy: null,
    protocol_major_ver: ledgerVersion.major,
    protocol_minor_ver: ledgerVersion.minor,
    min_utxo: String(parameters.coinsPerUtxoByte),
    min_pool_cost: String(unused.minStakePoolCost),
    cost_models: costModels(parameters.costModels, namedCosts),
    cost_models_raw: costModels(parameters.costModels, (_language, model) => model.map(Number)),
    price_mem: decimal(executionPrices.memory),
    price_step: decimal(executionPrices.steps),
    max_tx_ex_mem: String(maxTransactionExecutionUnits.memory),
    max_tx_ex_steps: String(maxTransactionExecutionUnits.steps),
    max_block_ex_mem: String(maxBlockExecutionUnits.memory),
    max_block_ex_steps: String(maxBlockExecutionUnits.steps),
    max_val_size: String(parameters.maxValueSize),
    collateral_percent: Number(parameters.collateralPercentage),
    max_collateral_inputs: parameters.maxCollateralInputs,
    coins_per_utxo_size: String(parameters.coinsPerUtxoByte),
    coins_per_utxo_word: String(parameters.coinsPerUtxoByte),
    pvt_motion_no_confidence: number(pool.noConfidence),
    pvt_committee_normal: number(pool.committeeNormal),
    pvt_committee_no_confidence: number(pool.committeeNoConfidence),
    pvt_hard_fork_initiation: number(pool.hardForkInitiation),
    pvt_p_p_security_group: number(pool.security),
    pvtpp_security_group: number(pool.security),
    dvt_motion_no_confidence: number(drep.noConfidence),
    dvt_committee_normal: number(drep.committeeNormal),
    dvt_committee_no_confidence: number(drep.committeeNoConfidence),
    dvt_update_to_constitution: number(drep.constitution),
    dvt_hard_fork_initiation: number(drep.hardForkInitiation),
    dvt_p_p_network_group: number(drep.network),
    dvt_p_p_economic_group: number(drep.economic),
    dvt_p_p_technical_group: number(drep.technical),
    dvt_p_p_gov_group: number(drep.governance),
    dvt_treasury_withdrawal: number(drep.treasuryWithdrawals),
    committee_min_size: String(unused.committeeMinSize),
    committee_max_term_length: String(unused.committeeMaxTermLength),
    gov_action_lifetime: String(unused.governanceActionLifetime),
    gov_action_deposit: String(parameters.governanceActionDeposit),
    drep_deposit: String(parameters.drepDeposit),
    drep_activity: String(unused.drepMaxIdleTime),
    min_fee_ref_script_cost_per_byte: decimal(parameters.referenceScriptCostPerByte),
    max_ref_script_size: parameters.maxReferenceScriptsSize ?? defaultMaxReferenceScriptsSize,
    ref_script_cost_stride: referenceScriptTiers.range,
    ref_script_cost_multiplier: referenceScriptTiers.multiplier,
  }
}

function costModels<T>(
  models: ChainView['parameters']['costModels'],
  write: (language: PlutusLanguage, model: readonly bigint[]) => T,
): { [language in PlutusLanguage]?: T } {
  const written: { [language in PlutusLanguage]?: T } = {}
  for (const language of ['PlutusV1', 'PlutusV2', 'PlutusV3'] as const) {
    const model = models[language]
    if (model !== undefined) written[language] = write(language, model)
  }
  return written
}

function decimal({ numerator, denominator }: Rational): number {
  return Number(numerator) / Number(denominator)
}

function number([numerator, denominator]: Ratio): number {
  return numerator / denominator
}
