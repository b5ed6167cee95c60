import { isDecodeError } from '@ratatosk/cbor'
import { type EraHistory, ledgerScenarios, type Scenario } from '@ratatosk/fixtures/vectors'
import type { SlotConfig } from '../../parameters/types.js'
import type { RuleContext } from '../../rules/context.js'
import { validateProfile } from '../../rules/profile.js'
import type { Evaluator } from '../../rules/script-evaluator.js'
import { validate } from '../../rules/validate.js'
import { decodeTransaction, decodeTransactionOutput } from '../../transaction/decode.js'
import { decodeOutputReference, outputReferenceKey } from '../../transaction/output-reference.js'
import type { Transaction } from '../../transaction/types.js'
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
export function isPlain({ body }: Transaction): boolean {
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
