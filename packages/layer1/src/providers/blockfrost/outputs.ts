import { fromHex } from '@ratatosk/cbor'
import { type OutputDatum, outputReferenceKey, type Script, type Utxo } from '@ratatosk/ledger'
import { type OutputContent, type ScriptContent, toLayer1Output } from '@ratatosk/ledger/builder'
import { LRUCache } from 'lru-cache'
import { isLayer1Error, type Layer1ErrorCode } from '../../errors.js'
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
import {
  addressBytes,
  type LeaveOut,
  nativeScriptBytes,
  readOrLeaveOut,
  scriptOf,
  valueOfUnits,
} from '../provider.js'

/** A script; `unknown` if its bytes do not follow from the answer: anyone can send such a script. */
type KnownScript = ScriptContent | 'unknown'

/**
 * The script with a hash; `later` if too many were loaded lately.
 *
 * @param isNamed see {@link readUtxo}; then it is not `later`
 */
type ScriptByHash = (hash: string, signal: AbortSignal, isNamed: boolean) => Promise<KnownScript | 'later'>

const languages: Readonly<Record<string, Script['language']>> = {
  timelock: 'native',
  plutusV1: 'PlutusV1',
  plutusV2: 'PlutusV2',
  plutusV3: 'PlutusV3',
}

/** Fetches reference scripts; Blockfrost's outputs contain only their hashes. */
export const createScripts =
  (get: (path: string, signal: AbortSignal) => Promise<unknown>): ScriptByHash =>
  async (hash, signal) => {
    const about = await get(`/scripts/${hash}`, signal)
    const language = reading('Blockfrost', 'a script', () => languages[textOf(objectOf(about).type)])
    if (language === undefined) return 'unknown'
    if (language === 'native') {
      const json = await get(`/scripts/${hash}/json`, signal).catch((error: unknown) => {
        if (signal.aborted || !isLayer1Error(error) || !ofScript.has(error.code)) throw error
        return undefined
      })
      return nativeScript(json, hash)
    }
    const content = await get(`/scripts/${hash}/cbor`, signal)
    const bytes = reading('Blockfrost', 'a script', () => fromHex(textOf(objectOf(content).cbor)))
    return plutusScript(language, bytes, hash)
  }

/** Failures that last where a server cannot write the JSON of a script: few can, at thousands of levels. */
const ofScript: ReadonlySet<string> = new Set<Layer1ErrorCode>([
  'LAYER1_PROVIDER_ERROR',
  'LAYER1_INVALID_ANSWER',
])

/** A native script from JSON; its author chose the hashed bytes, so the JSON may give others. */
function nativeScript(content: unknown, hash: string): KnownScript {
  try {
    return scriptOf('native', nativeScriptBytes(objectOf(content).json), hash)
  } catch {
    return 'unknown'
  }
}

function plutusScript(language: Script['language'], bytes: Uint8Array, hash: string): KnownScript {
  try {
    return scriptOf(language, bytes, hash)
  } catch {
    return 'unknown'
  }
}

/** How outputs are read. */
export interface OutputSource {
  readonly scripts: ScriptByHash
  readonly leaveOut: LeaveOut
}

/**
 * Reads an output; undefined if it is left out: anyone can send one with an odd script.
 *
 * @param isNamed whether the caller has asked for this output by its asset or reference: then it is an
 *   invalid answer if it does not decode
 */
export async function readUtxo(
  item: unknown,
  { scripts, leaveOut }: OutputSource,
  isNamed: boolean,
  signal: AbortSignal,
): Promise<Utxo | undefined> {
  const shown = reading('Blockfrost', 'an output', () => shownBy(objectOf(item)))
  const { reference, scriptHash } = shown
  const referenceScript = scriptHash === undefined ? undefined : await scripts(scriptHash, signal, isNamed)
  if (referenceScript === 'later') {
    // Once for the address: there may be any number.
    leaveOut(shown.address, 'too many outputs have a reference script; it is read later')
    return undefined
  }
  const key = outputReferenceKey(reference)
  if (referenceScript === 'unknown') {
    leaveOut(key, `Blockfrost does not give the bytes of script ${scriptHash}`)
    return undefined
  }
  const read = () => utxoOf(shown, referenceScript)
  return readOrLeaveOut({ provider: 'Blockfrost', what: 'an output', key }, isNamed, leaveOut, read)
}

