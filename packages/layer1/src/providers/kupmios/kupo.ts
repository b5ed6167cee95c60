import { setImmediate } from 'node:timers/promises'
import { fromHex, toHex } from '@ratatosk/cbor'
import type { OutputDatum, OutputReference, Script, TransactionOutput, Utxo } from '@ratatosk/ledger'
import { type ScriptContent, toLayer1Output } from '@ratatosk/ledger/builder'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { Layer1Error } from '../../errors.js'
import type { HttpClient } from '../../http/http-client.js'
import {
  arrayOf,
  countOf,
  hexOf,
  integerOf,
  isObject,
  type JsonRecord,
  objectOf,
  optionalText,
  reading,
  textOf,
} from '../../http/json.js'
import type { Spending } from '../../types.js'
import {
  addressBytes,
  createLeaveOut,
  createMemo,
  type LeaveOut,
  maxConcurrent,
  type ReadLog,
  readOrLeaveOut,
  scriptOf,
  valueOfUnits,
} from '../provider.js'

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

const languages: Readonly<Record<string, Script['language']>> = {
  native: 'native',
  'plutus:v1': 'PlutusV1',
  'plutus:v2': 'PlutusV2',
  'plutus:v3': 'PlutusV3',
}

const holds = ({ value }: JsonRecord, policy: string): boolean =>
  Object.keys(objectOf(objectOf(value).assets ?? {})).some((unit) => unit.startsWith(policy))

/** An output as Kupo gives it, which names scripts and datums by hash. */
interface Match {
  /** See {@link keyOf}. */
  readonly key: string
  readonly reference: OutputReference
  readonly slot: number
  readonly scriptHash: string | undefined
  readonly datumHash: string | undefined
  /** That of an inline datum. */
  readonly inlineHash: string | undefined
  readonly json: JsonRecord
}

/** Datums and scripts of outputs, by hash. */
interface Contents {
  readonly datums: ReadonlyMap<string, Uint8Array>
  readonly scripts: ReadonlyMap<string, ScriptContent | 'unknown'>
}

const emptyContents = () =>
  ({
    datums: new Map<string, Uint8Array>(),
    scripts: new Map<string, ScriptContent | 'unknown'>(),
  }) satisfies Contents

/** Adds the wanted content of a match that has it. False if Kupo has not resolved its hashes. */
function addContents(
  { datums, scripts }: ReturnType<typeof emptyContents>,
  { datum_hash: datumHash, datum, script_hash: scriptHash, script }: JsonRecord,
  wanted: ReadonlySet<unknown>,
): boolean {
  if (wanted.has(datumHash) && typeof datum === 'string') datums.set(textOf(datumHash), fromHex(datum))
  if (wanted.has(scriptHash) && isObject(script)) {
    scripts.set(textOf(scriptHash), readScript(script, textOf(scriptHash)))
  }
  return datum !== undefined
}

/** The reference of an output as text. */
const keyOf = ({ transaction_id: id, output_index: index }: JsonRecord): string =>
  `${hexOf(id, 32)}#${countOf(index)}`

function matchOf(json: JsonRecord): Match {
  const script = optionalText(json.script_hash)
  const datum = optionalText(json.datum_hash)
  const datumHash = datum === undefined ? undefined : hexOf(datum, 32)
  return {
    key: keyOf(json),
    reference: {
      transactionId: fromHex(hexOf(json.transaction_id, 32)),
      index: countOf(json.output_index),
    },
    slot: countOf(objectOf(json.created_at).slot_no),
    scriptHash: script === undefined ? undefined : hexOf(script, 28),
    datumHash,
    inlineHash: json.datum_type === 'inline' ? datumHash : undefined,
    json,
  }
}

/** `unknown` if its bytes do not follow from the answer: anyone can send such a script. */
function readScript(json: unknown, hash: string): ScriptContent | 'unknown' {
  const { language: name, script } = objectOf(json)
  const language = languages[textOf(name)]
  const bytes = fromHex(textOf(script))
  try {
    return language === undefined ? 'unknown' : scriptOf(language, bytes, hash)
  } catch {
    return 'unknown'
  }
}

/** @param data of an inline datum */
function outputOf(
  { json, datumHash }: Match,
  referenceScript: ScriptContent | undefined,
  data: Uint8Array | undefined,
): TransactionOutput {
  return toLayer1Output({
    address: addressBytes(textOf(json.address)),
    value: readValue(json.value),
    datum: datumOf(datumHash, data),
    ...(referenceScript && { referenceScript }),
  })
}

