import { type TLiteral, type TObject, type TString, Type } from '@sinclair/typebox'

/** Body of an error: what went wrong, in words. */
export interface ErrorBody {
  error: string
}

/** Schema of an {@link ErrorBody}; the description says when it is the answer. */
export function errorBody(description: string): TObject<{ error: TString }> {
  return Type.Object({ error: Type.String() }, { title: 'Error', description })
}

/** Schema of the 500 that tells nothing: the cause is in the server's log, under the id of the request. */
export function internalErrorBody(): TObject<{ error: TString }> {
  return errorBody('Something went wrong; the cause is in the log of the server')
}

/** Body of whatever this server does not serve: an unknown path, another method, a part that is switched off. */
export interface NotFoundBody {
  error: 'Not Found'
  code: 'DISABLED'
}

/** Schema of a {@link NotFoundBody}. */
export const notFoundBody: TObject<{ error: TLiteral<'Not Found'>; code: TLiteral<'DISABLED'> }> =
  Type.Object(
    { error: Type.Literal('Not Found'), code: Type.Literal('DISABLED') },
    { title: 'NotFound', description: 'Not served here' },
  )
