import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import { decodeBech32Address, type Script, scriptHash, splitUnit, type Value } from '@ratatosk/ledger'
import type { ScriptContent } from '@ratatosk/ledger/builder'
import { arrayOf, countOf, isObject, textOf } from '../http/json.js'

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** Longer than any Byron address; decoding base58 takes quadratic time. */
const maxBase58 = 1024

/** The bytes of an address in bech32 or base58 (Byron). @throws RangeError or AddressError on other text */
export function addressBytes(text: string): Uint8Array {
  if (/^addr/.test(text)) return decodeBech32Address(text).bytes
  if (text.length > maxBase58) throw new RangeError('no address')
  let value = 0n
  for (const character of text) {
    const digit = alphabet.indexOf(character)
    if (digit < 0) throw new RangeError('no address')
    value = value * 58n + BigInt(digit)
  }
  const hex = value.toString(16)
  return fromHex(hex.length % 2 === 0 ? hex : `0${hex}`)
}

/** Builds a value from quantities by unit (policy id and asset name in hex, joined). */
export function valueOfUnits(
  lovelace: bigint,
  quantities: Iterable<readonly [unit: string, quantity: bigint]>,
): Value {
  const assets = new Map<string, Map<string, bigint>>()
  for (const [unit, quantity] of quantities) {
    const { policy, name } = splitUnit(unit)
    const names = assets.get(policy) ?? new Map<string, bigint>()
    assets.set(policy, names.set(name, quantity))
  }
  return { lovelace, assets }
}

/** The script with a hash, with or without its inner byte string. @throws RangeError if none matches */
export function scriptOf(language: Script['language'], bytes: Uint8Array, hash: string): ScriptContent {
  const forms = [bytes]
  if (language !== 'native') {
    forms.push(new CborWriter(bytes.length + 5).bytes(bytes).toBytes())
    const inner = byteString(bytes)
    if (inner) forms.push(inner)
  }
  const found = forms.find((form) => toHex(scriptHash(language, form)) === hash)
  if (found === undefined) throw new RangeError('a script of another hash')
  return { language, bytes: found }
}

/** The content of a CBOR byte string, or undefined if the bytes are not one. */
function byteString(bytes: Uint8Array): Uint8Array | undefined {
  const initial = bytes[0] ?? 0
  const width = [0x58, 0x59, 0x5a].indexOf(initial)
  if (width >= 0) return bytes.subarray(1 + 2 ** width)
  return initial >= 0x40 && initial < 0x58 ? bytes.subarray(1) : undefined
}

/** The CBOR of a native script from cardano-cli's JSON, which Blockfrost uses. */
export function nativeScriptBytes(json: unknown): Uint8Array {
  const writer = new CborWriter()
  writeNativeScript(writer, json, 0)
  return writer.toBytes()
}

const maxNativeDepth = 100

function writeNativeScript(writer: CborWriter, json: unknown, depth: number): void {
  if (!isObject(json) || depth > maxNativeDepth) throw new TypeError('no native script')
  switch (json.type) {
    case 'sig':
      writer
        .array(2)
        .uint(0)
        .bytes(fromHex(textOf(json.keyHash)))
      return
    case 'all':
    case 'any':
      writer.array(2).uint(json.type === 'all' ? 1 : 2)
      break
    case 'atLeast':
      writer.array(3).uint(3).int(countOf(json.required))
      break
    case 'after':
      writer.array(2).uint(4).uint(countOf(json.slot))
      return
    case 'before':
      writer.array(2).uint(5).uint(countOf(json.slot))
      return
    default:
      throw new TypeError('no native script')
  }
  const scripts = arrayOf(json.scripts)
  writer.array(scripts.length)
  for (const script of scripts) writeNativeScript(writer, script, depth + 1)
}
