/** Too many proofs are being made. Ask again later. */
export class ProverBusyError extends Error {
  readonly code = 'PROVER_BUSY'
  /** When to try again, in milliseconds. */
  readonly retryAfterMs = 2000

  constructor() {
    super('Too many proofs are being made')
    this.name = 'ProverBusyError'
  }
}
