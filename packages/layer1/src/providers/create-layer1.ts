import { setTimeout as pause } from 'node:timers/promises'
import { isDecodeError, toHex } from '@ratatosk/cbor'
import {
  decodeBech32Address,
  decodeLayer1Transaction,
  type SlotConfig,
  type Transaction,
  timeToSlot,
} from '@ratatosk/ledger'
import { isLayer1Error, Layer1Error } from '../errors.js'
import { backOff, bounded, endedBy, isPassing, isTimeout, type Limits } from '../http/limits.js'
import type { CallOptions, Confirmation, Layer1, TransactionStatus } from '../types.js'
import type { Provider } from './provider.js'

const defaultAwaitTimeoutMs = 180_000

/** Turns a provider into a {@link Layer1}: time limits, network check, submission and waiting. */
export function createLayer1(provider: Provider, limits: Limits): Layer1 {
  const { name, networkId, network } = provider
  let networkChecked = false
  let slots: SlotConfig | undefined

  async function call<T>(
    options: CallOptions | undefined,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    options?.signal?.throwIfAborted()
    return bounded(limits.callTimeoutMs, options?.signal, async (signal) => {
      try {
        await rightNetwork(signal)
        return await run(signal)
      } catch (error) {
        if (signal.aborted && !isLayer1Error(error)) throw endedBy(signal, name)
        throw error
      }
    })
  }

  async function rightNetwork(signal: AbortSignal): Promise<void> {
    if (networkChecked || network === undefined) return
    const served = await network.servedMagic(signal)
    if (served !== network.magic) {
      const message = `${network.server} serves network ${served} instead of ${network.magic}`
      throw new Layer1Error('LAYER1_WRONG_NETWORK', message)
    }
    networkChecked = true
  }

  async function readSlots(signal: AbortSignal): Promise<SlotConfig> {
    slots ??= await provider.slots(signal)
    return slots
  }

  return {
    name,
    networkId,
    async utxosAt(address, options) {
      assertAddress(address, networkId)
      const policy = options?.policy === undefined ? undefined : policyId(options.policy)
      return call(options, (signal) => provider.utxosAt(address, policy, signal))
    },
    async utxosAsOf(address, options) {
      assertAddress(address, networkId)
      const policy = options?.policy === undefined ? undefined : policyId(options.policy)
      return call(options, (signal) => provider.utxosAsOf(address, policy, signal))
    },
    async utxosByUnit(unit, options) {
      if (!/^(?:[0-9a-f]{2}){28,60}$/i.test(unit)) throw new TypeError('a unit is 56 to 120 hex digits')
      return call(options, (signal) => provider.utxosByUnit(unit.toLowerCase(), signal))
    },
    async utxosByPolicy(policy, options) {
      const id = policyId(policy)
      return call(options, (signal) => provider.utxosByPolicy(id, signal))
    },
    utxosByReferences: (references, options) =>
      call(options, (signal) => provider.utxosByReferences(references, signal)),
    spending: (reference, options) => call(options, (signal) => provider.spending(reference, signal)),
    parameters: (options) => call(options, (signal) => provider.parameters(signal)),
    tip: (options) => call(options, (signal) => provider.tip(signal)),
    slots: (options) => call(options, readSlots),
    currentSlot: (options) =>
      call(options, async (signal) => {
        if (provider.currentSlot) return provider.currentSlot(signal)
        return timeToSlot(await readSlots(signal), BigInt(Date.now()))
      }),
    submit: (cbor, options) => call(options, (signal) => submitTransaction(provider, limits, cbor, signal)),
    async status(transactionId, options) {
      const id = inHex(transactionId)
      return call(options, (signal) => provider.status(id, signal))
    },
    async await(transactionId, options = {}) {
      const id = inHex(transactionId)
      const { confirmations = 0, timeoutMs = defaultAwaitTimeoutMs, signal: given } = options
      given?.throwIfAborted()
      const watched = {
        provider: name,
        pollMs: provider.pollMs,
        status: (signal: AbortSignal) => call({ signal }, (inner) => provider.status(id, inner)),
      }
      return bounded(timeoutMs, given, (signal) => awaitTransaction(watched, confirmations, signal))
    },
    evaluate: (cbor, options) => call(options, (signal) => provider.evaluate(cbor, signal)),
  }
}

function assertAddress(text: string, networkId: number): void {
  try {
    if (decodeBech32Address(text).networkId === networkId) return
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new TypeError('not a bech32 address')
  }
  throw new Layer1Error('LAYER1_WRONG_NETWORK', 'The address belongs to another network')
}

