import { fromHex, toHex } from '@ratatosk/cbor'
import type { OutputReference, Utxo } from '@ratatosk/ledger'
import type { ScriptContent } from '@ratatosk/ledger/builder'
import type { HttpClient } from '../../http/http-client.js'
import { arrayOf, hexOf, integerOf, objectOf, optionalText, reading, textOf } from '../../http/json.js'
import type { Spending } from '../../types.js'
import { createLeaveOut, createMemo, type ReadLog } from '../provider.js'
import { readScript } from './matches.js'
import { answered, createUnspentOutputs, providerName, type Wanted } from './unspent-outputs.js'

export interface Kupo {
  /** Unspent outputs of one of Kupo's patterns. */
  unspent(pattern: string, signal: AbortSignal, wanted?: Wanted): Promise<Utxo[]>
  /**
   * The slot up to which its database has all blocks. The checkpoint in the headers of its answers may be
   * ahead: Kupo states it before it stores the blocks.
   */
  readUpTo(signal: AbortSignal): Promise<bigint>
  /** The block of a transaction, found by any of its outputs, spent or not. */
  blockOf(
    transactionId: string,
    signal: AbortSignal,
  ): Promise<{ readonly slot: bigint; readonly hash: string } | undefined>
  /** How an output was spent. Kupo does not know what the transaction refers to. */
  spending(reference: OutputReference, signal: AbortSignal): Promise<Spending | undefined>
}

export interface KupoOptions {
  readonly http: HttpClient
  /** Of a list of outputs. */
  readonly maxListBytes: number
  readonly log?: ReadLog | undefined
}

export function createKupo({ http, maxListBytes, log }: KupoOptions): Kupo {
  const rememberScript = createMemo<ScriptContent | 'unknown'>(200)
  const rememberDatum = createMemo<Uint8Array>(500)

  async function get(path: string, signal: AbortSignal): Promise<unknown> {
    const { status, body } = await http.read({ method: 'GET', path }, signal)
    if (status < 300) return body
    throw answered(status)
  }

  async function script(hash: string, signal: AbortSignal): Promise<ScriptContent | 'unknown'> {
    return rememberScript(hash, async () => {
      const body = await get(`/scripts/${hash}`, signal)
      return reading(providerName, 'a script', () => readScript(body, hash))
    })
  }

  async function datum(hash: string, signal: AbortSignal): Promise<Uint8Array> {
    return rememberDatum(hash, async () => {
      const body = await get(`/datums/${hash}`, signal)
      return reading(providerName, 'a datum', () => fromHex(textOf(objectOf(body).datum)))
    })
  }

  async function matches(path: string, signal: AbortSignal): Promise<readonly unknown[]> {
    const body = await get(path, signal)
    return reading(providerName, 'matches', () => arrayOf(body))
  }

  return {
    unspent: createUnspentOutputs({
      http,
      maxListBytes,
      script,
      datum,
      leaveOut: createLeaveOut(providerName, log),
    }),
    async readUpTo(signal) {
      const body = await get('/checkpoints', signal)
      return reading(providerName, 'checkpoints', () => {
        let newest = 0n
        for (const point of arrayOf(body)) {
          const slot = integerOf(objectOf(point).slot_no)
          if (slot > newest) newest = slot
        }
        return newest
      })
    },
    async blockOf(transactionId, signal) {
      const [match] = await matches(`/matches/*@${transactionId}`, signal)
      if (match === undefined) return undefined
      return reading(providerName, 'a match', () => {
        const { slot_no: slot, header_hash: hash } = objectOf(objectOf(match).created_at)
        return { slot: integerOf(slot), hash: hexOf(hash, 32) }
      })
    },
    async spending({ transactionId, index }, signal) {
      const [match] = await matches(`/matches/${index}@${toHex(transactionId)}`, signal)
      if (match === undefined) return undefined
      return reading(providerName, 'a match', () => {
        const { spent_at: spent } = objectOf(match)
        if (spent === null || spent === undefined) return undefined
        const { transaction_id: id, redeemer } = objectOf(spent)
        const data = optionalText(redeemer)
        return {
          transactionId: fromHex(hexOf(id, 32)),
          ...(data !== undefined && { redeemer: fromHex(data) }),
        }
      })
    },
  }
}
