import { setTimeout as pause } from 'node:timers/promises'
import { fromHex, toHex } from '@ratatosk/cbor'
import {
  type OutputReference,
  outputReferenceKey,
  type ProtocolParameters,
  type RedeemerPurpose,
  type SlotConfig,
  type Transaction,
  type TransactionOutput,
  type Utxo,
} from '@ratatosk/ledger'
import { Layer1Error } from '../../errors.js'
import { readLimits, retrying } from '../../http/limits.js'
import type { EvaluatedRedeemer, Layer1, Layer1Limits, Spending } from '../../types.js'
import { createLayer1 } from '../create-layer1.js'
import { cleanReason, type Provider, spendingBy, spendingPartsOf } from '../provider.js'

/**
 * Layer 1 in the same process. Faults injected into the devnet for `client`, or for every target, have the
 * same effect here as over a network.
 *
 * @example
 * const devnet = await createDevnet()
 * const layer1 = createDevnetLayer1(devnet)
 */
export function createDevnetLayer1(devnet: DevnetPort, options: Layer1Limits = {}): Layer1 {
  const limits = readLimits(options)

  async function once<T>(
    operation: DevnetOperation,
    signal: AbortSignal,
    run: () => T | Promise<T>,
  ): Promise<T> {
    const fault = devnet.faults?.take('client', operation)
    if (fault === undefined) return run()
    if (fault.kind === 'delay') await delayed(fault, limits.requestTimeoutMs, signal)
    else if (fault.kind !== 'lost-answer') throw await failureOf(fault, limits.requestTimeoutMs, signal)
    const result = await run()
    if (fault.kind === 'delay') return result
    throw new Layer1Error('LAYER1_UNREACHABLE', 'The devnet broke the connection off', {
      mayHaveEffect: true,
    })
  }

  const read = <T>(operation: DevnetOperation, signal: AbortSignal, run: () => T | Promise<T>): Promise<T> =>
    retrying(limits, signal, () => once(operation, signal, run))

  type Query = Parameters<DevnetPort['utxos']>[0]
  const find = (query: Query): readonly Utxo[] =>
    devnet.utxos(query).map(({ transactionHash, index, output }) => ({
      reference: { transactionId: fromHex(transactionHash), index },
      output,
    }))
  const utxos = (query: Query, signal: AbortSignal): Promise<readonly Utxo[]> =>
    read('utxos', signal, () => find(query))

  const provider: Provider = {
    name: 'devnet',
    networkId: devnet.networkId,
    pollMs: options.pollMs ?? 100,
    utxosAt: async (address, policy, signal) => holding(policy, await utxos({ address }, signal)),
    utxosAsOf: (address, policy, signal) =>
      read('utxos', signal, () => ({
        utxos: holding(policy, find({ address })),
        slot: devnet.tip().slot,
      })),
    utxosByUnit: (unit, signal) => utxos({ unit }, signal),
    utxosByPolicy: (policy, signal) => utxos({ policy }, signal),
    utxosByReferences: (references, signal) =>
      utxos({ references: references.map(outputReferenceKey) }, signal),
    spending: (reference, signal) => read('transaction', signal, () => spending(devnet, reference)),
    parameters: (signal) => read('parameters', signal, () => devnet.parameters),
    tip: (signal) =>
      read('tip', signal, () => {
        const { slot, hash, height } = devnet.tip()
        return { slot, hash, height }
      }),
    slots: async () => devnet.slots,
    currentSlot: async () => devnet.currentSlot(),
    send: (cbor, signal) =>
      once('submit', signal, async () => {
        const submission = await devnet.submit(cbor)
        if (submission.kind === 'accepted') return submission.hash
        const reason =
          submission.kind === 'malformed'
            ? submission.message
            : submission.failures.map(({ predicate, message }) => `${predicate}: ${message}`).join('; ')
        throw new Layer1Error('LAYER1_REJECTED', 'The network rejects the transaction', {
          reason: cleanReason(reason),
        })
      }),
    status: (transactionId, signal) =>
      read('transaction', signal, () => {
        const found = devnet.status(transactionId)
        if (found.status !== 'confirmed') return { kind: found.status }
        const { slot, hash } = found.place.block
        return { kind: 'confirmed', slot, blockHash: hash, confirmations: found.confirmations }
      }),
    evaluate: (cbor, signal) => read('evaluate', signal, () => evaluate(devnet, cbor)),
  }
  return createLayer1(provider, limits)
}

const holding = (policy: string | undefined, utxos: readonly Utxo[]): readonly Utxo[] =>
  policy === undefined ? utxos : utxos.filter(({ output }) => output.value.assets.has(policy))

function spending(devnet: DevnetPort, reference: OutputReference): Spending | undefined {
  const spent = devnet.output(outputReferenceKey(reference))?.spent
  const found = spent && devnet.transaction(spent.transactionHash)
  if (found === undefined) return undefined
  const { transaction } = found.transaction
  return spendingBy(
    spendingPartsOf(transaction.bytes),
    reference,
    ({ transactionId, index }) =>
      devnet.outputsOf(toHex(transactionId)).find((each) => each.index === index)?.output,
  )
}