function datumOf(hash: string | undefined, data: Uint8Array | undefined): OutputDatum {
  if (hash === undefined) return { kind: 'none' }
  return data === undefined ? { kind: 'hash', hash: fromHex(hash) } : { kind: 'inline', data }
}

/** `{ coins, assets: { "policy.name": quantity } }`, without the dot when the name is empty. */
function readValue(json: unknown) {
  const { coins, assets } = objectOf(json)
  const quantities = Object.entries(objectOf(assets ?? {})).map(
    ([unit, quantity]) => [unit.replace('.', ''), integerOf(quantity)] as const,
  )
  return valueOfUnits(integerOf(coins), quantities)
}

/** The memory that an output takes beside its bytes. */
const overhead = 3000
/** About 80,000 outputs of the size of a question, which lock 200,000 ada. */
const maxListBytes = 256 * 1024 * 1024
/** A flooded list leaves room for others. */
const maxBytes = 1.5 * maxListBytes

interface Known {
  readonly outputs: ReadonlyMap<string, Utxo | undefined>
  readonly size: number
}

/** The outputs that the last reads of lists found: an output never changes. */
interface KnownOutputs {
  /** The outputs of a list, by reference; undefined for those that were left out. */
  of(list: string): ReadonlyMap<string, Utxo | undefined>
  /** Replaces the outputs of a list, of which as many as fit are kept. */
  keep(list: string, outputs: Iterable<readonly [reference: string, utxo: Utxo | undefined]>): void
}

const none: ReadonlyMap<string, Utxo | undefined> = new Map()

function createKnownOutputs(): KnownOutputs {
  const lists = new LRUCache<string, Known>({ maxSize: maxBytes, sizeCalculation: ({ size }) => size })
  return {
    of: (list) => lists.get(list)?.outputs ?? none,
    keep(list, found) {
      const outputs = new Map<string, Utxo | undefined>()
      let size = overhead
      for (const [reference, utxo] of found) {
        size += overhead + (utxo?.output.bytes.length ?? 0)
        if (size > maxListBytes) break
        outputs.set(reference, utxo)
      }
      if (outputs.size === 0) lists.delete(list)
      else lists.set(list, { outputs, size: Math.min(size, maxListBytes) })
    },
  }
}

const providerName = 'Kupo'
/** Hashes that are asked for one by one rather than by reading the outputs again, resolved. */
const maxSingly = 20
/** New outputs whose slots are read again, resolved. */
const partLength = 4000
/** Of that answer: some kilobytes for each output. */
const maxPartBytes = 32 * 1024 * 1024
/** Outputs that are decoded without a pause. */
const stepLength = 500

interface ContentSource {
  /** By hash, one at a time. */
  script(hash: string, signal: AbortSignal): Promise<ScriptContent | 'unknown'>
  datum(hash: string, signal: AbortSignal): Promise<Uint8Array>
  readonly leaveOut: LeaveOut
}

interface UnspentOutputsOptions extends ContentSource {
  readonly http: HttpClient
  /** Of a list of outputs. */
  readonly maxListBytes: number
}

/** The outputs of a list that are wanted; others are not decoded. By default all. */
interface Wanted {
  /** Those that hold an asset of this policy. */
  readonly policy?: string
  /** Those with these indexes. */
  readonly indexes?: ReadonlySet<number>
}

/** An output of a list; with `utxo` if an earlier read found it: undefined if it was left out. */
type Found = Match | { readonly key: string; readonly utxo: Utxo | undefined }

/**
 * Reads lists of outputs, in which Kupo names datums and scripts by hash. Those of many new outputs come in
 * one answer; those of outputs that an earlier read found are known.
 */
