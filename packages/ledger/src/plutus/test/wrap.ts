import type { ExpectedConstant } from './expected-constant.js'
import { endOf, flatProgram, type Term } from './flat.js'

const unit: Term = ['con', { type: 'unit' }]
const yes: Term = ['con', { type: 'bool', value: true }]
const no: Term = ['con', { type: 'bool', value: false }]

/**
 * Wraps a program into a Plutus V3 script, which gets a context and must return unit. The program is
 * evaluated first; `then` decides on its result, the variable `result`.
 */
export function asScript(flat: Uint8Array, then: Term): Uint8Array {
  const { version, rest } = splitProgram(flat)
  const program: Term = ['rest', rest]
  for (let fillers = 0; fillers < 8; fillers++) {
    const decide: Term = ['lam', 'result', ['lam', 'context', filled(then, fillers)]]
    // The program keeps its alignment only if it begins at a byte boundary after the four bits of `apply`.
    if (endOf(decide, 4) % 8 === 0) return flatProgram(['apply', decide, [program]], version)
  }
  throw new RangeError('No filler brings the program to a byte')
}

/** The term after unused arguments, each of an odd number of bits. */
function filled(term: Term, fillers: number): Term {
  let inner = term
  for (let i = 0; i < fillers; i++) inner = ['lam', 'filler', inner]
  return fillers === 0 ? inner : ['apply', inner, Array.from({ length: fillers }, () => yes)]
}

function splitProgram(flat: Uint8Array): { version: [number, number, number]; rest: Uint8Array } {
  const version: [number, number, number] = [0, 0, 0]
  let offset = 0
  for (let i = 0; i < 3; i++) {
    for (let shift = 0; ; shift += 7) {
      const byte = flat[offset++] ?? 0
      version[i] = (version[i] as number) + (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) break
    }
  }
  return { version, rest: flat.subarray(offset) }
}

/** Succeeds with any result. */
export const succeed: Term = unit

export function succeedIfEqual(expected: ExpectedConstant): Term {
  return ['force', ifThenElse(equals(expected, 'result'), ['delay', unit], ['delay', ['error']])]
}

function equals(expected: ExpectedConstant, term: Term): Term {
  switch (expected.type) {
    case 'integer':
      return ['apply', ['builtin', 'equalsInteger'], [['con', expected], term]]
    case 'bytestring':
      return ['apply', ['builtin', 'equalsByteString'], [['con', expected], term]]
    case 'string':
      return ['apply', ['builtin', 'equalsString'], [['con', expected], term]]
    case 'data':
      return ['apply', ['builtin', 'equalsData'], [['con', expected], term]]
    case 'unit':
      return ['apply', ['force', ['builtin', 'chooseUnit']], [term, yes]]
    case 'bool':
      return expected.value ? ifThenElse(term, yes, no) : ifThenElse(term, no, yes)
    case 'list':
      return equalsList(expected.items, term)
    case 'pair': {
      const first: Term = ['apply', ['force', ['force', ['builtin', 'fstPair']]], ['pair']]
      const second: Term = ['apply', ['force', ['force', ['builtin', 'sndPair']]], ['pair']]
      return [
        'apply',
        ['lam', 'pair', and(equals(expected.first, first), equals(expected.second, second))],
        [term],
      ]
    }
  }
}

function equalsList([first, ...others]: readonly ExpectedConstant[], term: Term): Term {
  if (first === undefined) return ['apply', ['force', ['builtin', 'nullList']], [term]]
  const head: Term = ['apply', ['force', ['builtin', 'headList']], ['list']]
  const tail: Term = ['apply', ['force', ['builtin', 'tailList']], ['list']]
  return ['apply', ['lam', 'list', and(equals(first, head), equalsList(others, tail))], [term]]
}

function and(left: Term, right: Term): Term {
  return ['force', ifThenElse(left, ['delay', right], ['delay', no])]
}

function ifThenElse(condition: Term, yes: Term, no: Term): Term {
  return ['apply', ['force', ['builtin', 'ifThenElse']], [condition, yes, no]]
}