async function evaluate(devnet: DevnetPort, cbor: Uint8Array): Promise<readonly EvaluatedRedeemer[]> {
  const refused = (reason: string): Layer1Error =>
    new Layer1Error('LAYER1_REJECTED', 'The transaction cannot be evaluated', { reason: cleanReason(reason) })
  const evaluation = await devnet.evaluate(cbor)
  if (evaluation.kind === 'malformed') throw refused(evaluation.message)
  if (evaluation.kind === 'overlapping-outputs')
    throw refused(`${evaluation.kind}: ${evaluation.references.join(', ')}`)
  if (evaluation.kind === 'faulty-redeemers') {
    const faults = evaluation.faults.map(
      ({ purpose, index, fault }) => `${fault.kind} for ${purpose} ${index}`,
    )
    throw refused(faults.join(', '))
  }
  const { ok, failure, redeemers } = evaluation.result
  if (!ok) throw refused(failure === undefined ? 'a script fails' : `${failure.kind}: ${failure.message}`)
  return redeemers.flatMap(({ purpose, index, outcome }) =>
    'used' in outcome ? [{ purpose, index, memory: outcome.used.memory, steps: outcome.used.steps }] : [],
  )
}

async function delayed(fault: DevnetFault, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const delayMs = fault.delayMs ?? 1000
  await pause(Math.min(delayMs, timeoutMs), undefined, { signal })
  if (delayMs >= timeoutMs) throw timedOut()
}

async function failureOf(fault: DevnetFault, timeoutMs: number, signal: AbortSignal): Promise<Layer1Error> {
  switch (fault.kind) {
    case 'time-out':
      await pause(timeoutMs, undefined, { signal })
      return timedOut()
    case 'rate-limit':
      return new Layer1Error('LAYER1_RATE_LIMITED', 'The devnet refuses more requests for now')
    case 'failure':
      return new Layer1Error('LAYER1_PROVIDER_ERROR', 'The devnet failed')
    case 'garbage':
      return new Layer1Error('LAYER1_INVALID_ANSWER', 'The devnet gave an answer that makes no sense')
    default:
      return new Layer1Error('LAYER1_UNREACHABLE', 'The devnet cannot be reached')
  }
}

function timedOut(): Layer1Error {
  return new Layer1Error('LAYER1_TIMEOUT', 'The devnet did not answer in time', { mayHaveEffect: true })
}

export interface ChainPoint {
  readonly slot: bigint
  readonly hash: string
}

/**
 * A layer 1 in the same process, such as `createDevnet` of `@ratatosk/devnet`.
 */
export interface DevnetPort {
  readonly networkId: 0
  readonly parameters: ProtocolParameters
  readonly slots: SlotConfig
  currentSlot(): bigint
  tip(): ChainPoint & { readonly height: number }
  utxos(query: {
    readonly address?: string
    readonly unit?: string
    readonly policy?: string
    readonly references?: readonly string[]
  }): readonly {
    readonly transactionHash: string
    readonly index: number
    readonly output: TransactionOutput
  }[]
  output(reference: string): { readonly spent?: { readonly transactionHash: string } } | undefined
  /** Also of outputs that are spent. */
  outputsOf(
    transactionHash: string,
  ): readonly { readonly index: number; readonly output: TransactionOutput }[]
  transaction(hash: string): { readonly transaction: { readonly transaction: Transaction } } | undefined
  status(transactionId: string):
    | { readonly status: 'unknown' | 'pending' }
    | {
        readonly status: 'confirmed'
        readonly place: { readonly block: ChainPoint }
        readonly confirmations: number
      }
  submit(cbor: Uint8Array): Promise<DevnetSubmission>
  evaluate(cbor: Uint8Array): Promise<PortEvaluation>
  /** Injected faults; this provider's target is `client`. */
  readonly faults?: {
    take(target: 'client', operation: DevnetOperation): DevnetFault | undefined
  }
}

export type DevnetSubmission =
  | { readonly kind: 'accepted'; readonly hash: string }
  | { readonly kind: 'malformed'; readonly message: string }
  | {
      readonly kind: 'rejected'
      readonly failures: readonly { readonly predicate: string; readonly message: string }[]
    }

export type PortEvaluation =
  | { readonly kind: 'malformed'; readonly message: string }
  | { readonly kind: 'overlapping-outputs'; readonly references: readonly string[] }
  | {
      readonly kind: 'faulty-redeemers'
      readonly faults: readonly {
        readonly purpose: RedeemerPurpose
        readonly index: number
        readonly fault: { readonly kind: string }
      }[]
    }
  | {
      readonly kind: 'evaluated'
      readonly result: {
        readonly ok: boolean
        readonly failure?: { readonly kind: string; readonly message: string }
        readonly redeemers: readonly {
          readonly purpose: RedeemerPurpose
          readonly index: number
          readonly outcome:
            | {
                readonly kind: 'Succeeded'
                readonly used: { readonly memory: bigint; readonly steps: bigint }
              }
            | { readonly kind: Exclude<string, 'Succeeded'> }
        }[]
      }
    }

export type DevnetOperation = 'utxos' | 'transaction' | 'submit' | 'evaluate' | 'parameters' | 'tip'

export interface DevnetFault {
  readonly kind: 'time-out' | 'refusal' | 'rate-limit' | 'failure' | 'garbage' | 'delay' | 'lost-answer'
  readonly delayMs?: number
}
