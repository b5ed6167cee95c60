import { toHex } from '@ratatosk/cbor'
import { type ProtocolParameters, parseProtocolParameters, type SlotConfig } from '@ratatosk/ledger'
import { Layer1Error } from '../../errors.js'
import type { HttpAnswer, HttpClient } from '../../http/http-client.js'
import {
  arrayOf,
  countOf,
  hexOf,
  integerOf,
  isObject,
  type JsonRecord,
  objectOf,
  reading,
  textOf,
} from '../../http/json.js'
import type { EvaluatedRedeemer, Tip } from '../../types.js'
import { cleanReason, purposeOf } from '../provider.js'

const providerName = 'Ogmios'

/** Ogmios 6 or 7 by JSON-RPC over HTTP: the node's own state. */
export interface Ogmios {
  parameters(signal: AbortSignal): Promise<ProtocolParameters>
  tip(signal: AbortSignal): Promise<Tip>
  slots(signal: AbortSignal): Promise<SlotConfig>
  networkMagic(signal: AbortSignal): Promise<number>
  submit(cbor: Uint8Array, signal: AbortSignal): Promise<string>
  evaluate(cbor: Uint8Array, signal: AbortSignal): Promise<readonly EvaluatedRedeemer[]>
}

export function createOgmios(http: HttpClient): Ogmios {
  async function query(method: string, signal: AbortSignal, params: JsonRecord = {}): Promise<unknown> {
    const answer = read(await http.read(request(method, params), signal))
    if ('result' in answer) return answer.result
    throw new Layer1Error(
      'LAYER1_PROVIDER_ERROR',
      `${providerName} answered error ${answer.code} to ${method}`,
    )
  }

  return {
    async parameters(signal) {
      const result = await query('queryLedgerState/protocolParameters', signal)
      return reading(providerName, 'protocol parameters', () => parseProtocolParameters(result))
    },
    async tip(signal) {
      const [height, tip] = await Promise.all([
        query('queryNetwork/blockHeight', signal),
        query('queryLedgerState/tip', signal),
      ])
      return reading(providerName, 'the tip', () => {
        // Before the first block the tip is genesis, which has neither slot nor hash.
        if (tip === 'origin') return { slot: 0n, hash: '00'.repeat(32), height: 0 }
        const { slot, id } = objectOf(tip)
        return {
          slot: integerOf(slot),
          hash: hexOf(id, 32),
          height: height === 'origin' ? 0 : countOf(height),
        }
      })
    },
    async slots(signal) {
      const [startTime, eras] = await Promise.all([
        query('queryNetwork/startTime', signal),
        query('queryLedgerState/eraSummaries', signal),
      ])
      return reading(providerName, 'eras', () => {
        const { start, parameters } = objectOf(arrayOf(eras).at(-1))
        const { time, slot } = objectOf(start)
        const zero = Date.parse(textOf(startTime))
        const slotLength = countOf(objectOf(objectOf(parameters).slotLength).milliseconds)
        if (slotLength <= 0) throw new TypeError('no slot length')
        return {
          zeroTime: BigInt(zero) + integerOf(objectOf(time).seconds) * 1000n,
          zeroSlot: integerOf(slot),
          slotLength,
        }
      })
    },
    async networkMagic(signal) {
      const genesis = await query('queryNetwork/genesisConfiguration', signal, { era: 'shelley' })
      return reading(providerName, 'genesis', () => countOf(objectOf(genesis).networkMagic))
    },
    async submit(cbor, signal) {
      const answer = read(await http.once(request('submitTransaction', transactionParams(cbor)), signal))
      if ('result' in answer) {
        return reading(providerName, 'a transaction id', () =>
          hexOf(objectOf(objectOf(answer.result).transaction).id, 32),
        )
      }
      if (isRefusal(answer.code)) throw rejected('The network rejects the transaction', answer)
      throw new Layer1Error(
        'LAYER1_PROVIDER_ERROR',
        `${providerName} answered error ${answer.code} to a transaction`,
      )
    },
    async evaluate(cbor, signal) {
      const answer = read(await http.read(request('evaluateTransaction', transactionParams(cbor)), signal))
      if ('code' in answer) {
        if (isRefusal(answer.code)) throw rejected('The transaction cannot be evaluated', answer)
        throw new Layer1Error(
          'LAYER1_PROVIDER_ERROR',
          `${providerName} answered error ${answer.code} to an evaluation`,
        )
      }
      return reading(providerName, 'an evaluation', () =>
        arrayOf(answer.result).map((entry) => {
          const { validator, budget } = objectOf(entry)
          const { purpose, index } = objectOf(validator)
          const { memory, cpu } = objectOf(budget)
          return {
            purpose: purposeOf(purpose),
            index: countOf(index),
            memory: integerOf(memory),
            steps: integerOf(cpu),
          }
        }),
      )
    },
  }
}

interface RpcFailure {
  readonly code: number
  readonly message: string
  readonly data: unknown
}

/** A JSON-RPC answer; Ogmios gives errors an HTTP status too. */
function read({ status, body }: HttpAnswer): { readonly result: unknown } | RpcFailure {
  if (!isObject(body)) throw new Layer1Error('LAYER1_PROVIDER_ERROR', `${providerName} answered ${status}`)
  if ('result' in body) return { result: body.result }
  return reading(providerName, 'a JSON-RPC answer', () => {
    const { code, message, data } = objectOf(body.error)
    return { code: countOf(code), message: textOf(message), data }
  })
}

/** Ledger rejections (3000 to 3999) and parameters that are not a transaction (−32602). */
function isRefusal(code: number): boolean {
  return (code >= 3000 && code < 4000) || code === -32_602
}

function rejected(message: string, { code, message: words, data }: RpcFailure): Layer1Error {
  const details = data === undefined ? '' : ` ${JSON.stringify(data)}`
  return new Layer1Error('LAYER1_REJECTED', message, { reason: cleanReason(`${code}: ${words}${details}`) })
}

function transactionParams(cbor: Uint8Array): JsonRecord {
  return { transaction: { cbor: toHex(cbor) } }
}

function request(method: string, params: JsonRecord) {
  const body = JSON.stringify({ jsonrpc: '2.0', method, params })
  return { method: 'POST', path: '', body, contentType: 'application/json' } as const
}
