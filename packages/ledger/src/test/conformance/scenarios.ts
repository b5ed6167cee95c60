import { isDecodeError } from '@ratatosk/cbor'
import {
  type EraHistory,
  type LedgerRun,
  type LedgerTransaction,
  ledgerRuns,
  ledgerScenarios,
  type Scenario,
  slotsOfRuns,
} from '@ratatosk/fixtures/vectors'
import type { ProtocolParameters, SlotConfig } from '../../parameters/types.js'
import type { RuleContext } from '../../rules/context.js'
import { effects } from '../../rules/effects.js'
import { validateProfile } from '../../rules/profile.js'
import type { Evaluator } from '../../rules/script-evaluator.js'
import { validate } from '../../rules/validate.js'
import { decodeTransaction, decodeTransactionOutput } from '../../transaction/decode.js'
import { decodeOutputReference, outputReferenceKey } from '../../transaction/output-reference.js'
import type { Transaction, TransactionOutput } from '../../transaction/types.js'
import { named, type Outcome, orNotRun } from './outcome.js'

/** Validates every scenario twice: by the ledger's rules, and by those and the layer-2 profile. */
export async function runScenarios(
  folder: string,
  evaluator: Pick<Evaluator, 'evaluate'>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const scenario of ledgerScenarios(folder)) outcomes.push(...(await runScenario(scenario, evaluator)))
  return outcomes
}

async function runScenario(scenario: Scenario, evaluator: Pick<Evaluator, 'evaluate'>): Promise<Outcome[]> {
  const { name, expected } = scenario
  const wanted =
    expected === 'Pass' ? 'Pass' : 'predicate' in expected ? expected.predicate : 'decoding failure'
  let transaction: Transaction
  try {
    transaction = decodeTransaction(scenario.transaction)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    const result = wanted === 'decoding failure' ? 'agreed' : 'deviation'
    const found = `decoding failure (${error.message})`
    return [{ name, rules: 'unrestricted', kind: 'plain', expected: wanted, found, result }]
  }

  const utxos = new Map(
    scenario.unspent.map(([reference, output]) => [
      outputReferenceKey(decodeOutputReference(reference)),
      decodeTransactionOutput(output),
    ]),
  )
  const kind = isPlain(transaction) ? 'plain' : 'stake or governance'
  const failures = await orNotRun(
    validate(transaction, utxos, contextOf(scenario), {
      evaluator,
      slots: slotsOf(scenario.eraHistory),
    }),
  )
  const description = failures.find(({ predicate }) => predicate === wanted)?.details.description
  const same =
    wanted === 'Pass'
      ? failures.length === 0
      : failures.some(({ predicate }) => predicate === wanted) &&
        (typeof expected !== 'object' || !('description' in expected) || expected.description === description)
  const undecided = wanted !== 'Pass' && !ourPredicates.has(wanted) && failures.length === 0
  const outcomes: Outcome[] = [
    {
      name,
      rules: 'unrestricted',
      kind,
      expected: wanted,
      found: named(failures),
      result: same ? 'agreed' : undecided ? 'undecided' : 'deviation',
    },
  ]

  const refused = validateProfile(transaction)
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
function isPlain({ body }: Transaction): boolean {
  return (
    body.certificates.length === 0 &&
    body.withdrawals.length === 0 &&
    body.votingProcedures.length === 0 &&
    body.proposalProcedures.length === 0
  )
}

/** Whether the profile must refuse: of these parts, it accepts a withdrawal of zero by a script only. */
function reasonDue(transaction: Transaction): boolean {
  const { body, isValid, bytes } = transaction
  const observers = body.withdrawals.every(
    ({ account, lovelace }) =>
      lovelace === 0n && account.kind === 'reward' && account.stake.kind === 'script',
  )
  const needsState =
    body.certificates.length + body.votingProcedures.length + body.proposalProcedures.length > 0
  const needsTreasury = body.treasuryDonation > 0n || body.currentTreasury !== undefined
  return !isValid || !observers || needsState || needsTreasury || bytes.length > 16_384
}

function contextOf({ network, slot, eraHistory, parameters, treasury }: Scenario): RuleContext {
  return {
    parameters,
    networkId: network === 'mainnet' ? 1 : 0,
    slot,
    forecastHorizon: horizonOf(eraHistory, Number(slot)),
    treasury,
  }
}

/** The forecast of an endless era reaches the epoch boundary after the stability window of the tip. */
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
const systemStart = 1_654_041_600_000

function slotsOf({ eras }: EraHistory): SlotConfig {
  const era = eras.at(-1)
  if (!era) throw new Error('an era history without eras')
  return {
    zeroTime: BigInt(systemStart + era.start.time * 1000),
    zeroSlot: BigInt(era.start.slot),
    slotLength: era.params.slotLengthMs,
  }
}

/** The predicates that these rules can report; others depend on state that they do not have. */
const ourPredicates: ReadonlySet<string> = new Set([
  'BabbageNonDisjointRefInputs',
  'BabbageOutputTooSmallUTxO',
  'BadInputsUTxO',
  'CollateralContainsNonADA',
  'CollectErrors',
  'ConflictingMetadataHash',
  'ConwayTreasuryValueMismatch',
  'ConwayTxRefScriptsSizeTooBig',
  'ExUnitsTooBigUTxO',
  'ExtraRedeemers',
  'ExtraneousScriptWitnessesUTXOW',
  'FeeTooSmallUTxO',
  'IncorrectTotalCollateralField',
  'InputSetEmptyUTxO',
  'InsufficientCollateral',
  'InvalidMetadata',
  'InvalidWitnessesUTXOW',
  'MalformedReferenceScripts',
  'MalformedScriptWitnesses',
  'MaxTxSizeUTxO',
  'MissingRedeemers',
  'MissingRequiredDatums',
  'MissingScriptWitnessesUTXOW',
  'MissingTxBodyMetadataHash',
  'MissingTxMetadata',
  'MissingVKeyWitnessesUTXOW',
  'NoCollateralInputs',
  'NotAllowedSupplementalDatums',
  'OutputBootAddrAttrsTooBig',
  'OutputTooBigUTxO',
  'OutsideForecast',
  'OutsideValidityIntervalUTxO',
  'PPViewHashesDontMatch',
  'ScriptIntegrityHashMismatch',
  'ScriptWitnessNotValidatingUTXOW',
  'ScriptsNotPaidUTxO',
  'TooManyCollateralInputs',
  'UnspendableUTxONoDatumHash',
  'ValidationTagMismatch',
  'ValueNotConservedUTxO',
  'WrongNetwork',
  'WrongNetworkInTxBody',
  'WrongNetworkWithdrawal',
])

/** Validates each transaction of every run by its own flag, and applies it to the unspent outputs. */
export async function runLedgerEvents(
  folder: string,
  evaluator: Pick<Evaluator, 'evaluate'>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const run of ledgerRuns(folder)) outcomes.push(...(await validateRun(run, evaluator)))
  return outcomes
}

