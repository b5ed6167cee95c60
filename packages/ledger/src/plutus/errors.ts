/** The evaluator is closed: nothing can be said of the transaction. */
export class EvaluatorClosedError extends Error {
  readonly code = 'RATATOSK_EVALUATOR_CLOSED'

  constructor() {
    super('The evaluator is closed')
    this.name = 'EvaluatorClosedError'
  }
}

/** More evaluations are waiting than the evaluator's `queueLimit` allows. */
export class EvaluatorBusyError extends Error {
  readonly code = 'RATATOSK_EVALUATOR_BUSY'
  readonly waiting: number

  constructor(waiting: number) {
    super(`The evaluator is busy: ${waiting} evaluations are waiting`)
    this.name = 'EvaluatorBusyError'
    this.waiting = waiting
  }
}
