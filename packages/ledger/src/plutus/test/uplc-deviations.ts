import type { UplcCase, UplcOutcome } from './uplc-suite.js'

/** A reason why evaluation deviates from the suite, and which cases it explains. */
export interface Cause {
  readonly id: string
  readonly reason: string
  explains(subject: UplcCase, outcome: UplcOutcome): boolean
}

export const causes: readonly Cause[] = [
  {
    id: 'open-term',
    reason: 'The ledger fails a free variable at evaluation; the suite expects a decoding error',
    explains: ({ expected }, { message }) =>
      expected.kind === 'unreadable' && message === 'ScriptFailure: The script has a free variable',
  },
]
