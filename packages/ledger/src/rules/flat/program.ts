import { CborReader } from '../../cbor/reader.js'
import { isDecodeError } from '../../errors.js'
import type { PlutusLanguage } from '../../transaction/types.js'
import { BitReader, FlatError } from './bit-reader.js'
import { builtinIsAvailable, coreIsAvailable } from './builtins.js'
import { readConstant } from './constants.js'

/** The protocol version that brought each language. */
const INTRODUCED: { readonly [language in PlutusLanguage]: number } = {
  PlutusV1: 5,
  PlutusV2: 7,
  PlutusV3: 9,
}

/**
 * Whether bytes are a Plutus script that the ledger would accept: a CBOR byte string that holds one flat-encoded program
 * whose version and builtins the language has at this protocol version. Only Plutus V3 minds bytes behind the string.
 * What the program does is not asked.
 */
export function isPlutusScript(bytes: Uint8Array, language: PlutusLanguage, protocolMajor: number): boolean {
  if (protocolMajor < INTRODUCED[language]) return false
  try {
    const wrapper = new CborReader(bytes)
    const program = wrapper.readBytes()
    if (language === 'PlutusV3') wrapper.assertEnd()
    readProgram(new BitReader(program), language, protocolMajor)
    return true
  } catch (error) {
    if (error instanceof FlatError || isDecodeError(error)) return false
    throw error
  }
}

function readProgram(reader: BitReader, language: PlutusLanguage, protocolMajor: number): void {
  const version = [reader.natural(), reader.natural(), reader.natural()] as const
  if (!coreIsAvailable(version, language, protocolMajor)) {
    throw new FlatError(
      `${language} has no Plutus Core ${version.join('.')} at protocol version ${protocolMajor}`,
    )
  }
  readTerm(reader, version[1] >= 1, (builtin) => builtinIsAvailable(builtin, language, protocolMajor))
  reader.filler()
  if (!reader.atEnd()) throw new FlatError('bytes after the program')
}

/** Marks the place of a list of terms on the stack, of which each next one stands behind a bit. */
const LIST = -1

/** Terms nest as deep as a script is long, so they are counted on a stack of our own: terms to come, or a list's mark. */
function readTerm(reader: BitReader, sums: boolean, isAvailable: (builtin: number) => boolean): void {
  const open = [1]
  for (;;) {
    const left = open.at(-1)
    if (left === undefined) return
    if (left === 0) {
      open.pop()
      continue
    }
    if (left === LIST) {
      if (reader.bit() === 0) {
        open.pop()
        continue
      }
    } else open[open.length - 1] = left - 1

    const tag = reader.bits(4)
    switch (tag) {
      case 0: // variable, by its de Bruijn index
        reader.natural()
        break
      case 1: // delay
      case 2: // lambda
      case 5: // force
        open.push(1)
        break
      case 3: // application
        open.push(2)
        break
      case 4:
        readConstant(reader)
        break
      case 6: // error
        break
      case 7: {
        const builtin = reader.bits(7)
        if (!isAvailable(builtin)) throw new FlatError(`builtin ${builtin} is not available`)
        break
      }
      case 8: // constr: its tag, then its fields
        if (!sums) throw new FlatError('constr before Plutus Core 1.1.0')
        reader.natural()
        open.push(LIST)
        break
      case 9: // case: the scrutinee, then the branches
        if (!sums) throw new FlatError('case before Plutus Core 1.1.0')
        open.push(LIST, 1)
        break
      default:
        throw new FlatError(`term tag ${tag}`)
    }
  }
}
