import { setImmediate } from 'node:timers/promises'
import type { Utxo } from '@ratatosk/ledger'
import type { ScriptContent } from '@ratatosk/ledger/builder'
import pLimit from 'p-limit'
import { Layer1Error } from '../../errors.js'
import type { HttpClient } from '../../http/http-client.js'
import { countOf, objectOf, reading } from '../../http/json.js'
import { type LeaveOut, maxConcurrent, readOrLeaveOut } from '../provider.js'
import { createKnownOutputs } from './known-outputs.js'
import {
  addContents,
  type Contents,
  emptyContents,
  holds,
  keyOf,
  type Match,
  matchOf,
  outputOf,
} from './matches.js'

export const providerName = 'Kupo'
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

export interface UnspentOutputsOptions extends ContentSource {
  readonly http: HttpClient
  /** Of a list of outputs. */
  readonly maxListBytes: number
}

/** The outputs of a list that are wanted; others are not decoded. By default all. */
export interface Wanted {
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
export function createUnspentOutputs({ http, maxListBytes, ...source }: UnspentOutputsOptions) {
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

export const answered = (status: number) =>
  new Layer1Error('LAYER1_PROVIDER_ERROR', `${providerName} answered ${status}`)

const tooLong = (bytes: number) =>
  new Layer1Error(
    'LAYER1_INVALID_ANSWER',
    `${providerName} has more than ${bytes} bytes of outputs in a list: raise maxListBytes, and the memory`,
  )
