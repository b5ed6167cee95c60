export {
  type Decoded,
  dateText,
  decimalText,
  encoded,
  enumText,
  hexText,
  integer,
  timeText,
} from './answers.js'
export { clientSignal } from './client-signal.js'
export { answerError, errorHandler, explainErrors, notFoundHandler } from './error-handler.js'
export {
  BusyError,
  CrossSiteError,
  type ExposedError,
  HostNotAllowedError,
  HttpError,
  type HttpErrorOptions,
  hasCode,
  isHttpError,
  type Layer1Cause,
  Layer1FailureError,
  layer1Causes,
  NavigationError,
  OperationError,
  OverloadedError,
  overloadWith,
  RateLimitError,
  UnauthorizedError,
} from './errors.js'
export {
  bearerToken,
  isServedUnderLoad,
  noStore,
  type OperatorAccess,
  type OperatorRoute,
  operatorGuards,
  operatorRoute,
  refuseForeignPages,
  sameOriginOnly,
  servedUnderLoad,
  sideEffectingGet,
} from './guards.js'
export { addVary, entityTag, hasEntityTag, retryAfterMsOf, retryAfterSeconds } from './headers.js'
export { clientErrorHandler, httpErrorOptions, httpErrors, type RequestError } from './http-errors.js'
export {
  asLayer1Failure,
  type Layer1FailureBody,
  layer1ErrorHandler,
  layer1FailureBody,
} from './layer1-failure.js'
export { lazySchemas } from './lazy-schemas.js'
export { type AddressNetwork, addressNetwork, networkIds } from './network.js'
export { operationError, operationResponses } from './operation-error.js'
export { operationResult } from './operation-result.js'
export {
  checkedLater,
  checkOptions,
  functionsByName,
  hasMethods,
  oneOf,
  operatorAccessRules,
  optionalInteger,
  optionalTimer,
  tokenText,
} from './options.js'
export { noteOperationIds, openScope, type PluginScope } from './plugin-scope.js'
export { atMost, isWrongResult, portOutcome, portResult } from './port-results.js'
export {
  decimalParameter,
  hexParameter,
  InvalidParameterError,
  onlyParameters,
  type Query,
  type QueryValue,
  readBy,
} from './query.js'
export { refusalLog } from './refusal-log.js'
export { type RouteSecurity, securedBy } from './route-security.js'
export {
  arrivalResponses,
  bodyResponses,
  busyBody,
  connectionResponses,
  type ErrorBody,
  errorBody,
  forbiddenBody,
  internalErrorBody,
  limitResponses,
  type NotFoundBody,
  notFoundBody,
  orBusy,
  pathResponses,
  retryAfterHeader,
  unauthorizedBody,
} from './schemas.js'
export { limitedServer, type ServerLimits, serverLimits } from './server-limits.js'
export { shareAnswers } from './share-answers.js'
export {
  type BodyScope,
  InvalidCborError,
  readTransactionBodies,
  type TransactionBodyOptions,
  TransactionTooLargeError,
  transactionBody,
  transactionBodyResponses,
  UnsupportedTypeError,
} from './transaction-body.js'
export { TurnQueue } from './turns.js'
