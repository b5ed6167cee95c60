import { fromHex } from '@ratatosk/cbor'
import type { OutputDatum, OutputReference, Script, TransactionOutput } from '@ratatosk/ledger'
import { type ScriptContent, toLayer1Output } from '@ratatosk/ledger/builder'
import {
  countOf,
  hexOf,
  integerOf,
  isObject,
  type JsonRecord,
  objectOf,
  optionalText,
  textOf,
} from '../../http/json.js'
import { addressBytes, scriptOf, valueOfUnits } from '../output-content.js'

const languages: Readonly<Record<string, Script['language']>> = {
  native: 'native',
  'plutus:v1': 'PlutusV1',
  'plutus:v2': 'PlutusV2',
  'plutus:v3': 'PlutusV3',
}

export const holds = ({ value }: JsonRecord, policy: string): boolean =>
  Object.keys(objectOf(objectOf(value).assets ?? {})).some((unit) => unit.startsWith(policy))

/** An output as Kupo gives it, which names scripts and datums by hash. */
export interface Match {
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
export interface Contents {
  readonly datums: ReadonlyMap<string, Uint8Array>
  readonly scripts: ReadonlyMap<string, ScriptContent | 'unknown'>
}

export const emptyContents = () =>
  ({
    datums: new Map<string, Uint8Array>(),
    scripts: new Map<string, ScriptContent | 'unknown'>(),
  }) satisfies Contents

/** Adds the wanted content of a match that has it. False if Kupo has not resolved its hashes. */
export function addContents(
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
export const keyOf = ({ transaction_id: id, output_index: index }: JsonRecord): string =>
  `${hexOf(id, 32)}#${countOf(index)}`

export function matchOf(json: JsonRecord): Match {
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
export function readScript(json: unknown, hash: string): ScriptContent | 'unknown' {
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
export function outputOf(
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
