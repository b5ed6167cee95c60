import {
  type CborReader,
  type EnteredVariant,
  enterVariant,
  located,
  readVariant,
  type Variants,
} from '@ratatosk/cbor'
import { blake2b224 } from '#crypto'
import type { NativeScript, PlutusLanguage, Script } from '../types.js'

/** The byte that precedes a script in the preimage of its hash; also the variant of a script reference. */
const languageTags = { native: 0, PlutusV1: 1, PlutusV2: 2, PlutusV3: 3 } as const

/**
 * Returns the hash that identifies a script in addresses and policy ids: Blake2b-224 of the byte of the
 * language followed by the script.
 *
 * @param bytes the CBOR of a native script, or the content of a Plutus script's byte string
 * @returns 28 bytes
 */
export function scriptHash(language: Script['language'], bytes: Uint8Array): Uint8Array {
  const preimage = new Uint8Array(1 + bytes.length)
  preimage[0] = languageTags[language]
  preimage.set(bytes, 1)
  return blake2b224(preimage)
}

/** Decodes a native script of a witness set. */
export function readNative(reader: CborReader): Extract<Script, { language: 'native' }> {
  const { script, bytes } = readNativeScript(reader)
  return { language: 'native', hash: scriptHash('native', bytes), bytes, script }
}

/** Decodes a Plutus script of a witness set. The rules, not the decoder, check that it is well-formed. */
export function readPlutus(reader: CborReader, language: PlutusLanguage): Script {
  const bytes = reader.readBytes()
  return { language, hash: scriptHash(language, bytes), bytes }
}

const variants: Variants<Script> = [
  [2, readNative],
  [2, (reader) => readPlutus(reader, 'PlutusV1')],
  [2, (reader) => readPlutus(reader, 'PlutusV2')],
  [2, (reader) => readPlutus(reader, 'PlutusV3')],
]

/** Decodes `[language, script]`, the content of a script reference. */
export function readTaggedScript(reader: CborReader): Script {
  return readVariant(reader, 'a script', variants)
}

/** Decodes a native script (the ledger's timelock). The reader limits its depth. */
function readNativeScript(reader: CborReader): { script: NativeScript; bytes: Uint8Array } {
  const start = reader.position
  reader.skip()
  const script = readNested(reader.within(start, reader.position))
  return { script, bytes: reader.since(start) }
}

/** A list of scripts that is being read. */
interface Opened {
  readonly variant: EnteredVariant<Layout>
  readonly count: number
  readonly scripts: NativeScript[]
  readonly close: (scripts: readonly NativeScript[]) => NativeScript
}

type Layout = (reader: CborReader) => NativeScript | Opened['close']

// The number that at-least requires may be negative; such a script is always satisfied.
const nativeVariants: readonly (readonly [size: number, layout: Layout])[] = [
  [2, (reader) => ({ kind: 'signature', keyHash: reader.readBytesOf(28) })],
  [2, () => (scripts) => ({ kind: 'all', scripts })],
  [2, () => (scripts) => ({ kind: 'any', scripts })],
  [
    3,
    (reader) => {
      const required = reader.readInt64()
      return (scripts) => ({ kind: 'at-least', required, scripts })
    },
  ],
  [2, (reader) => ({ kind: 'invalid-before', slot: reader.readUint64() })],
  [2, (reader) => ({ kind: 'invalid-hereafter', slot: reader.readUint64() })],
]

/** The open lists are in an array, not on the stack: layer 1 does not limit their depth. */
function readNested(reader: CborReader): NativeScript {
  const open: Opened[] = []
  try {
    for (;;) {
      let script = begin(reader, open)
      for (;;) {
        const inner = open.at(-1)
        if (script !== undefined) {
          if (inner === undefined) return script
          inner.scripts.push(script)
          script = undefined
        }
        if (inner === undefined || reader.hasNext(inner.count, inner.scripts.length)) break
        open.pop()
        leave(reader, inner.variant)
        script = inner.close(inner.scripts)
      }
    }
  } catch (error) {
    throw open.reduceRight((inner, { scripts }) => located(inner, `[${scripts.length}]`), error)
  }
}

/** Reads a script without parts, or opens its list. */
function begin(reader: CborReader, open: Opened[]): NativeScript | undefined {
  const variant = enterVariant(reader, 'a native script', nativeVariants)
  const content = variant.layout(reader)
  if (typeof content === 'function') {
    open.push({ variant, count: reader.readArray(), scripts: [], close: content })
    return undefined
  }
  leave(reader, variant)
  return content
}

function leave(reader: CborReader, { count, size, start }: EnteredVariant<Layout>): void {
  reader.leaveArray(count, size, start)
}
