import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import { decodeBech32Address, type Script, scriptHash, splitUnit, type Value } from '@ratatosk/ledger'
import type { ScriptContent } from '@ratatosk/ledger/builder'
import { arrayOf, integerOf, isObject, textOf } from '../http/json.js'

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

/** The CBOR of a native script from cardano-cli's JSON, which Blockfrost uses. It may have any depth. */
export function nativeScriptBytes(json: unknown): Uint8Array {
  const writer = new CborWriter()
  // Those that are still to be written, the next one last.
  const scripts = [json]
  while (scripts.length > 0) {
    const parts = writeNativeHead(writer, scripts.pop())
    if (parts === undefined) continue
    writer.array(parts.length)
    for (let index = parts.length - 1; index >= 0; index--) scripts.push(parts[index])
  }
  return writer.toBytes()
}

/** Writes a native script up to its list, and returns the list. */
function writeNativeHead(writer: CborWriter, json: unknown): readonly unknown[] | undefined {
  if (!isObject(json)) throw new TypeError('no native script')
  switch (json.type) {
    case 'sig':
      writer
        .array(2)
        .uint(0)
        .bytes(fromHex(textOf(json.keyHash)))
      return undefined
    case 'all':
    case 'any':
      writer.array(2).uint(json.type === 'all' ? 1 : 2)
      return arrayOf(json.scripts)
    case 'atLeast':
      writer.array(3).uint(3).int(integerOf(json.required))
      return arrayOf(json.scripts)
    case 'after':
    case 'before':
      writer
        .array(2)
        .uint(json.type === 'after' ? 4 : 5)
        .uint(integerOf(json.slot))
      return undefined
    default:
      throw new TypeError('no native script')
  }
}
