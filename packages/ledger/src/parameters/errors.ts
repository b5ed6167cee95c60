/** Protocol parameters that cannot be used: `field` names the place, the message says what was expected there. */
export class ProtocolParametersError extends Error {
  override readonly name = 'ProtocolParametersError'
  readonly code = 'RATATOSK_LEDGER_PROTOCOL_PARAMETERS'

  constructor(
    readonly field: string,
    reason: string,
  ) {
    super(field === '' ? `protocol parameters: ${reason}` : `protocol parameters: ${field}: ${reason}`)
  }
}
