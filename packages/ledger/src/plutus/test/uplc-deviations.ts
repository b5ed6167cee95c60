import type { UplcCase, UplcOutcome } from './uplc-suite.js'

/** Why evaluation deviates from the suite: what a program must contain, and what then goes wrong. */
export interface Cause {
  readonly id: string
  readonly reason: string
  explains(subject: UplcCase, outcome: UplcOutcome): boolean
}

export const causes: readonly Cause[] = [
  {
    id: 'open-term',
    reason:
      'The ledger reads a term with a free variable, and fails it when it is to be run; the suite calls it unreadable',
    explains: ({ expected }, { message }) =>
      expected.kind === 'unreadable' &&
      message === 'ScriptFailure: The script has a variable that stands for nothing',
  },
]
