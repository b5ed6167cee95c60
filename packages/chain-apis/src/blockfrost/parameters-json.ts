import type { PlutusLanguage, ProtocolParameters, Rational } from '@ratatosk/ledger'
import {
  defaultMaxReferenceScriptsSize,
  type Ratio,
  referenceScriptTiers,
  unusedParameters as unused,
} from '../mainnet-values.js'
import type { ChainView } from '../view/chain-view.js'

// The names of costs in the order of the ledger's cost models, from plutus-ledger-api: a name per builtin
// and argument. A builtin has the arguments of its shape; without one, a constant for each of both units.

const [cpu, model, memory] = ['cpu-arguments', 'cpu-arguments-model-arguments', 'memory-arguments']
const coefficients = ['c00', 'c01', 'c02', 'c10', 'c11', 'c20', 'minimum'].map((name) => `${model}-${name}`)

const shapes: Readonly<Record<string, readonly string[]>> = {
  constant: [cpu, memory],
  linear: [`${cpu}-intercept`, `${cpu}-slope`, memory],
  linear2: [`${cpu}-intercept`, `${cpu}-slope`, `${memory}-intercept`, `${memory}-slope`],
  budget: ['exBudgetCPU', 'exBudgetMemory'],
  quadratic: [`${cpu}-c0`, `${cpu}-c1`, `${cpu}-c2`, `${memory}-intercept`, `${memory}-slope`],
  slopes: [`${cpu}-intercept`, `${cpu}-slope1`, `${cpu}-slope2`, `${memory}-intercept`, `${memory}-slope`],
  division: [
    `${cpu}-constant`,
    `${model}-intercept`,
    `${model}-slope`,
    `${memory}-intercept`,
    `${memory}-minimum`,
    `${memory}-slope`,
  ],
  equality: [`${cpu}-constant`, `${cpu}-intercept`, `${cpu}-slope`, memory],
  power: [
    `${cpu}-coefficient00`,
    `${cpu}-coefficient11`,
    `${cpu}-coefficient12`,
    `${memory}-intercept`,
    `${memory}-slope`,
  ],
  product: [`${cpu}-c00`, `${cpu}-c10`, `${cpu}-c01`, `${cpu}-c11`, `${memory}-intercept`, `${memory}-slope`],
  containment: [`${cpu}-constant`, `${model}-intercept`, `${model}-slope1`, `${model}-slope2`, memory],
  quotient: [
    `${cpu}-constant`,
    ...coefficients,
    `${memory}-intercept`,
    `${memory}-minimum`,
    `${memory}-slope`,
  ],
  modulus: [`${cpu}-constant`, ...coefficients, `${memory}-intercept`, `${memory}-slope`],
}

/** Builtins that follow in every language. */
const later = `
  andByteString:slopes orByteString:slopes xorByteString:slopes complementByteString:linear2 readBit
  writeBits:linear2 replicateByte:linear2 shiftByteString:linear2 rotateByteString:linear2
  countSetBits:linear findFirstSetBit:linear ripemd_160:linear expModInteger:power dropList:linear
  lengthOfArray listToArray:linear2 indexArray bls12_381_G1_multiScalarMul:linear
  bls12_381_G2_multiScalarMul:linear insertCoin:linear2 lookupCoin:linear unionValue:product
  valueContains:containment valueData:linear2 unValueData:quadratic scaleValue:linear2`

/** Builtins before these, in parts that every language has; their order differs. */
const first = `
  addInteger:linear2 appendByteString:linear2 appendString:linear2 bData blake2b_256:linear
  cekApplyCost:budget cekBuiltinCost:budget cekConstCost:budget cekDelayCost:budget cekForceCost:budget
  cekLamCost:budget cekStartupCost:budget cekVarCost:budget chooseData chooseList chooseUnit
  consByteString:linear2 constrData decodeUtf8:linear2 divideInteger:quotient encodeUtf8:linear2
  equalsByteString:equality equalsData:linear equalsInteger:linear equalsString:equality fstPair
  headList iData ifThenElse indexByteString lengthOfByteString lessThanByteString:linear
  lessThanEqualsByteString:linear lessThanEqualsInteger:linear lessThanInteger:linear listData mapData
  mkCons mkNilData mkNilPairData mkPairData modInteger:modulus multiplyInteger:linear2 nullList
  quotientInteger:modulus remainderInteger:quotient`
const firstUntilV3 = first.replace(/:(?:quotient|modulus)/g, ':division')

const second = `
  sha2_256:linear sha3_256:linear sliceByteString:linear2 sndPair subtractInteger:linear2 tailList trace
  unBData unConstrData unIData unListData unMapData`

const third = `
  cekConstrCost:budget cekCaseCost:budget bls12_381_G1_add bls12_381_G1_compress bls12_381_G1_equal
  bls12_381_G1_hashToGroup:linear bls12_381_G1_neg bls12_381_G1_scalarMul:linear bls12_381_G1_uncompress
  bls12_381_G2_add bls12_381_G2_compress bls12_381_G2_equal bls12_381_G2_hashToGroup:linear
  bls12_381_G2_neg bls12_381_G2_scalarMul:linear bls12_381_G2_uncompress bls12_381_finalVerify
  bls12_381_millerLoop bls12_381_mulMlResult keccak_256:linear blake2b_224:linear`

const data = ' serialiseData:linear2'
const signatures = `
  verifyEcdsaSecp256k1Signature verifyEd25519Signature:linear verifySchnorrSecp256k1Signature:linear`
const signaturesV1 = `
  verifyEd25519Signature:linear serialiseData:linear2 verifyEcdsaSecp256k1Signature
  verifySchnorrSecp256k1Signature:linear`
const bytes = ' integerToByteString:quadratic byteStringToInteger:quadratic'

const names: { readonly [language in PlutusLanguage]: readonly string[] } = {
  PlutusV1: namesOf(firstUntilV3 + second + signaturesV1 + third + bytes + later),
  PlutusV2: namesOf(firstUntilV3 + data + second + signatures + bytes + third + later),
  PlutusV3: namesOf(first + data + second + signatures + third + bytes + later),
}

function namesOf(builtins: string): string[] {
  return builtins
    .trim()
    .split(/\s+/)
    .flatMap((builtin) => {
      const [name, shape = 'constant'] = builtin.split(':')
      return (shapes[shape] ?? []).map((part) => `${name}-${part}`)
    })
}

/** A cost model by the names of its costs, in its own order. */
function namedCosts(language: PlutusLanguage, model: readonly bigint[]): Record<string, number> {
  return Object.fromEntries(
    model.map((cost, index) => [names[language][index] ?? String(index), Number(cost)]),
  )
}

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
