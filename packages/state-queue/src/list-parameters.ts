import { decimalParameter, hexParameter, InvalidParameterError, type QueryValue } from '@ratatosk/http'

export const defaultLimit = 100
export const maxLimit = 500
export const maxOffset = 10_000_000

/** Reads the parameters of one plugin. Every read throws an InvalidParameterError. */
export interface ParameterReader {
  /** The 400 that names a parameter. */
  invalid(name: string, value: QueryValue, rule: string): InvalidParameterError
  limit(value: QueryValue): number
  offset(value: QueryValue): number
  headerHash(name: string, value: QueryValue): Uint8Array
  /** One of some texts, as the parameter `state`. */
  state<State extends string>(states: readonly State[], value: QueryValue): State
}

/** @param prefix with which the codes of its errors begin */
export function parameterReader(prefix: string): ParameterReader {
  const invalid: ParameterReader['invalid'] = (name, value, rule) =>
    new InvalidParameterError(prefix, name, value, rule)

  function within(name: string, value: QueryValue, low: number, high: number, byDefault: number): number {
    if (value === undefined) return byDefault
    const number = decimalParameter(value)
    if (number === undefined || number < low || number > high)
      throw invalid(name, value, `Send a whole number from ${low} to ${high}`)
    return number
  }

  return {
    invalid,
    limit: (value) => within('limit', value, 1, maxLimit, defaultLimit),
    offset: (value) => within('offset', value, 0, maxOffset, 0),
    headerHash(name, value) {
      const hash = hexParameter(value, 28)
      if (hash === undefined) throw invalid(name, value, 'Send a header hash of 56 hex digits')
      return hash
    },
    state(states, value) {
      const state = states.find((each) => each === value)
      if (state === undefined) throw invalid('state', value, `Send one of ${states.join(', ')}`)
      return state
    },
  }
}