function createUnspentOutputs({ http, maxListBytes, ...source }: UnspentOutputsOptions) {
  const known = createKnownOutputs()
  /** Kupo resolves hashes since 2.10; earlier versions ignore that they are asked to. */
  let resolvesHashes = true

  /** Undefined if the list is longer than wanted. */
  async function list<T>(
    path: string,
    read: (item: unknown) => T | undefined,
    signal: AbortSignal,
    maxBytes = maxListBytes,
  ): Promise<readonly T[] | undefined> {
    const { status, items } = await http.list({ path, maxBytes, read }, signal)
    if (status >= 300) throw answered(status)
    return items
  }

  /** The datums and scripts of the outputs of some slots, in one answer. */
  async function contentsOf(path: string, matches: readonly Match[], signal: AbortSignal): Promise<Contents> {
    const hashes = new Set(matches.flatMap(({ scriptHash, inlineHash }) => [scriptHash, inlineHash]))
    hashes.delete(undefined)
    if (!resolvesHashes || hashes.size <= maxSingly) return emptyContents()
    const slots = matches.map(({ slot }) => slot)
    const [first, last] = [Math.min(...slots), Math.max(...slots)]
    const range = `${first > 0 ? `&created_after=${first}` : ''}&created_before=${last}`
    const contents = emptyContents()
    let isResolved = true
    const read = (item: unknown) =>
      reading(providerName, 'a match', () => {
        if (!addContents(contents, objectOf(item), hashes)) isResolved = false
        return undefined
      })
    // Of an answer that is too long, the rest is asked for one by one: many outputs of others may name one
    // large datum.
    await list(`${path}&resolve_hashes${range}`, read, signal, maxPartBytes)
    resolvesHashes = isResolved
    return contents
  }

  /** Those that it reads are known at the next read, even if this one fails. */
  async function readMatches(
    path: string,
    found: readonly Found[],
    isNamed: boolean,
    signal: AbortSignal,
  ): Promise<Utxo[]> {
    const utxos = new Map<string, Utxo | undefined>(
      found.flatMap((each) => ('utxo' in each ? [[each.key, each.utxo]] : [])),
    )
    const unknown = found.flatMap((each) => ('utxo' in each ? [] : each)).sort((a, b) => a.slot - b.slot)
    try {
      for (let from = 0; from < unknown.length; from += partLength) {
        const part = unknown.slice(from, from + partLength)
        const contents = await contentsOf(path, part, signal)
        for (let at = 0; at < part.length; at += stepLength) {
          await pLimit(maxConcurrent).map(part.slice(at, at + stepLength), async (match) => {
            utxos.set(match.key, await readMatch(match, contents, source, isNamed, signal))
          })
          // Others have their turn.
          await setImmediate()
        }
      }
    } finally {
      known.keep(path, utxos)
    }
    return [...utxos.values()].filter((utxo) => utxo !== undefined)
  }

  return async (pattern: string, signal: AbortSignal, wanted: Wanted = {}): Promise<Utxo[]> => {
    const { policy, indexes } = wanted
    const isNamed = policy !== undefined || indexes !== undefined
    // Earlier versions of Kupo may ignore the policy.
    const filter = policy === undefined ? '' : `&policy_id=${policy}`
    const path = `/matches/${pattern}?unspent${filter}`
    const before = known.of(path)
    const read = (item: unknown) =>
      reading(providerName, 'a match', () => {
        const json = objectOf(item)
        if (policy !== undefined && !holds(json, policy)) return undefined
        if (indexes !== undefined && !indexes.has(countOf(json.output_index))) return undefined
        const key = keyOf(json)
        return before.has(key) ? { key, utxo: before.get(key) } : matchOf(json)
      })
    const found = await list<Found>(path, read, signal)
    if (found === undefined) throw tooLong(maxListBytes)
    return readMatches(path, found, isNamed, signal)
  }
}

/**
 * Undefined if the output is left out: anyone can send one with an odd script.
 *
 * @param isNamed whether the caller has asked for this output by its asset or reference: then it is an
 *   invalid answer if it does not decode
 */
async function readMatch(
  match: Match,
  contents: Contents,
  { script, datum, leaveOut }: ContentSource,
  isNamed: boolean,
  signal: AbortSignal,
): Promise<Utxo | undefined> {
  const { key, reference, scriptHash, inlineHash } = match
  const referenceScript =
    scriptHash === undefined
      ? undefined
      : (contents.scripts.get(scriptHash) ?? (await script(scriptHash, signal)))
  const data =
    inlineHash === undefined
      ? undefined
      : (contents.datums.get(inlineHash) ?? (await datum(inlineHash, signal)))
  if (referenceScript === 'unknown') {
    leaveOut(key, `${providerName} does not give the bytes of script ${scriptHash}`)
    return undefined
  }
  const read = () => ({ reference, output: outputOf(match, referenceScript, data) })
  return readOrLeaveOut({ provider: providerName, what: 'a match', key }, isNamed, leaveOut, read)
}

const answered = (status: number) =>
  new Layer1Error('LAYER1_PROVIDER_ERROR', `${providerName} answered ${status}`)

const tooLong = (bytes: number) =>
  new Layer1Error(
    'LAYER1_INVALID_ANSWER',
    `${providerName} has more than ${bytes} bytes of outputs in a list: raise maxListBytes, and the memory`,
  )
