import { isDecodeError, toHex } from '@ratatosk/cbor'
import { decodeBech32Address, type SlotConfig, timeToSlot } from '@ratatosk/ledger'
import { isLayer1Error, Layer1Error } from '../errors.js'
import { bounded } from '../http/bounded.js'
import { endedBy, type Limits } from '../http/retry.js'
import type { CallOptions, Layer1 } from '../types.js'
import { awaitTransaction } from './await-transaction.js'
import type { Provider } from './provider.js'
import { submitTransaction } from './submit-transaction.js'

const defaultAwaitTimeoutMs = 180_000

/** Turns a provider into a {@link Layer1}: time limits, network check, submission and waiting. */
export function createLayer1(provider: Provider, limits: Limits): Layer1 {
  const { name, networkId } = provider
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
    if (networkChecked) return
    await provider.checkNetwork(signal)
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
