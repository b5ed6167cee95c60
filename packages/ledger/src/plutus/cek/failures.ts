/** A script fails: `error`, a builtin outside its domain, a value of a wrong type. Never leaves this folder. */
export class EvaluationFailure extends Error {
  override readonly name = 'EvaluationFailure'
}

/** A script needs more than it may use. Never leaves this folder. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent'
}

// Traces of JavaScript's stack cost more than most scripts.
export function fail(message: string): never {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    throw new EvaluationFailure(message)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
