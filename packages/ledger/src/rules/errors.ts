import type { EvaluationFailure } from '../plutus/types.js'

/**
 * The scripts of a transaction could not be judged at all: the evaluator gave up, or there is none. It says nothing of
 * the transaction, so it is no verdict.
 */
export class ScriptsNotJudgedError extends Error {
  override readonly name = 'ScriptsNotJudgedError'
  readonly code = 'RATATOSK_LEDGER_SCRIPTS_NOT_JUDGED'

  constructor(readonly failure?: EvaluationFailure) {
    super(failure ? `scripts not judged: ${failure.message}` : 'scripts not judged: no evaluator was given')
  }
}
