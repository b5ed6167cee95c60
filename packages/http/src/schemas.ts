import { type Static, Type } from '@sinclair/typebox'

/** Body of every error: what went wrong, in words. */
export const ErrorBody = Type.Object(
  { error: Type.String({ description: 'What went wrong, in words' }) },
  { title: 'Error' },
)
export type ErrorBody = Static<typeof ErrorBody>

/** Body of a 500: the cause is in the server's log, under the id of the request. */
export const InternalErrorBody = Type.Object(
  { error: Type.Literal('Something went wrong') },
  { title: 'InternalError' },
)
export type InternalErrorBody = Static<typeof InternalErrorBody>

/** Body of whatever this server does not serve: an unknown path, another method, a part that is switched off. */
export const NotFoundBody = Type.Object(
  { error: Type.Literal('Not Found'), code: Type.Literal('DISABLED') },
  { title: 'NotFound' },
)
export type NotFoundBody = Static<typeof NotFoundBody>
