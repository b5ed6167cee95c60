import { setTimeout as delay } from 'node:timers/promises'
import type { ProtocolParameters, Script, TransactionOutput } from '@ratatosk/ledger'
import type { ChainOutput, Tip, TransactionStatus, UtxoQuery } from './chain/types.js'
import { DevnetError } from './errors.js'
import type { Fault, FaultKind, Operation } from './faults/types.js'
import type { Devnet, Evaluation, Submission } from './types.js'

/** Ends the wait for an answer; the request may have taken its effect all the same. */
export interface AskOptions {
  readonly signal?: AbortSignal
}

/**
 * A devnet as a provider of layer 1 sees one: every question takes a while and can go wrong. It meets the faults injected
 * for the face `client`.
 */
export interface DevnetClient {
  tip(options?: AskOptions): Promise<Tip>
  parameters(options?: AskOptions): Promise<ProtocolParameters>
  utxos(query: UtxoQuery, options?: AskOptions): Promise<ChainOutput[]>
  status(hash: string, options?: AskOptions): Promise<TransactionStatus>
  datum(hash: string, options?: AskOptions): Promise<Uint8Array | undefined>
  script(hash: string, options?: AskOptions): Promise<Script | undefined>
  submit(cbor: Uint8Array, options?: AskOptions): Promise<Submission>
  evaluate(
    cbor: Uint8Array,
    additional?: ReadonlyMap<string, TransactionOutput>,
    options?: AskOptions,
  ): Promise<Evaluation>
}

const errors = {
  refusal: ['DEVNET_FAULT_REFUSED', 'The connection was refused'],
  'rate-limit': ['DEVNET_FAULT_RATE_LIMITED', 'Too many requests'],
  failure: ['DEVNET_FAULT_FAILED', 'The server failed'],
  garbage: ['DEVNET_FAULT_GARBAGE', 'The answer could not be read'],
} as const satisfies Partial<Record<FaultKind, readonly [code: string, message: string]>>

/**
 * Reaches a devnet within the process.
 *
 * Each method rejects with a {@link DevnetError} of a `DEVNET_FAULT_…` code where such a fault was injected: a `time-out` once
 * the signal aborts, or at once where there is none.
 *
 * @example
 * const client = createDevnetClient(devnet)
 * devnet.faults.inject({ kind: 'lost-answer', face: 'client', operation: 'submit' })
 * await client.submit(cbor).catch(() => client.status(hash)) // pending all the same
 */
export function createDevnetClient(devnet: Devnet): DevnetClient {
  async function ask<T>(
    operation: Operation,
    options: AskOptions | undefined,
    work: () => T,
  ): Promise<Awaited<T>> {
    const signal = options?.signal
    signal?.throwIfAborted()
    const fault = devnet.faults.meet('client', operation)
    if (fault !== undefined) await suffer(fault, signal, work)
    return await work()
  }

  return {
    tip: (options) => ask('tip', options, () => devnet.tip()),
    parameters: (options) => ask('parameters', options, () => devnet.parameters),
    utxos: (query, options) => ask('utxos', options, () => devnet.utxos(query)),
    status: (hash, options) => ask('transaction', options, () => devnet.status(hash)),
    datum: (hash, options) => ask('datum', options, () => devnet.datum(hash)),
    script: (hash, options) => ask('script', options, () => devnet.script(hash)),
    submit: (cbor, options) => ask('submit', options, () => devnet.submit(cbor)),
    evaluate: (cbor, additional, options) =>
      ask('evaluate', options, () => devnet.evaluate(cbor, additional)),
  }
}

/** Rejects as the fault demands; resolves where the answer only comes later. */
async function suffer(
  { kind, delayMs = 1000 }: Fault,
  signal: AbortSignal | undefined,
  work: () => unknown,
): Promise<void> {
  if (kind === 'delay') {
    await delay(delayMs, undefined, signal === undefined ? {} : { signal })
    return
  }
  if (kind === 'time-out') {
    await aborted(signal)
    throw new DevnetError('DEVNET_FAULT_TIMEOUT', 'No answer came')
  }
  if (kind === 'lost-answer') {
    await work()
    throw new DevnetError('DEVNET_FAULT_REFUSED', 'The connection broke off before the answer')
  }
  const [code, message] = errors[kind]
  throw new DevnetError(code, message)
}

async function aborted(signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined || signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
