import type { TSchema } from '@sinclair/typebox'
import { layer1FailureBody } from './layer1-failure.js'
import { errorBody, internalErrorBody } from './schemas.js'

/** Schema of the body of a 401 of `bearerToken`. */
export const unauthorizedBody = () => errorBody('The server asks for a bearer token, and this is not it')

/**
 * The `response` of a route that runs an operation: what it is answered with, whichever way it ends.
 *
 * @param done body of a 200
 * @param conflict body of a 409
 */
export function operationResponses<Done extends TSchema, Conflict extends TSchema>(
  done: Done,
  conflict: Conflict,
) {
  return {
    200: done,
    401: unauthorizedBody(),
    403: errorBody('A page of another site asks'),
    409: conflict,
    500: internalErrorBody(),
    503: layer1FailureBody(),
    504: errorBody('No result in time: look at the state queue, then ask again'),
  }
}