/** Reads an output without its reference script; undefined if it does not decode. */
export function readWithoutScript(item: unknown): Utxo | undefined {
  try {
    return utxoOf(shownBy(objectOf(item)))
  } catch {
    return undefined
  }
}

type ShownOutput = ReturnType<typeof shownBy>

/** The fields of an output; nothing is decoded. */
function shownBy(json: JsonRecord) {
  const scriptHash = optionalText(json.reference_script_hash)
  return {
    reference: { transactionId: fromHex(hexOf(json.tx_hash, 32)), index: countOf(json.output_index) },
    address: textOf(json.address),
    value: readAmount(json.amount),
    datum: readDatum(json),
    ...(scriptHash !== undefined && { scriptHash: hexOf(scriptHash, 28) }),
  }
}

function utxoOf({ reference, address, value, datum }: ShownOutput, referenceScript?: ScriptContent): Utxo {
  const content: OutputContent = {
    address: addressBytes(address),
    value,
    datum,
    ...(referenceScript && { referenceScript }),
  }
  return { reference, output: toLayer1Output(content) }
}

function readAmount(json: unknown) {
  let lovelace = 0n
  const quantities: [string, bigint][] = []
  for (const entry of arrayOf(json)) {
    const { unit, quantity } = objectOf(entry)
    if (unit === 'lovelace') lovelace = integerOf(quantity)
    else quantities.push([textOf(unit), integerOf(quantity)])
  }
  return valueOfUnits(lovelace, quantities)
}

/** Blockfrost gives the hash of inline datums too. */
function readDatum(json: JsonRecord): OutputDatum {
  const inline = optionalText(json.inline_datum)
  if (inline !== undefined) return { kind: 'inline', data: fromHex(inline) }
  const hash = optionalText(json.data_hash)
  return hash === undefined ? { kind: 'none' } : { kind: 'hash', hash: fromHex(hexOf(hash, 32)) }
}

/** A script locks 4,310 lovelace for each of its bytes: so many bytes lock 280,000 ada. */
const maxBytes = 64 * 1024 * 1024
/** The memory that a script takes beside its bytes. */
const overhead = 500
/** A deployment has about ten. They take 200 of the 500 requests that Blockfrost allows at once. */
const mostAtOnce = 100
/** That is a tenth of the requests that Blockfrost allows for long. */
const oneEveryMs = 2000

/**
 * Remembers scripts. Anyone can send outputs with scripts of their own, each of which takes two requests:
 * unless an output is asked for by name, they are loaded slowly, in the order of the list, which begins
 * with the oldest.
 */
export function createRememberedScripts(load: ScriptByHash): ScriptByHash {
  const known = new LRUCache<string, KnownScript>({
    maxSize: maxBytes,
    sizeCalculation: (script) => overhead + (script === 'unknown' ? 0 : script.bytes.length),
  })
  let left = mostAtOnce
  let countedAt = Date.now()

  function mayLoad(): boolean {
    const more = Math.floor((Date.now() - countedAt) / oneEveryMs)
    if (more > 0) {
      left = Math.min(mostAtOnce, left + more)
      countedAt += more * oneEveryMs
    }
    return left > 0
  }

  return async (hash, signal, isNamed) => {
    const found = known.get(hash)
    if (found !== undefined) return found
    if (!isNamed) {
      if (!mayLoad()) return 'later'
      left--
    }
    const script = await load(hash, signal, isNamed)
    if (script !== 'later') known.set(hash, script)
    return script
  }
}
