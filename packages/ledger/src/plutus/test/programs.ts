import { flatProgram, type Term } from './flat.js'

const unit: Term = ['con', { type: 'unit' }]
const self: Term = ['apply', 'f', ['f']]

function policy(body: Term): Uint8Array {
  return flatProgram(['lam', 'context', body])
}

/** Recursion: applies `f`, a function of itself and `x`, to itself and `start`. */
function recursive(body: Term, start: Term): Term {
  return ['apply', ['lam', 'f', ['apply', 'f', ['f', start]]], [['lam', 'f', ['lam', 'x', body]]]]
}

function again(next: Term): Term {
  return ['apply', 'f', ['f', next]]
}

function integer(value: bigint): Term {
  return ['con', { type: 'integer', value }]
}

function text(value: string): Term {
  return ['con', { type: 'string', value }]
}

function trace(message: string, then: Term): Term {
  return ['apply', ['force', ['builtin', 'trace']], [text(message), then]]
}

export const succeeding = policy(unit)
/** For Plutus V1 and V2, which pass redeemer and context to a policy and ignore its result. */
export const returningFalseOfTwo = policy(['lam', 'second', ['con', { type: 'bool', value: false }]])
export const failing = policy(['error'])
export const returningFalse = policy(['con', { type: 'bool', value: false }])
export const openTerm = policy('free')
/** Traces before it fails. Arguments are evaluated first, so the traces are in order. */
export const tracing = policy([
  'apply',
  ['lam', 'first', ['apply', ['lam', 'second', ['error']], [trace('second line', unit)]]],
  [trace('first line', unit)],
])
/** `expModInteger` exists since ledger version 11. */
export const ofLedgerVersion11 = policy(['apply', ['lam', 'builtin', unit], [['builtin', 'expModInteger']]])

/** A Plutus V3 policy that succeeds after counting down from its redeemer. */
export const counting = policy(
  recursive(
    ifThenElse(
      ['apply', ['builtin', 'lessThanInteger'], ['x', integer(0n)]],
      unit,
      again(['apply', ['builtin', 'addInteger'], ['x', integer(-1n)]]),
    ),
    redeemer(),
  ),
)

/** A Plutus V3 policy that succeeds if its redeemer is 42, and otherwise traces what it wants. */
export const wants42 = policy(
  ifThenElse(redeemerIs42(), unit, [
    'apply',
    ['lam', 'traced', ['error']],
    [trace('the redeemer must be 42', unit)],
  ]),
)

function redeemerIs42(): Term {
  return ['apply', ['builtin', 'equalsInteger'], [integer(42n), redeemer()]]
}

/** Only the selected branch is evaluated. */
function ifThenElse(condition: Term, yes: Term, no: Term): Term {
  const branches: Term[] = [condition, ['delay', yes], ['delay', no]]
  return ['force', ['apply', ['force', ['builtin', 'ifThenElse']], branches]]
}

/** The second field of a Plutus V3 script context. */
function redeemer(): Term {
  const fields: Term = [
    'apply',
    ['force', ['force', ['builtin', 'sndPair']]],
    [['apply', ['builtin', 'unConstrData'], ['context']]],
  ]
  const second: Term = ['apply', ['force', ['builtin', 'tailList']], [fields]]
  return ['apply', ['builtin', 'unIData'], [['apply', ['force', ['builtin', 'headList']], [second]]]]
}

function bomb(endless: Term): Uint8Array {
  return policy(ifThenElse(redeemerIs42(), unit, endless))
}

/** Plutus V3 policies that exhaust one resource each, unless the redeemer is 42. */
export const bombs = {
  steps: bomb(['apply', ['lam', 'x', ['apply', 'x', ['x']]], [['lam', 'x', ['apply', 'x', ['x']]]]]),
  bytes: bomb(
    recursive(again(['apply', ['builtin', 'appendByteString'], ['x', 'x']]), [
      'con',
      { type: 'bytestring', value: new Uint8Array(64) },
    ]),
  ),
  text: bomb(recursive(again(['apply', ['builtin', 'appendString'], ['x', 'x']]), text('sixteen letters.'))),
  digits: bomb(recursive(again(['apply', ['builtin', 'multiplyInteger'], ['x', 'x']]), integer(10n ** 18n))),
  closures: bomb(recursive(again(['lam', 'k', ['apply', 'k', ['x', 'x']]]), 'context')),
  stack: bomb([
    'apply',
    ['lam', 'f', self],
    [['lam', 'f', ['apply', ['builtin', 'addInteger'], [integer(1n), self]]]],
  ]),
  traces: bomb([
    'apply',
    ['lam', 'f', self],
    [['lam', 'f', ['force', trace('x'.repeat(255), ['delay', self])]]],
  ]),
}
