import { isDecodeError } from '@ratatosk/cbor'
import { type LedgerRun, type LedgerTransaction, ledgerRuns, slotsOfRuns } from '@ratatosk/fixtures/vectors'
import type { ProtocolParameters } from '../../parameters/types.js'
import type { RuleContext } from '../../rules/context.js'
import { effects } from '../../rules/effects.js'
import type { Evaluator } from '../../rules/script-evaluator.js'
import { validate } from '../../rules/validate.js'
import { decodeTransaction, decodeTransactionOutput } from '../../transaction/decode.js'
import { decodeOutputReference, outputReferenceKey } from '../../transaction/output-reference.js'
import type { Transaction, TransactionOutput } from '../../transaction/types.js'
import { named, type Outcome, orNotRun } from './outcome.js'
import { isPlain } from './scenarios.js'

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
