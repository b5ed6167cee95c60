import { fromHex, toHex } from '@ratatosk/cbor'
import type { OutputDatum, OutputReference, Script, Utxo } from '@ratatosk/ledger'
import { type ScriptContent, toOutput } from '@ratatosk/ledger/builder'
import pLimit from 'p-limit'
import { Layer1Error } from '../../errors.js'
import type { HttpClient } from '../../http/http-client.js'
import {
  arrayOf,
  countOf,
  hexOf,
  integerOf,
  type JsonRecord,
  objectOf,
  optionalText,
  reading,
  textOf,
} from '../../http/json.js'
import type { Spending } from '../../types.js'
import { addressBytes, scriptOf, valueOfUnits } from '../output-content.js'
import { createMemo, maxConcurrent } from '../provider.js'

const providerName = 'Kupo'
const noBytes = new Uint8Array()

const languages: Readonly<Record<string, Script['language']>> = {
  native: 'native',
  'plutus:v1': 'PlutusV1',
  'plutus:v2': 'PlutusV2',
  'plutus:v3': 'PlutusV3',
}

export interface Kupo {
  /** Unspent outputs of one of Kupo's patterns. @param policy only those that hold an asset of it */
  unspent(pattern: string, signal: AbortSignal, policy?: string): Promise<Utxo[]>
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

export function createKupo(http: HttpClient): Kupo {
  const rememberScript = createMemo<ScriptContent>(200)
  const rememberDatum = createMemo<Uint8Array>(500)

  async function get(path: string, signal: AbortSignal): Promise<unknown> {
    const { status, body } = await http.read({ method: 'GET', path }, signal)
    if (status < 300) return body
    throw new Layer1Error('LAYER1_PROVIDER_ERROR', `${providerName} answered ${status}`)
  }

  async function script(hash: string, signal: AbortSignal): Promise<ScriptContent> {
    return rememberScript(hash, async () => {
      const body = await get(`/scripts/${hash}`, signal)
      return reading(providerName, 'a script', () => {
        const { language: name, script: bytes } = objectOf(body)
        const language = languages[textOf(name)]
        if (language === undefined) throw new TypeError('a script of unknown language')
        return scriptOf(language, fromHex(textOf(bytes)), hash)
      })
    })
  }

  async function datum(hash: string, signal: AbortSignal): Promise<Uint8Array> {
    return rememberDatum(hash, async () => {
      const body = await get(`/datums/${hash}`, signal)
      return reading(providerName, 'a datum', () => fromHex(textOf(objectOf(body).datum)))
    })
  }

  async function readMatch(match: unknown, signal: AbortSignal): Promise<Utxo> {
    const { scriptHash, datumHash, inline } = reading(providerName, 'a match', () =>
      hashesOf(objectOf(match)),
    )
    const referenceScript = scriptHash === undefined ? undefined : await script(scriptHash, signal)
    const data = datumHash !== undefined && inline ? await datum(datumHash, signal) : noBytes
    return reading(providerName, 'a match', () => {
      const json = objectOf(match)
      const output = toOutput({
        address: addressBytes(textOf(json.address)),
        value: readValue(json.value),
        datum: datumOf(datumHash, inline, data),
        ...(referenceScript && { referenceScript }),
      })
      const transactionId = fromHex(hexOf(json.transaction_id, 32))
      return { reference: { transactionId, index: countOf(json.output_index) }, output }
    })
  }

  async function matches(path: string, signal: AbortSignal): Promise<readonly unknown[]> {
    const body = await get(path, signal)
    return reading(providerName, 'matches', () => arrayOf(body))
  }

  return {
    async unspent(pattern, signal, policy) {
      const all = await matches(`/matches/${pattern}?unspent`, signal)
      // Others are not decoded, so their scripts and datums are not fetched.
      const found = policy === undefined ? all : all.filter((match) => holds(match, policy))
      return pLimit(maxConcurrent).map(found, (match) => readMatch(match, signal))
    },
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

const holds = (match: unknown, policy: string): boolean =>
  reading(providerName, 'a match', () => {
    const { assets } = objectOf(objectOf(match).value)
    return Object.keys(objectOf(assets ?? {})).some((unit) => unit.startsWith(policy))
  })

function hashesOf(json: JsonRecord) {
  const script = optionalText(json.script_hash)
  const datum = optionalText(json.datum_hash)
  return {
    scriptHash: script === undefined ? undefined : hexOf(script, 28),
    datumHash: datum === undefined ? undefined : hexOf(datum, 32),
    inline: json.datum_type === 'inline',
  }
}

function datumOf(hash: string | undefined, inline: boolean, data: Uint8Array): OutputDatum {
  if (hash === undefined) return { kind: 'none' }
  return inline ? { kind: 'inline', data } : { kind: 'hash', hash: fromHex(hash) }
}

/** `{ coins, assets: { "policy.name": quantity } }`, without the dot when the name is empty. */
function readValue(json: unknown) {
  const { coins, assets } = objectOf(json)
  const quantities = Object.entries(objectOf(assets ?? {})).map(
    ([unit, quantity]) => [unit.replace('.', ''), integerOf(quantity)] as const,
  )
  return valueOfUnits(integerOf(coins), quantities)
}
