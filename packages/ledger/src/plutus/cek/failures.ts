/** A script fails: `error`, a builtin outside its domain, or a value of the wrong type. */
export class EvaluationFailure extends Error {
  override readonly name = 'EvaluationFailure'
}

/** A script exceeds its budget. Internal to this folder. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent'
}

// Capturing a stack trace takes longer than most scripts.
export function fail(message: string): never {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    throw new EvaluationFailure(message)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
