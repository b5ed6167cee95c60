import { errorBody, internalErrorBody, limitResponses, pathResponses } from '@ratatosk/http'
import { Type } from '@sinclair/typebox'

export const hash = (description: string) => Type.String({ description, pattern: '^[0-9a-f]{64}$' })
export const headerHash = Type.String({ description: 'Header hash', pattern: '^[0-9a-f]{56}$' })
export const time = (description: string) => Type.String({ format: 'date-time', description })
export const count = (description: string) => Type.Integer({ minimum: 0, description })
export const lovelace = (description: string) =>
  Type.String({ pattern: '^[0-9]+$', description: `${description}, in lovelace` })
export const hex = (description: string) => Type.String({ description, pattern: '^([0-9a-f]{2})*$' })
export const outref = Type.String({
  description: 'Output reference: transaction hash and index',
  pattern: '^[0-9a-f]{64}#[0-9]+$',
})

/** The answers of every route beside 200. */
export const refusals = { ...limitResponses(), 500: internalErrorBody() }

/** The same for routes with parameters. */
export const parameterRefusals = {
  ...refusals,
  400: errorBody('A parameter is invalid; the message says what to send instead'),
}

/** The same for routes that name one thing in their path. */
export const pathRefusals = {
  ...parameterRefusals,
  ...pathResponses(),
  404: errorBody('This node does not have it; the message says where it may be'),
}
