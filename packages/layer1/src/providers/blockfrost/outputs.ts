import { fromHex } from '@ratatosk/cbor'
import type { OutputDatum, Script, Utxo } from '@ratatosk/ledger'
import { type ScriptContent, toOutput } from '@ratatosk/ledger/builder'
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
import { addressBytes, nativeScriptBytes, scriptOf, valueOfUnits } from '../output-content.js'

/** The script with a hash; `unknown` for a native script whose bytes do not follow from its JSON. */
export type ScriptByHash = (hash: string, signal: AbortSignal) => Promise<ScriptContent | 'unknown'>

const languages: Readonly<Record<string, Script['language']>> = {
  timelock: 'native',
  plutusV1: 'PlutusV1',
  plutusV2: 'PlutusV2',
  plutusV3: 'PlutusV3',
}

/** Fetches reference scripts; Blockfrost's outputs contain only their hashes. */
export function createScripts(
  get: (path: string, signal: AbortSignal) => Promise<unknown>,
  remember: (
    key: string,
    load: () => Promise<ScriptContent | 'unknown'>,
  ) => Promise<ScriptContent | 'unknown'>,
): ScriptByHash {
  return (hash, signal) =>
    remember(hash, async () => {
      const about = await get(`/scripts/${hash}`, signal)
      const language = reading('Blockfrost', 'a script', () => languages[textOf(objectOf(about).type)])
      const content = await get(`/scripts/${hash}/${language === 'native' ? 'json' : 'cbor'}`, signal)
      return reading('Blockfrost', 'a script', () => {
        if (language === undefined) throw new TypeError('a script of unknown language')
        const { json, cbor } = objectOf(content)
        return language === 'native'
          ? nativeScript(objectOf(json), hash)
          : scriptOf(language, fromHex(textOf(cbor)), hash)
      })
    })
}

/** A native script from JSON; its author chose the hashed bytes, so the JSON may give others. */
function nativeScript(json: JsonRecord, hash: string): ScriptContent | 'unknown' {
  try {
    return scriptOf('native', nativeScriptBytes(json), hash)
  } catch {
    return 'unknown'
  }
}

/** Reads an output. Undefined if its reference script is unknown: anyone can send such an output. */
export async function readUtxo(
  item: unknown,
  scripts: ScriptByHash,
  signal: AbortSignal,
): Promise<Utxo | undefined> {
  const scriptHash = reading('Blockfrost', 'an output', () => {
    const hash = optionalText(objectOf(item).reference_script_hash)
    return hash === undefined ? undefined : hexOf(hash, 28)
  })
  const referenceScript = scriptHash === undefined ? undefined : await scripts(scriptHash, signal)
  if (referenceScript === 'unknown') return undefined
  return reading('Blockfrost', 'an output', () => {
    const json = objectOf(item)
    const output = toOutput({
      address: addressBytes(textOf(json.address)),
      value: readAmount(json.amount),
      datum: readDatum(json),
      ...(referenceScript && { referenceScript }),
    })
    return {
      reference: { transactionId: fromHex(hexOf(json.tx_hash, 32)), index: countOf(json.output_index) },
      output,
    }
  })
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
