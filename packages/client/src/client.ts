import {
  type BridgeDraft,
  type ClaimParameters,
  type DraftBridgeTransactionParameters,
  type Endpoints,
  type FaucetClaim,
  type Operation,
  operations,
  type ProofOfAbsence,
  type ProveTransactionParameters,
  type ProveUtxoParameters,
  type Status,
  type StreamEventsParameters,
  type SubmissionStatus,
  type TransactionProof,
  type TransactionStatus,
  type UtxoProof,
} from './api.js'
import {
  ClientError,
  NotFoundError,
  RejectedError,
  RemovedError,
  StatusError,
  TimeoutError,
  WrongTokenError,
} from './errors.js'
import { follow, type NodeEvent, readUpToNow } from './events.js'
import {
  type AwaitedFinality,
  type AwaitTxOptions,
  awaitOptions,
  type ClientOptions,
  checkNames,
  checkOptions,
  finalities,
  type NodeRequestOptions,
} from './options.js'
import {
  Deadline,
  isTransient,
  type NodeRequest,
  type RequestParameters,
  sleep,
  Transport,
} from './transport.js'

/** A proof that the key is absent. It has no `value`. */
export type AbsenceProof = ProofOfAbsence &
  Required<Pick<ProofOfAbsence, 'headerHash' | 'root' | 'key' | 'proof'>>

/** A claim; without a key, the client makes one. */
export type Claim = Omit<ClaimParameters, 'idempotencyKey'> & Partial<Pick<ClaimParameters, 'idempotencyKey'>>

/** A transaction to draft, with amounts in decimal or as bigints. */
export type BridgeTransaction = Omit<DraftBridgeTransactionParameters, 'lovelace' | 'assets'> & {
  readonly lovelace?: string | bigint
  /** By unit: policy id and asset name in hex, joined. */
  readonly assets?: Readonly<Record<string, string | bigint>>
}

/** A node, as its OpenAPI document describes it, and what takes more than one request. */
export interface Client
  extends Omit<Endpoints, 'claim' | 'draftBridgeTransaction' | 'proveUtxo' | 'proveTransaction'> {
  /**
   * `POST /bridge/draft`: drafts a deposit, or a payout of withdrawals, for any wallet to sign. The wallet
   * signs what it gets, so check it first. A deposit is valid for a short time only.
   */
  draftBridgeTransaction(draft: BridgeTransaction, options?: NodeRequestOptions): Promise<BridgeDraft>

  /**
   * `GET /events`: events of transactions and blocks, without end. Reconnects and resumes on its own. Leave
   * the loop, or abort the signal, to close it.
   */
  streamEvents(
    parameters?: StreamEventsParameters,
    options?: NodeRequestOptions,
  ): AsyncGenerator<NodeEvent, void>
  /**
   * `GET /events`: the events after `after`, by default all, up to the newest one that there is at the call.
   */
  readEvents(
    parameters?: StreamEventsParameters,
    options?: NodeRequestOptions,
  ): AsyncGenerator<NodeEvent, void>
  /**
   * `POST /faucet/claims`: claims testnet ada. Every attempt has the same idempotency key, so that the node
   * pays once; if it fails for good, the error has the key in `idempotencyKey`.
   */
  claim(claim: Claim, options?: NodeRequestOptions): Promise<FaucetClaim>
  /**
   * `GET /proofs/utxo`: proves that an output is unspent, or that it is not. Verify it with
   * `verifyUtxoProof`.
   */
  proveUtxo(parameters: ProveUtxoParameters, options?: NodeRequestOptions): Promise<UtxoProof | AbsenceProof>
  /**
   * `GET /proofs/transaction`: proves that a block applied a transaction, or did not. Verify it with
   * `verifyTransactionProof`.
   */
  proveTransaction(
    parameters: ProveTransactionParameters,
    options?: NodeRequestOptions,
  ): Promise<TransactionProof | AbsenceProof>
  /**
   * Waits until a transaction is accepted, or committed, mature or merged. Follows `/events`, and polls where
   * the node serves none; a lost connection is no failure once the node has answered.
   *
   * @throws {RejectedError} with every failed predicate
   * @throws {RemovedError} if its block was removed and the node does not bring it back
   * @throws {TimeoutError} after `timeoutMs`
   */
  awaitTx(txHash: string, options?: AwaitTxOptions): Promise<TransactionStatus>
}

