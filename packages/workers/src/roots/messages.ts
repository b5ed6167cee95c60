import type { RootsFault } from './errors.js'
import type { Busy } from './exit-guard.js'
import type { PackedBytes } from './packed-bytes.js'
import type { BlockRoots, RootsOptions } from './types.js'

/** Unspent outputs on their way to the thread. */
export interface PackedOutputs {
  readonly transactionIds: PackedBytes
  readonly indexes: Uint16Array<ArrayBuffer>
  readonly outputs: PackedBytes
}

/** What the thread finds as its `workerData`. */
export interface ThreadData {
  readonly options: RootsOptions
  readonly busy: Busy
}

/** What the thread can be asked, one thing at a time, with what it answers. */
export interface Questions {
  root: { readonly question: undefined; readonly answer: Uint8Array }
  apply: { readonly question: PackedBytes; readonly answer: BlockRoots }
  revert: { readonly question: Uint8Array; readonly answer: boolean }
  beginRebuild: { readonly question: undefined; readonly answer: undefined }
  /** Answered when the thread has room for the next piece. */
  addToRebuild: { readonly question: PackedOutputs; readonly answer: undefined }
  endRebuild: { readonly question: undefined; readonly answer: Uint8Array }
  abandonRebuild: { readonly question: undefined; readonly answer: undefined }
  close: { readonly question: undefined; readonly answer: undefined }
}

export type Kind = keyof Questions

/** A question for the thread. */
export type Request = { [K in Kind]: { readonly kind: K; readonly question: Questions[K]['question'] } }[Kind]

/** What the thread says; the first, unasked, when it has opened its store. */
export type Response = { readonly answer: Questions[Kind]['answer'] } | { readonly fault: RootsFault }
