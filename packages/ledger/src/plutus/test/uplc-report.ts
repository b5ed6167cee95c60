import type { EvaluatorOptions } from '../../rules/script-evaluator.js'
import { createEvaluator } from '../evaluator.js'
import { scenarioParameters } from './parameters.js'
import { createUplcRunner, readUplcCases, type UplcCase, type UplcOutcome } from './uplc-suite.js'

interface Deviation {
  readonly outcome: UplcOutcome
  /** Undefined if no known cause explains it. */
  readonly cause: Cause | undefined
}

export interface UplcReport {
  readonly text: string
  readonly outcomes: readonly UplcOutcome[]
  readonly deviations: readonly Deviation[]
  readonly unexplained: readonly UplcOutcome[]
}

/** Runs the whole suite through one evaluator, with the cost models of ledger version 11, its version. */
export async function reportUplcSuite(
  suite: string,
  scenarios: string,
  options?: EvaluatorOptions,
): Promise<UplcReport> {
  const cases = readUplcCases(suite)
  const parameters = scenarioParameters(scenarios, 'preprod-287', 11)
  const evaluator = createEvaluator(options)
  try {
    const run = await createUplcRunner(evaluator, parameters)
    const outcomes: UplcOutcome[] = []
    const deviations: Deviation[] = []
    for (const subject of cases) {
      if (subject.flat === undefined) continue
      const outcome = await run({ ...subject, flat: subject.flat })
      outcomes.push(outcome)
      if (outcome.right && outcome.exact !== false) continue
      deviations.push({ outcome, cause: causes.find((cause) => cause.explains(subject, outcome)) })
    }
    const unexplained = deviations.filter(({ cause }) => cause === undefined).map(({ outcome }) => outcome)
    return { text: describe(cases.length, outcomes, deviations), outcomes, deviations, unexplained }
  } finally {
    await evaluator.close()
  }
}

function describe(cases: number, outcomes: readonly UplcOutcome[], deviations: readonly Deviation[]): string {
  const budgeted = outcomes.filter(({ exact }) => exact !== undefined)
  const lines = [
    `uplc-evaluation: ${cases} cases`,
    `  only about the textual parser  ${cases - outcomes.length}`,
    `  run                            ${outcomes.length}`,
    `  right result                   ${outcomes.filter(({ right }) => right).length}`,
  ]
  const ways = {
    value: 'by value',
    success: 'by success',
    failure: 'by failure',
    unreadable: 'by being unreadable',
  }
  for (const [compared, way] of Object.entries(ways)) {
    const those = outcomes.filter((outcome) => outcome.compared === compared)
    lines.push(`    ${way.padEnd(28)} ${those.filter(({ right }) => right).length} of ${those.length}`)
  }
  lines.push(
    `  exact budget                   ${budgeted.filter(({ exact }) => exact).length} of ${budgeted.length}`,
  )
  lines.push(`  deviations                     ${deviations.length}`)
  for (const cause of [...causes, undefined]) {
    const those = deviations.filter((deviation) => deviation.cause === cause)
    if (those.length === 0) continue
    lines.push('', `${cause === undefined ? 'UNEXPLAINED' : cause.reason} (${those.length})`)
    for (const { outcome } of those) {
      lines.push(`  ${outcome.name}: ${outcome.right ? 'budget' : 'result'}: ${outcome.message}`)
    }
  }
  return lines.join('\n')
}

/** A reason why evaluation deviates from the suite, and which cases it explains. */
interface Cause {
  readonly id: string
  readonly reason: string
  explains(subject: UplcCase, outcome: UplcOutcome): boolean
}

const causes: readonly Cause[] = [
  {
    id: 'open-term',
    reason: 'The ledger fails a free variable at evaluation; the suite expects a decoding error',
    explains: ({ expected }, { message }) =>
      expected.kind === 'unreadable' && message === 'ScriptFailure: The script has a free variable',
  },
]
