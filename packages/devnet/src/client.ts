import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { ProtocolParameters, Script, TransactionOutput } from '@ratatosk/ledger'
import type { ChainEvaluation, ChainOutput, ChainTip, DevnetSubmitResult, UtxoQuery } from './chain/types.js'
import { DevnetError } from './errors.js'
import type { FaultKind, FaultOperation, InjectedFault } from './faults.js'
import type { Devnet, DevnetStatus } from './types.js'

/** Options of a {@link DevnetClient} call. */
export interface RequestOptions {
  /** Aborts the wait for the response. The request may still take effect. */
  readonly signal?: AbortSignal
}

/**
 * A devnet as a layer-1 provider sees it: every request is asynchronous and can fail. Faults injected for the
 * target `client` apply. The methods return what the methods of the same name on `Devnet` return.
 */
export interface DevnetClient {
  tip(options?: RequestOptions): Promise<ChainTip>
  parameters(options?: RequestOptions): Promise<ProtocolParameters>
  utxos(query: UtxoQuery, options?: RequestOptions): Promise<ChainOutput[]>
  status(hash: string, options?: RequestOptions): Promise<DevnetStatus>
  datum(hash: string, options?: RequestOptions): Promise<Uint8Array | undefined>
  script(hash: string, options?: RequestOptions): Promise<Script | undefined>
  submit(cbor: Uint8Array, options?: RequestOptions): Promise<DevnetSubmitResult>
  evaluate(
    cbor: Uint8Array,
    additional?: ReadonlyMap<string, TransactionOutput>,
    options?: RequestOptions,
  ): Promise<ChainEvaluation>
}

const faultErrors = {
  refusal: ['DEVNET_FAULT_REFUSED', 'Injected fault: connection refused'],
  'rate-limit': ['DEVNET_FAULT_RATE_LIMITED', 'Injected fault: too many requests'],
  failure: ['DEVNET_FAULT_FAILED', 'Injected fault: the server failed'],
  garbage: ['DEVNET_FAULT_GARBAGE', 'Injected fault: unreadable response'],
} as const satisfies Partial<Record<FaultKind, readonly [code: string, message: string]>>

/**
 * Creates a client for a devnet in the same process.
 *
 * An injected fault rejects the request with a `DevnetError` whose code starts with `DEVNET_FAULT_`. A
 * `time-out` rejects when the signal aborts, or at once without a signal.
 *
 * @example
 * ```ts
 * const client = createDevnetClient(devnet)
 * devnet.faults.inject({ kind: 'lost-answer', target: 'client', operation: 'submit' })
 * // The request takes effect all the same: { status: 'pending' }
 * await client.submit(cbor).catch(() => client.status(hash))
 * ```
 */
export function createDevnetClient(devnet: Devnet): DevnetClient {
  async function request<T>(
    operation: FaultOperation,
    options: RequestOptions | undefined,
    run: () => T,
  ): Promise<Awaited<T>> {
    const signal = options?.signal
    signal?.throwIfAborted()
    const fault = devnet.faults.take('client', operation)
    if (fault !== undefined) await applyFault(fault, signal, run)
    return await run()
  }

  return {
    tip: (options) => request('tip', options, () => devnet.tip()),
    parameters: (options) => request('parameters', options, () => devnet.parameters),
    utxos: (query, options) => request('utxos', options, () => devnet.utxos(query)),
    status: (hash, options) => request('transaction', options, () => devnet.status(hash)),
    datum: (hash, options) => request('datum', options, () => devnet.datum(hash)),
    script: (hash, options) => request('script', options, () => devnet.script(hash)),
    submit: (cbor, options) => request('submit', options, () => devnet.submit(cbor)),
    evaluate: (cbor, additional, options) =>
      request('evaluate', options, () => devnet.evaluate(cbor, additional)),
  }
}

/** Throws what the fault demands, or returns after a delay. */
async function applyFault(
  { kind, delayMs = 1000 }: InjectedFault,
  signal: AbortSignal | undefined,
  run: () => unknown,
): Promise<void> {
  if (kind === 'delay') {
    await delay(delayMs, undefined, signal === undefined ? {} : { signal })
    return
  }
  if (kind === 'time-out') {
    if (signal !== undefined && !signal.aborted) await once(signal, 'abort')
    throw new DevnetError('DEVNET_FAULT_TIMEOUT', 'Injected fault: no response')
  }
  if (kind === 'lost-answer') {
    await run()
    throw new DevnetError('DEVNET_FAULT_REFUSED', 'Injected fault: the connection closed before the response')
  }
  const [code, message] = faultErrors[kind]
  throw new DevnetError(code, message)
}