type OperationId = keyof typeof operations

/** Not reads, but sending them twice does what sending them once does. */
const idempotent: readonly string[] = [
  'submit',
  'evaluate',
  'claim',
  'draftBridgeTransaction',
  'submitBridgeTransaction',
] satisfies OperationId[]

/**
 * Creates a client of a node. It opens no connection.
 *
 * Requests that are safe to repeat are sent again after a lost connection, a time-out, or a 5xx with
 * `Retry-After`: reads, `submit`, `evaluate`, `claim`, drafts and transactions of the bridge. Operations such
 * as `commit` never are, although they are GET requests.
 *
 * @param url where the node is, such as `http://localhost:3000`; a path in it is kept
 * @throws TypeError if the URL is not absolute, or an option does not exist or has a wrong value.
 *   Methods reject with it for parameters that do not exist or are missing
 * @example
 * ```ts
 * const client = createClient('http://localhost:3000')
 * const { utxos } = await client.listUtxos({ address })
 * ```
 */
export function createClient(url: string | URL, options: ClientOptions = {}): Client {
  const transport = new Transport(url, options)
  const call = async (id: OperationId, input: unknown, options?: NodeRequestOptions): Promise<unknown> => {
    const operation: Operation = operations[id]
    return transport.json(
      {
        operation,
        isRepeatable: operation.isRead === true || idempotent.includes(id),
        ...inputOf(id, input),
      },
      options,
    )
  }
  const endpoints = Object.fromEntries(
    (Object.keys(operations) as OperationId[]).map((id) => [
      id,
      'takesInput' in operations[id]
        ? (input: unknown, requestOptions?: NodeRequestOptions) => call(id, input, requestOptions)
        : (requestOptions?: NodeRequestOptions) => call(id, undefined, requestOptions),
    ]),
  ) as unknown as Endpoints

  return {
    ...endpoints,

    async *streamEvents(parameters = {}, requestOptions = {}) {
      checkParameters('streamEvents', parameters)
      for await (const event of follow(transport, parameters, requestOptions)) {
        if (event.type !== 'opened') yield event
      }
    },

    async *readEvents(parameters = {}, requestOptions = {}) {
      checkParameters('streamEvents', parameters)
      yield* readUpToNow(transport, parameters, requestOptions)
    },

    async claim(claim, requestOptions) {
      const body = { ...claim, idempotencyKey: claim.idempotencyKey ?? randomKey() }
      try {
        return await endpoints.claim(body, requestOptions)
      } catch (error) {
        if (error instanceof ClientError) error.idempotencyKey = body.idempotencyKey
        if (error instanceof WrongTokenError && options.faucetToken === undefined)
          error.message += ': the option faucetToken of the client is missing'
        throw error
      }
    },

    // A body has bigints in decimal.
    draftBridgeTransaction: endpoints.draftBridgeTransaction as Client['draftBridgeTransaction'],

    proveUtxo: (parameters, requestOptions) => orAbsence(endpoints.proveUtxo(parameters, requestOptions)),

    proveTransaction: (parameters, requestOptions) =>
      orAbsence(endpoints.proveTransaction(parameters, requestOptions)),

    awaitTx: (txHash, options = {}) => awaitTransaction(transport, endpoints, txHash, options),
  }
}

type Operations = typeof operations

