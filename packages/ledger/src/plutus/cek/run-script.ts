import type { PlutusLanguage } from '../../transaction/types.js'
import type { ExecutionUnits } from '../types.js'
import type { CostTable } from './costs/cost-table.js'
import { BudgetSpent, EvaluationFailure } from './failures.js'
import { evaluate } from './machine.js'
import { Meter } from './meter.js'
import type { Program } from './program/decode-program.js'
import { apply, constant, type Term } from './program/term.js'
import { TypeTag } from './values/constant-type.js'
import type { Data } from './values/data.js'
import { dataConstant, type Value, ValueKind } from './values/value.js'

export interface ScriptRun {
  readonly program: Program
  readonly args: readonly Data[]
  readonly language: PlutusLanguage
  readonly protocolMajor: number
  readonly costs: CostTable
  /** What the redeemer declares: the script is stopped there. */
  readonly limit: ExecutionUnits
}

export type ScriptOutcome =
  | { readonly kind: 'succeeded'; readonly used: ExecutionUnits }
  | {
      readonly kind: 'failed'
      readonly message: string
      readonly overBudget: boolean
      readonly used: ExecutionUnits
      readonly logs: readonly string[]
    }

/** Runs one script on its arguments as the ledger does: what it returns matters only since Plutus V3. */
export function runScript({
  program,
  args,
  language,
  protocolMajor,
  costs,
  limit,
}: ScriptRun): ScriptOutcome {
  const logs: string[] = []
  const meter = new Meter(limit)
  const failed = (message: string, overBudget: boolean): ScriptOutcome => ({
    kind: 'failed',
    message,
    overBudget,
    used: meter.used(),
    logs,
  })
  if (!program.closed) return failed('The script has a variable that stands for nothing', false)

  const applied = args.reduce<Term>((fn, data) => apply(fn, constant(dataConstant(data))), program.term)
  const third = language === 'PlutusV3'
  try {
    const value = evaluate(applied, {
      costs,
      meter,
      casesOnConstants: protocolMajor >= 11,
      semantics: {
        bytesAreChecked: third,
        bounded: protocolMajor >= 11,
        trace: (line) => logs.push(line),
      },
    })
    if (third && !isUnit(value)) return failed('The script returned something else than unit', false)
    return { kind: 'succeeded', used: meter.used() }
  } catch (error) {
    if (error instanceof EvaluationFailure) return failed(error.message, false)
    if (error instanceof BudgetSpent) return failed(error.message, true)
    throw error
  }
}

function isUnit(value: Value): boolean {
  return value.kind === ValueKind.constant && value.type.tag === TypeTag.unit
}
