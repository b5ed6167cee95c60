import { CborReader } from '../../../cbor/reader.js'
import { BitReader, FlatError } from '../../../rules/flat/bit-reader.js'
import { decodeConstant } from './decode-constant.js'
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
} from './term.js'

export interface Program {
  readonly term: Term
  /** False where a variable stands for nothing: the ledger fails such a script before it runs it. */
  readonly closed: boolean
}

/** A term whose parts are being read. */
interface Open {
  readonly kind: number
  readonly tag: number
  readonly parts: Term[]
}

/**
 * Decodes a script's bytes: a flat program in a CBOR byte string. Which versions and builtins a language has is judged
 * elsewhere (`isPlutusScript`).
 *
 * @throws {FlatError} or a decoding error where the bytes are no program
 */
export function decodeProgram(script: Uint8Array): Program {
  return decodeFlat(new CborReader(script).readBytes())
}

/** Decodes a flat program. Terms nest as deep as a script is long, so what is open lies on a stack of our own. */
export function decodeFlat(flat: Uint8Array): Program {
  const reader = new BitReader(flat)
  for (let i = 0; i < 3; i++) reader.natural()
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
        done = builtin(reader.bits(7))
        break
      case TermKind.constr:
        open.push({ kind, tag: reader.natural(), parts: [] })
        done = completeList(reader, open)
        break
      case TermKind.lambda:
        scope++
        open.push({ kind, tag: 0, parts: [] })
        break
      case TermKind.delay:
      case TermKind.force:
      case TermKind.apply:
      case TermKind.case:
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

/** The term around what was just read, where nothing more belongs to it. */
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

/** The fields of `constr` and the branches of `case` each stand behind a bit. */
function completeList(reader: BitReader, open: Open[]): Term | undefined {
  if (reader.bit() === 1) return undefined
  const around = open.pop()
  if (around === undefined) return undefined
  const { kind, tag, parts } = around
  if (kind === TermKind.constr) return constr(tag, parts)
  const [scrutinee, ...branches] = parts
  return scrutinee === undefined ? undefined : caseOf(scrutinee, branches)
}
