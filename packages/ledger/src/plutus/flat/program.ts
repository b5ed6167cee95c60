import { CborReader, isDecodeError } from '@ratatosk/cbor'
import type { PlutusLanguage } from '../../transaction/types.js'
import {
  apply,
  builtin,
  caseOf,
  constant,
  constr,
  error,
  type Term,
  TermKind,
  unary,
  variable,
} from '../cek/values/term.js'
import { BitReader, FlatError } from './bit-reader.js'
import { decodeConstant } from './constant.js'

export interface Program {
  readonly term: Term
  /** False if a variable is free: the ledger fails such a script before it runs it. */
  readonly closed: boolean
}

/** The language and ledger version that decide which versions of Plutus Core and which builtins exist. */
interface Target {
  readonly language: PlutusLanguage
  readonly protocolMajor: number
}

const introducedIn: { readonly [language in PlutusLanguage]: number } = {
  PlutusV1: 5,
  PlutusV2: 7,
  PlutusV3: 9,
}

/**
 * Whether the ledger accepts bytes as a Plutus script: a CBOR byte string with one flat program whose version
 * and builtins the language has at this ledger version. Only Plutus V3 forbids bytes after it.
 */
export function isPlutusScript(bytes: Uint8Array, language: PlutusLanguage, protocolMajor: number): boolean {
  if (protocolMajor < introducedIn[language]) return false
  try {
    const wrapper = new CborReader(bytes)
    const flat = wrapper.readBytes()
    if (language === 'PlutusV3') wrapper.assertEnd()
    const reader = new BitReader(flat)
    readProgram(reader, { language, protocolMajor })
    reader.filler()
    if (!reader.atEnd()) throw new FlatError('bytes after the program')
    return true
  } catch (error) {
    if (error instanceof FlatError || isDecodeError(error)) return false
    throw error
  }
}

/** A term whose parts are being read. */
interface Open {
  readonly kind: number
  readonly tag: number
  readonly parts: Term[]
}

/**
 * Decodes a script: a flat program in a CBOR byte string. {@link isPlutusScript} checks version and builtins.
 * @throws FlatError or DecodeError if the bytes are not a program
 */
export function decodeProgram(script: Uint8Array): Program {
  return decodeFlat(new CborReader(script).readBytes())
}

export function decodeFlat(flat: Uint8Array): Program {
  return readProgram(new BitReader(flat))
}

/**
 * Reads a program, and checks it against a given language and ledger version. Terms nest as deep as a script
 * is long, so open terms are on a stack of this function's own.
 */
function readProgram(reader: BitReader, target?: Target): Program {
  const version = [reader.natural(), reader.natural(), reader.natural()] as const
  if (target !== undefined && !coreIsAvailable(version, target.language, target.protocolMajor)) {
    throw new FlatError(`Plutus Core ${version.join('.')} is not available`)
  }
  const hasSums = target === undefined || version[1] >= 1
  const open: Open[] = []
  let scope = 0
  let closed = true

  for (;;) {
    const kind = reader.bits(4)
    let done: Term | undefined
    switch (kind) {
      case TermKind.variable: {
        const index = reader.natural()
        if (index < 1 || index > scope) closed = false
        done = variable(index)
        break
      }
      case TermKind.constant:
        done = constant(decodeConstant(reader))
        break
      case TermKind.error:
        done = error
        break
      case TermKind.builtin:
        done = builtin(readBuiltin(reader, target))
        break
      case TermKind.constr:
        if (!hasSums) throw new FlatError('constr before Plutus Core 1.1.0')
        open.push({ kind, tag: reader.natural(), parts: [] })
        done = completeList(reader, open)
        break
      case TermKind.lambda:
        scope++
        open.push({ kind, tag: 0, parts: [] })
        break
      case TermKind.case:
        if (!hasSums) throw new FlatError('case before Plutus Core 1.1.0')
        open.push({ kind, tag: 0, parts: [] })
        break
      case TermKind.delay:
      case TermKind.force:
      case TermKind.apply:
        open.push({ kind, tag: 0, parts: [] })
        break
      default:
        throw new FlatError(`term tag ${kind}`)
    }
    while (done !== undefined) {
      const around = open.at(-1)
      if (around === undefined) return { term: done, closed }
      around.parts.push(done)
      if (around.kind === TermKind.lambda) scope--
      done = complete(reader, open, around)
    }
  }
}

function readBuiltin(reader: BitReader, target: Target | undefined): number {
  const index = reader.bits(7)
  if (target !== undefined && !builtinIsAvailable(index, target.language, target.protocolMajor)) {
    throw new FlatError(`builtin ${index} is not available`)
  }
  return index
}

/** The enclosing term, if what was just read completes it. */
function complete(reader: BitReader, open: Open[], { kind, parts }: Open): Term | undefined {
  const [first, second] = parts
  if (first === undefined) return undefined
  switch (kind) {
    case TermKind.apply:
      if (second === undefined) return undefined
      open.pop()
      return apply(first, second)
    case TermKind.constr:
    case TermKind.case:
      return completeList(reader, open)
    default:
      open.pop()
      return unary(kind, first)
  }
}

/** Each field of `constr` and each branch of `case` is preceded by a bit. */
function completeList(reader: BitReader, open: Open[]): Term | undefined {
  if (reader.bit() === 1) return undefined
  const around = open.pop()
  if (around === undefined) return undefined
  const { kind, tag, parts } = around
  if (kind === TermKind.constr) return constr(tag, parts)
  const [scrutinee, ...branches] = parts
  return scrutinee === undefined ? undefined : caseOf(scrutinee, branches)
}

/** The ledger version that added a builtin, by its number in flat (plutus-ledger-api, Common.Versions). */
type Introduced = { readonly [language in PlutusLanguage]: number }

const batches: readonly { readonly last: number; readonly since: Introduced }[] = [
  // Alonzo: integers, byte strings, Blake2b-256, SHA, Ed25519, strings, lists, pairs, data
  { last: 50, since: { PlutusV1: 5, PlutusV2: 7, PlutusV3: 9 } },
  // serialiseData
  { last: 51, since: { PlutusV1: 11, PlutusV2: 7, PlutusV3: 9 } },
  // ECDSA and Schnorr over secp256k1
  { last: 53, since: { PlutusV1: 11, PlutusV2: 8, PlutusV3: 9 } },
  // BLS12-381, Keccak-256, Blake2b-224
  { last: 72, since: { PlutusV1: 11, PlutusV2: 11, PlutusV3: 9 } },
  // integerToByteString, byteStringToInteger
  { last: 74, since: { PlutusV1: 11, PlutusV2: 10, PlutusV3: 9 } },
  // bitwise operations, RIPEMD-160
  { last: 86, since: { PlutusV1: 11, PlutusV2: 11, PlutusV3: 10 } },
  // modular exponentiation, arrays, multi-scalar multiplication, values
  { last: 100, since: { PlutusV1: 11, PlutusV2: 11, PlutusV3: 11 } },
]

function builtinIsAvailable(builtin: number, language: PlutusLanguage, protocolMajor: number): boolean {
  const batch = batches.find(({ last }) => builtin <= last)
  return batch !== undefined && protocolMajor >= batch.since[language]
}

/** All languages have Plutus Core 1.0.0 from the start; older ones got 1.1.0 (`constr`, `case`) later. */
function coreIsAvailable(
  [major, minor, patch]: readonly [number, number, number],
  language: PlutusLanguage,
  protocolMajor: number,
): boolean {
  if (major !== 1 || patch !== 0) return false
  return minor === 0 || (minor === 1 && protocolMajor >= (language === 'PlutusV3' ? 9 : 11))
}
