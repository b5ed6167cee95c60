import { isDecodeError, toHex } from '@ratatosk/cbor'
import { decodeTransaction, type Transaction } from '@ratatosk/ledger'
import { isLayer1Error, Layer1Error } from '../errors.js'
import { backOff, isPassing, type Limits } from '../http/retry.js'
import type { Provider } from './provider.js'

/**
 * Submits a transaction until its outcome is known. After a lost answer, a rejection may mean that the first
 * attempt spent the inputs: it is looked up, and an unknown outcome is `mayHaveEffect`.
 */
export async function submitTransaction(
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
    return decodeTransaction(cbor)
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