/** The operations with a query, a path with parameters, or a body in JSON. */
type AskedId = {
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
function checkParameters(id: AskedId, given: unknown = {}): void {
  const known: Readonly<Record<string, 0 | 1>> = needs[id]
  checkNames(id, 'parameter', given, known)
  const values = given as Readonly<Record<string, unknown>>
  const missing = Object.keys(known).find((name) => known[name] === 1 && values[name] === undefined)
  if (missing !== undefined) throw new TypeError(`${id}: the parameter ${missing} is missing`)
}

/** @throws TypeError */
function inputOf(id: OperationId, input: unknown): Pick<NodeRequest, 'parameters' | 'body'> {
  if (id === 'submit' || id === 'evaluate') {
    if (typeof input === 'string') return { body: input }
    throw new TypeError(`${id}: the transaction must be a string, the hex of its CBOR`)
  }
  if (!('takesInput' in operations[id])) return {}
  checkParameters(id as AskedId, input)
  return 'body' in operations[id]
    ? { body: JSON.stringify(input, (_name, value) => (typeof value === 'bigint' ? String(value) : value)) }
    : { parameters: input as RequestParameters | undefined }
}

/** A 404 with a proof is an answer. */
async function orAbsence<T>(answer: Promise<T>): Promise<T | AbsenceProof> {
  try {
    return await answer
  } catch (error) {
    const body = error instanceof NotFoundError ? (error.body as ProofOfAbsence) : undefined
    if (body?.proof === undefined) throw error
    return body as AbsenceProof
  }
}

/** 128 random bits in hex. `crypto.randomUUID` is missing in pages without TLS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}

/** The statuses that a node reports. */
interface StatusReader {
  getTransactionStatus(
    parameters: { tx_hash: string },
    options?: NodeRequestOptions,
  ): Promise<TransactionStatus>
  getSubmissionStatus(parameters: { id: string }, options?: NodeRequestOptions): Promise<SubmissionStatus>
}

const levelOf: Partial<Record<Status, AwaitedFinality>> = {
  mempool: 'accepted',
  built: 'accepted',
  submitted: 'accepted',
  committed: 'committed',
  mature: 'mature',
  merged: 'merged',
}

/** Waits until a transaction has reached a finality. Events trigger a poll of the status, which decides. */
async function awaitTransaction(
  transport: Transport,
  reader: StatusReader,
  txHash: string,
  given: AwaitTxOptions,
): Promise<TransactionStatus> {
  checkOptions('awaitTx', given, awaitOptions)
  const { finality = 'accepted', submissionId, signal, timeoutMs, pollMs = 2_000 } = given
  const goal = finalities.indexOf(finality)
  const deadline = new Deadline(signal, timeoutMs)
  const options = { signal: deadline.signal }
  let hasAnswered = false
  try {
    for await (const _ of wakeUps(transport, txHash, pollMs, deadline.signal)) {
      try {
        const status = await read(reader, txHash, submissionId, options)
        hasAnswered = true
        if (hasReached(status, goal)) return status
      } catch (error) {
        // A node that has answered before may restart. The stream, or the next poll, shows when it is back.
        if (!hasAnswered || deadline.signal.aborted || !isTransient(error)) throw error
      }
    }
    throw new Error('The wake-ups have ended')
  } catch (error) {
    if (deadline.isOver) throw new TimeoutError(`awaitTx ${txHash}`, timeoutMs ?? 0, `not ${finality}`)
    throw error
  } finally {
    deadline.clear()
  }
}

async function read(
  reader: StatusReader,
  txHash: string,
  submissionId: string | undefined,
  options: NodeRequestOptions,
): Promise<TransactionStatus> {
  if (submissionId !== undefined) {
    const submission = await reader.getSubmissionStatus({ id: submissionId }, options)
    // The node forgets submissions; it does not forget what it accepted.
    if (submission.status !== 'unknown') return { ...submission, txHash }
  }
  return reader.getTransactionStatus({ tx_hash: txHash }, options)
}

/** @throws {RejectedError} @throws {RemovedError} */
function hasReached({ txHash, status, rejection, removal }: TransactionStatus, goal: number): boolean {
  if (status === 'rejected' && rejection !== undefined) throw new RejectedError(rejection)
  if (status === 'removed' && removal?.resubmittedAs === undefined) throw new RemovedError(txHash, removal)
  const level = levelOf[status]
  return level !== undefined && finalities.indexOf(level) >= goal
}

/**
 * Yields whenever the status may have changed: when the stream of the transaction's events opens, so that no
 * event after the first poll is missed, and at each event. Without events, yields every `pollMs`.
 */
async function* wakeUps(
  transport: Transport,
  txHash: string,
  pollMs: number,
  signal: AbortSignal,
): AsyncGenerator<void, never> {
  try {
    for await (const _ of follow(transport, { tx_hash: txHash }, { signal })) yield
  } catch (error) {
    // Not served, or too many clients. Anything else would fail the status too, and is reported by it.
    if (signal.aborted || !(error instanceof StatusError) || error.status === 400) throw error
  }
  for (;;) {
    yield
    await sleep(pollMs, signal)
  }
}
