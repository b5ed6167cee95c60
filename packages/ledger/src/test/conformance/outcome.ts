import { ScriptsNotRunError } from '../../errors.js'
import type { Failures, PredicateFailure } from '../../rules/predicates.js'

/** The reason of each known deviation. Any other deviation is a defect. */
export const knownDeviations: ReadonlyMap<string, string> = new Map([
  [
    '00102-fail-script-credential-delegation-after-deregistration',
    'it also lacks the script of the credential, which these rules report; its own subject needs stake state',
  ],
  [
    'conway/pass-enact-withdrawals-exceeding-maxbound-word64-submitted-in-a-single-proposal/0[9]',
    'it proposes withdrawals of more than 2^63 − 1 lovelace, more than a script context can represent',
  ],
])

export interface Outcome {
  readonly name: string
  /** The rules that validated: those of the ledger, or those and the layer-2 profile. */
  readonly rules: 'unrestricted' | 'layer 2'
  readonly kind: 'plain' | 'stake or governance'
  readonly expected: string
  readonly found: string
  /** `undecided`: the case depends on stake or governance state, and these rules find nothing wrong. */
  readonly result: 'agreed' | 'undecided' | 'deviation'
}

/** The failures, or a failure that names no rule if the scripts could not be validated. */
export async function orNotRun(failures: Promise<Failures>): Promise<Failures> {
  try {
    return await failures
  } catch (error) {
    if (!(error instanceof ScriptsNotRunError)) throw error
    const failure: PredicateFailure = { predicate: `not run (${error.message})`, message: '', details: {} }
    return [failure]
  }
}

export function unexplained(outcomes: readonly Outcome[]): readonly Outcome[] {
  return outcomes.filter(({ result, name }) => result === 'deviation' && !knownDeviations.has(name))
}

export function named(failures: Failures): string {
  return failures.length === 0 ? 'Pass' : failures.map(({ predicate }) => predicate).join(', ')
}

/** Counts by rules and kind of transaction, then the name of every deviation. */
export function table(title: string, outcomes: readonly Outcome[]): string {
  const lines = [
    title,
    '',
    '| rules | transactions | run | agreed | undecided | deviations |',
    '| - | - | - | - | - | - |',
  ]
  for (const rules of ['unrestricted', 'layer 2'] as const) {
    for (const kind of ['plain', 'stake or governance'] as const) {
      const group = outcomes.filter((outcome) => outcome.rules === rules && outcome.kind === kind)
      if (group.length === 0) continue
      const count = (result: Outcome['result']): number =>
        group.filter((outcome) => outcome.result === result).length
      lines.push(
        `| ${rules} | ${kind} | ${group.length} | ${count('agreed')} | ${count('undecided')} | ` +
          `${count('deviation')} |`,
      )
    }
  }
  lines.push('')
  const undecided = new Map<string, number>()
  for (const { result, expected } of outcomes) {
    if (result === 'undecided') undecided.set(expected, (undecided.get(expected) ?? 0) + 1)
  }
  if (undecided.size > 0) {
    lines.push('Undecided, because they need stake or governance state:')
    for (const [expected, count] of [...undecided].sort()) lines.push(`- ${expected}: ${count}`)
    lines.push('')
  }
  const deviations = outcomes.filter(({ result }) => result === 'deviation')
  lines.push(deviations.length === 0 ? 'No deviations.' : 'Deviations:')
  for (const { name, rules, expected, found } of deviations) {
    lines.push(`- ${name} (${rules}): expected ${expected}, found ${found}`)
    lines.push(`  - ${knownDeviations.get(name) ?? 'NOT EXPLAINED'}`)
  }
  return lines.join('\n')
}