async function validateRun(run: LedgerRun, evaluator: Pick<Evaluator, 'evaluate'>): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const utxos = new Map(
    run.unspent.map(([reference, output]) => [
      outputReferenceKey(decodeOutputReference(reference)),
      decodeTransactionOutput(output),
    ]),
  )
  // Parameters change at epoch boundaries. If they changed in a run, the boundary is not recorded: from the
  // first one on, an event must agree under one of both.
  const { parametersBefore: before, parametersAfter: after } = run
  let candidates: readonly ProtocolParameters[] = [before]
  let index = -1
  for (const event of run.events) {
    if (event.kind === 'epochs') {
      if (after !== before) candidates = [before, after]
      continue
    }
    index += 1
    const name = `${run.name}[${index}]`
    const { outcome, transaction } = await validateEvent(name, event, run, utxos, candidates, evaluator)
    outcomes.push(outcome)
    if (!event.accepted || transaction === undefined) continue
    const { spent, produced } = effects(transaction)
    for (const reference of spent) utxos.delete(outputReferenceKey(reference))
    for (const { reference, output } of produced) utxos.set(outputReferenceKey(reference), output)
  }
  return outcomes
}

async function validateEvent(
  name: string,
  { bytes, accepted, slot }: LedgerTransaction,
  { title }: LedgerRun,
  utxos: ReadonlyMap<string, TransactionOutput>,
  candidates: readonly ProtocolParameters[],
  evaluator: Pick<Evaluator, 'evaluate'>,
): Promise<{ outcome: Outcome; transaction?: Transaction }> {
  const expected = accepted ? 'Pass' : `Fail (${title.split('/').slice(-1)})`
  const base = { name, rules: 'unrestricted', expected } as const
  let transaction: Transaction
  try {
    transaction = decodeTransaction(bytes)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    const result = accepted ? 'deviation' : 'agreed'
    return { outcome: { ...base, kind: 'plain', found: `decoding failure (${error.message})`, result } }
  }
  const kind = isPlain(transaction) ? 'plain' : 'stake or governance'
  let found = ''
  for (const parameters of candidates) {
    const context: RuleContext = { parameters, networkId: 0, slot }
    const failures = await orNotRun(
      validate(transaction, utxos, context, { evaluator: padding(evaluator), slots: slotsOfRuns }),
    )
    found = named(failures)
    if ((failures.length === 0) === accepted) {
      return { transaction, outcome: { ...base, kind, found, result: 'agreed' } }
    }
  }
  const undecided = !accepted && kind !== 'plain'
  return { transaction, outcome: { ...base, kind, found, result: undecided ? 'undecided' : 'deviation' } }
}

/** The tests' Plutus V3 cost model is all zeros and too short; engines need a known length. */
function padding(evaluator: Pick<Evaluator, 'evaluate'>): Pick<Evaluator, 'evaluate'> {
  return {
    evaluate(transaction, utxos, parameters, slots) {
      const { PlutusV3: model } = parameters.costModels
      if (model === undefined) return evaluator.evaluate(transaction, utxos, parameters, slots)
      const padded = [...model, ...new Array<bigint>(Math.max(0, 297 - model.length)).fill(0n)]
      const costModels = { ...parameters.costModels, PlutusV3: padded }
      return evaluator.evaluate(transaction, utxos, { ...parameters, costModels }, slots)
    },
  }
}
