export { bearerToken, UnauthorizedError } from './bearer-token.js'
export { clientErrorHandler } from './client-error-handler.js'
export { answerError, errorHandler } from './error-handler.js'
export { HttpError, type HttpErrorOptions, isExposed } from './errors.js'
export { httpErrorOptions, httpErrors } from './http-errors.js'
export {
  asLayer1Failure,
  type Layer1Cause,
  type Layer1FailureBody,
  Layer1FailureError,
  layer1Causes,
  layer1ErrorHandler,
  layer1FailureBody,
} from './layer1-failure.js'
export { notFoundHandler } from './not-found.js'
export { OperationError, operationError } from './operation-error.js'
export { operationResponses, unauthorizedBody } from './operation-responses.js'
export type { Operation, OperationFailure, OperationResult } from './operation-result.js'
export { decimalParameter, hexParameter, printed, type Query, type QueryValue, readBy } from './query.js'
export { type ErrorBody, errorBody, internalErrorBody, type NotFoundBody, notFoundBody } from './schemas.js'
export { CrossSiteError, noStore, refuseCrossSite, sideEffectingGet } from './side-effects.js'