function policyId(text: string): string {
  if (!/^[0-9a-f]{56}$/i.test(text)) throw new TypeError('a policy id is 56 hex digits')
  return text.toLowerCase()
}

function inHex(transactionId: Uint8Array): string {
  if (transactionId.length !== 32) throw new TypeError('a transaction id is 32 bytes')
  return toHex(transactionId)
}

interface Watched {
  readonly provider: string
  readonly pollMs: number
  status(signal: AbortSignal): Promise<TransactionStatus>
}

/** Polls for a transaction; failed polls are repeated. `signal`: a time-out is `timeout`, else its reason. */
async function awaitTransaction(
  { provider, pollMs, status }: Watched,
  confirmations: number,
  signal: AbortSignal,
): Promise<Confirmation> {
  let seen = false
  let missed = 0
  let failure: Layer1Error | undefined
  for (;;) {
    try {
      const found = await status(signal)
      failure = undefined
      if (found.kind === 'confirmed') {
        if (found.confirmations >= confirmations) {
          return { slot: found.slot, blockHash: found.blockHash, confirmations: found.confirmations }
        }
        seen = true
        missed = 0
      } else if (seen && ++missed > 1) {
        // Twice, because one server behind a provider may lag by a block.
        throw new Layer1Error('LAYER1_ROLLED_BACK', 'The block of the transaction is no longer on the chain')
      }
    } catch (error) {
      if (signal.aborted) throw ended(signal, provider, failure)
      if (!isPassing(error)) throw error
      failure = error
    }
    try {
      await pause(pollMs, undefined, { signal })
    } catch {
      throw ended(signal, provider, failure)
    }
  }
}

function ended(signal: AbortSignal, provider: string, failure: Layer1Error | undefined): unknown {
  if (!isTimeout(signal.reason)) return signal.reason
  const last = failure === undefined ? '' : `; the last poll failed: ${failure.code}`
  return new Layer1Error('LAYER1_TIMEOUT', `${provider} did not confirm the transaction in time${last}`)
}

/**
 * Submits a transaction until its outcome is known. After a lost answer, a rejection may mean that the first
 * attempt spent the inputs: it is looked up, and an unknown outcome is `mayHaveEffect`.
 */
async function submitTransaction(
  provider: Provider,
  limits: Limits,
  cbor: Uint8Array,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const transaction = readTransaction(cbor)
  assertNetwork(transaction, provider.networkId)
  const id = toHex(transaction.id)
  let lost: Layer1Error | undefined

  for (let tried = 1; ; tried++) {
    try {
      const answered = await provider.send(cbor, signal)
      if (answered.toLowerCase() === id) return transaction.id
      throw new Layer1Error(
        'LAYER1_INVALID_ANSWER',
        `${provider.name} answered with another transaction id`,
        {
          mayHaveEffect: true,
        },
      )
    } catch (error) {
      if (!isLayer1Error(error)) throw error
      if (error.code === 'LAYER1_REJECTED') {
        if (await isKnown(provider, id, signal)) return transaction.id
        throw lost ?? doubtful(error)
      }
      if (error.mayHaveEffect) lost = error
      if (!isPassing(error) || tried >= limits.attempts || signal.aborted) {
        if (lost && (await isKnown(provider, id, signal))) return transaction.id
        throw lost ?? error
      }
      await backOff(limits, tried, lost ?? error, signal)
    }
  }
}

/** How cardano-node, Ogmios and the devnet report unknown inputs. */
const inputsGone = /BadInputsUTxO|unknownOutputReferences|unknown UTxO references|All inputs are spent/i

/** Inputs may be unknown because this transaction waits in a mempool that the provider does not show. */
function doubtful(error: Layer1Error): Layer1Error {
  const { code, message, reason } = error
  if (reason === undefined || !inputsGone.test(reason)) return error
  return new Layer1Error(code, message, { reason, mayHaveEffect: true })
}

/** Whether the provider knows the transaction, in its mempool or in a block. */
async function isKnown(provider: Provider, id: string, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false
  try {
    return (await provider.status(id, signal)).kind !== 'unknown'
  } catch (error) {
    if (isLayer1Error(error)) return false
    throw error
  }
}

function readTransaction(cbor: Uint8Array): Transaction {
  try {
    return decodeLayer1Transaction(cbor)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new Layer1Error('LAYER1_REJECTED', 'The bytes are not a transaction', { reason: error.message })
  }
}

function assertNetwork({ body }: Transaction, networkId: number): void {
  const foreign = body.outputs.some(({ address }) => address.networkId !== networkId)
  if (!foreign && (body.networkId ?? networkId) === networkId) return
  throw new Layer1Error('LAYER1_WRONG_NETWORK', 'The transaction belongs to another network; it was not sent')
}
