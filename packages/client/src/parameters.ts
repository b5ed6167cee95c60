import type { Endpoints, operations, StreamEventsParameters } from './api.js'
import { checkNames } from './options.js'

type Operations = typeof operations

/** The operations with a query, a path with parameters, or a body in JSON. */
export type AskedId = {
  [Id in keyof Operations]: Operations[Id] extends { readonly takesInput: true }
    ? Operations[Id] extends { readonly body: 'text/plain' }
      ? never
      : Id
    : never
}[keyof Operations]

type ParametersOf<Id extends AskedId> = Id extends keyof Endpoints
  ? NonNullable<Parameters<Endpoints[Id]>[0]>
  : StreamEventsParameters

/** 1 for a parameter that is required. */
type Needs<P> = { readonly [Name in keyof P]-?: Record<never, never> extends Pick<P, Name> ? 0 : 1 }

/** The compiler compares them with the types of the document. */
const needs: { readonly [Id in AskedId]: Needs<ParametersOf<Id>> } = {
  getTransactionStatus: { tx_hash: 1 },
  getTransactionStatuses: { tx_hash: 1 },
  getSubmissionStatus: { id: 1 },
  streamEvents: { type: 0, tx_hash: 0, address: 0, block: 0, after: 0 },
  getRates: { minutes: 0 },
  listBlocks: { before: 0, limit: 0 },
  getBlockDetails: { id: 1, offset: 0, limit: 0 },
  getTransactionDetails: { hash: 1 },
  getOutput: { ref: 1 },
  search: { q: 1 },
  getTransaction: { tx_hash: 1 },
  listTransactions: { address: 1, limit: 0, offset: 0 },
  listUtxos: { address: 1 },
  listBlockTransactions: { header_hash: 1 },
  proveUtxo: { outref: 1, at: 0, header_hash: 0 },
  proveTransaction: { tx_hash: 1, header_hash: 0 },
  listDeadLetters: { limit: 0, before: 0 },
  showDeadLetter: { id: 1 },
  dropDeadLetter: { id: 1 },
  replayDeadLetter: { id: 1 },
  listQuestions: { header_hash: 0, limit: 0, offset: 0 },
  listVerdicts: { state: 0, limit: 0, before: 0 },
  summon: { headerHash: 1, kind: 1, chunk: 1 },
  listDeposits: { id: 0, outref: 0, address: 0, state: 0, limit: 0, offset: 0 },
  listWithdrawals: { outref: 0, address: 0, header_hash: 0, state: 0, limit: 0, offset: 0 },
  draftBridgeTransaction: {
    kind: 1,
    utxos: 1,
    changeAddress: 1,
    to: 0,
    lovelace: 0,
    assets: 0,
    datum: 0,
    outrefs: 0,
  },
  submitBridgeTransaction: { transaction: 1 },
  payWithdrawals: { headerHash: 0, limit: 0 },
  remove: { header_hash: 1 },
  claim: { address: 1, idempotencyKey: 1, ipHash: 1 },
  getArchivedBlock: { id: 1 },
  getArchivedHeader: { id: 1 },
  getArchivedBody: { id: 1 },
  listArchivedBlocks: { from: 1, to: 1 },
}

/**
 * Refuses parameters that a route does not have, which it would ignore, and missing ones.
 * @throws TypeError
 */
export function checkParameters(id: AskedId, given: unknown = {}): void {
  const known: Readonly<Record<string, 0 | 1>> = needs[id]
  checkNames(id, 'parameter', given, known)
  const values = given as Readonly<Record<string, unknown>>
  const missing = Object.keys(known).find((name) => known[name] === 1 && values[name] === undefined)
  if (missing !== undefined) throw new TypeError(`${id}: the parameter ${missing} is missing`)
}
