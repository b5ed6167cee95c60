import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fromHex, isDecodeError } from '@ratatosk/cbor'
import type { ProtocolParameters, Rational, SlotConfig } from '../../parameters/types.js'
import type { Evaluator } from '../../plutus/types.js'
import type { RuleContext } from '../../rules/context.js'
import { judge } from '../../rules/judge.js'
import { judgeProfile } from '../../rules/profile.js'
import { decodeTransaction, decodeTransactionOutput } from '../../transaction/decode.js'
import { decodeOutputReference, outputReferenceKey } from '../../transaction/output-reference.js'
import type { Transaction, TransactionOutput } from '../../transaction/types.js'
import { named, type Outcome, orNotJudged } from './outcome.js'
import { ourPredicates } from './predicates.js'

/** One file of `ledger-scenarios/scenarios`, with its references resolved. */
interface Scenario {
  readonly network: string
  readonly eraHistory: EraHistory
  readonly protocolParameters: ScenarioParameters
  readonly initialState: {
    readonly utxo?: readonly { readonly input: string; readonly output: string }[]
    readonly pots?: { readonly treasury?: number }
  }
  readonly point: { readonly slot: number }
  readonly transaction: string
  readonly expected:
    | 'Pass'
    | { readonly predicate: string; readonly description?: string }
    | { readonly decodingFailure: true }
}

interface EraHistory {
  readonly stabilityWindow: number
  readonly eras: readonly {
    readonly start: { readonly time: number; readonly slot: number }
    readonly end: { readonly slot: number } | null
    readonly params: { readonly epochSizeSlots: number; readonly slotLengthMs: number }
  }[]
}

interface RatioJson {
  readonly numerator: number
  readonly denominator: number
}

interface ScenarioParameters {
  readonly minFeeCoefficient: number
  readonly minFeeConstant: number
  readonly minFeeReferenceScripts: { readonly base: RatioJson }
  readonly minUtxoDepositCoefficient: number
  readonly maxTransactionSize: number
  readonly maxValueSize: number
  readonly maxReferenceScriptsSize: number
  readonly stakeCredentialDeposit: number
  readonly stakePoolDeposit: number
  readonly collateralPercentage: number
  readonly maxCollateralInputs: number
  readonly plutusCostModels: {
    readonly [language in 'plutusV1' | 'plutusV2' | 'plutusV3']?: readonly number[]
  }
  readonly scriptExecutionPrices: { readonly memory: RatioJson; readonly cpu: RatioJson }
  readonly maxExecutionUnitsPerTransaction: { readonly memory: number; readonly cpu: number }
  readonly maxExecutionUnitsPerBlock: { readonly memory: number; readonly cpu: number }
  readonly governanceActionDeposit: number
  readonly delegateRepresentativeDeposit: number
  readonly version: { readonly major: number; readonly minor: number }
}

/** Judges every scenario twice: by the ledger's rules, and by those and the layer-2 profile. */
export async function runScenarios(
  folder: string,
  evaluator: Pick<Evaluator, 'evaluate'>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const file of (await readdir(join(folder, 'scenarios'))).sort()) {
    const scenario = await readScenario(folder, join(folder, 'scenarios', file))
    outcomes.push(...(await runScenario(file.replace(/\.json$/, ''), scenario, evaluator)))
  }
  return outcomes
}

async function runScenario(
  name: string,
  scenario: Scenario,
  evaluator: Pick<Evaluator, 'evaluate'>,
): Promise<Outcome[]> {
  const { expected } = scenario
  const wanted =
    expected === 'Pass' ? 'Pass' : 'predicate' in expected ? expected.predicate : 'decoding failure'
  let transaction: Transaction
  try {
    transaction = decodeTransaction(fromHex(scenario.transaction))
  } catch (error) {
    if (!isDecodeError(error)) throw error
    const result = wanted === 'decoding failure' ? 'agreed' : 'deviation'
    const found = `decoding failure (${error.message})`
    return [{ name, rules: 'unrestricted', kind: 'plain', expected: wanted, found, result }]
  }

  const utxos = new Map<string, TransactionOutput>()
  for (const { input, output } of scenario.initialState.utxo ?? []) {
    utxos.set(
      outputReferenceKey(decodeOutputReference(fromHex(input))),
      decodeTransactionOutput(fromHex(output)),
    )
  }
  const kind = isPlain(transaction) ? 'plain' : 'stake or governance'
  const verdict = await orNotJudged(
    judge(transaction, utxos, contextOf(scenario), {
      evaluator,
      slots: slotsOf(scenario.eraHistory),
    }),
  )
  const description = verdict.find(({ predicate }) => predicate === wanted)?.details.description
  const same =
    wanted === 'Pass'
      ? verdict.length === 0
      : verdict.some(({ predicate }) => predicate === wanted) &&
        (typeof expected !== 'object' || !('description' in expected) || expected.description === description)
  const undecided = wanted !== 'Pass' && !ourPredicates.has(wanted) && verdict.length === 0
  const outcomes: Outcome[] = [
    {
      name,
      rules: 'unrestricted',
      kind,
      expected: wanted,
      found: named(verdict),
      result: same ? 'agreed' : undecided ? 'undecided' : 'deviation',
    },
  ]

  const refused = judgeProfile(transaction)
  outcomes.push({
    name,
    rules: 'layer 2',
    kind,
    expected: reasonDue(transaction) ? 'a reason of the profile' : 'no reason of the profile',
    found: named(refused),
    result: refused.length > 0 === reasonDue(transaction) ? 'agreed' : 'deviation',
  })
  return outcomes
}

/** Without certificates, withdrawals, votes and proposals. */
export function isPlain({ body }: Transaction): boolean {
  return (
    body.certificates.length === 0 &&
    body.withdrawals.length === 0 &&
    body.votingProcedures.length === 0 &&
    body.proposalProcedures.length === 0
  )
}

/**
 * Whether the layer-2 profile must refuse: of these parts, only a withdrawal of zero by a script is accepted.
 */
function reasonDue(transaction: Transaction): boolean {
  const { body, isValid } = transaction
  const observers = body.withdrawals.every(
    ({ account, lovelace }) =>
      lovelace === 0n && account.kind === 'reward' && account.stake.kind === 'script',
  )
  const needsState =
    body.certificates.length + body.votingProcedures.length + body.proposalProcedures.length > 0
  return (
    !isValid || !observers || needsState || body.treasuryDonation > 0n || body.currentTreasury !== undefined
  )
}

async function readScenario(folder: string, path: string): Promise<Scenario> {
  const raw = await readJson(path)
  const scenario = raw as Scenario
  return {
    ...scenario,
    eraHistory: (await follow(folder, scenario.eraHistory)) as EraHistory,
    protocolParameters: (await follow(folder, scenario.protocolParameters)) as ScenarioParameters,
  }
}

/** `{ "$ref": file, "$override": fields }` stands for the file with those fields replaced. */
async function follow(folder: string, value: object): Promise<object> {
  if (!('$ref' in value) || typeof value.$ref !== 'string') return value
  const override = '$override' in value && typeof value.$override === 'object' ? value.$override : {}
  return { ...(await readJson(join(folder, value.$ref))), ...override }
}

async function readJson(path: string): Promise<object> {
  return JSON.parse(await readFile(path, 'utf8')) as object
}

function contextOf({ network, point, eraHistory, protocolParameters, initialState }: Scenario): RuleContext {
  return {
    parameters: parametersOf(protocolParameters),
    networkId: network === 'mainnet' ? 1 : 0,
    slot: BigInt(point.slot),
    forecastHorizon: horizonOf(eraHistory, point.slot),
    treasury: BigInt(initialState.pots?.treasury ?? 0),
  }
}

/**
 * The forecast of an era without an end reaches the epoch boundary after the stability window of the tip.
 */
function horizonOf({ stabilityWindow, eras }: EraHistory, tip: number): bigint {
  const era = eras.at(-1)
  if (!era) throw new Error('an era history without eras')
  if (era.end) return BigInt(era.end.slot)
  const { epochSizeSlots } = era.params
  const epochs = Math.ceil(
    (Math.max(tip, era.start.slot) + stabilityWindow - era.start.slot) / epochSizeSlots,
  )
  return BigInt(era.start.slot + epochs * epochSizeSlots)
}

/** Preprod's system start, where era histories begin. */
const SYSTEM_START = 1_654_041_600_000

function slotsOf({ eras }: EraHistory): SlotConfig {
  const era = eras.at(-1)
  if (!era) throw new Error('an era history without eras')
  return {
    zeroTime: BigInt(SYSTEM_START + era.start.time * 1000),
    zeroSlot: BigInt(era.start.slot),
    slotLength: era.params.slotLengthMs,
  }
}

function parametersOf(json: ScenarioParameters): ProtocolParameters {
  const { plutusV1, plutusV2, plutusV3 } = json.plutusCostModels
  return {
    minFeeA: BigInt(json.minFeeCoefficient),
    minFeeB: BigInt(json.minFeeConstant),
    maxTransactionSize: json.maxTransactionSize,
    maxValueSize: json.maxValueSize,
    coinsPerUtxoByte: BigInt(json.minUtxoDepositCoefficient),
    collateralPercentage: BigInt(json.collateralPercentage),
    maxCollateralInputs: json.maxCollateralInputs,
    executionPrices: {
      memory: ratio(json.scriptExecutionPrices.memory),
      steps: ratio(json.scriptExecutionPrices.cpu),
    },
    maxTransactionExecutionUnits: units(json.maxExecutionUnitsPerTransaction),
    maxBlockExecutionUnits: units(json.maxExecutionUnitsPerBlock),
    referenceScriptCostPerByte: ratio(json.minFeeReferenceScripts.base),
    maxReferenceScriptsSize: json.maxReferenceScriptsSize,
    costModels: {
      ...(plutusV1 && { PlutusV1: plutusV1.map(BigInt) }),
      ...(plutusV2 && { PlutusV2: plutusV2.map(BigInt) }),
      ...(plutusV3 && { PlutusV3: plutusV3.map(BigInt) }),
    },
    protocolVersion: json.version,
    keyDeposit: BigInt(json.stakeCredentialDeposit),
    poolDeposit: BigInt(json.stakePoolDeposit),
    drepDeposit: BigInt(json.delegateRepresentativeDeposit),
    governanceActionDeposit: BigInt(json.governanceActionDeposit),
  }
}

function ratio({ numerator, denominator }: RatioJson): Rational {
  return { numerator: BigInt(numerator), denominator: BigInt(denominator) }
}

function units({ memory, cpu }: { memory: number; cpu: number }): { memory: bigint; steps: bigint } {
  return { memory: BigInt(memory), steps: BigInt(cpu) }
}
