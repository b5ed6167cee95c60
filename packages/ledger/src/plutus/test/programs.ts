import { flatProgram, type Term } from './flat.js'

const unit: Term = ['con', { type: 'unit' }]
const self: Term = ['apply', 'f', ['f']]

function policy(body: Term): Uint8Array {
  return flatProgram(['lam', 'context', body])
}

/** `f` applied to itself and `start`, where it is a function of itself and `x`. */
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
/** For Plutus V1 and V2, which give redeemer and context to a policy and do not look at what it returns. */
export const returningFalseOfTwo = policy(['lam', 'second', ['con', { type: 'bool', value: false }]])
export const failing = policy(['error'])
export const returningFalse = policy(['con', { type: 'bool', value: false }])
export const openTerm = policy('free')
/** Traces before it fails; arguments are evaluated, so the traces come one after the other. */
export const tracing = policy([
  'apply',
  ['lam', 'first', ['apply', ['lam', 'second', ['error']], [trace('second line', unit)]]],
  [trace('first line', unit)],
])
/** `expModInteger` came with protocol version 11. */
export const ofProtocolVersion11 = policy(['apply', ['lam', 'builtin', unit], [['builtin', 'expModInteger']]])

/** Succeeds after counting down. */
export function counting(rounds: bigint): Uint8Array {
  const done: Term = ['apply', ['builtin', 'lessThanInteger'], ['x', integer(0n)]]
  const next: Term = ['delay', again(['apply', ['builtin', 'addInteger'], ['x', integer(-1n)]])]
  const round: Term = [
    'force',
    ['apply', ['force', ['builtin', 'ifThenElse']], [done, ['delay', unit], next]],
  ]
  return policy(recursive(round, integer(rounds)))
}

/**
 * A V3 policy that succeeds if its redeemer, the script context's second field, is the integer 42, and traces what it wants
 * otherwise.
 */
export const wants42 = policy([
  'force',
  [
    'apply',
    ['force', ['builtin', 'ifThenElse']],
    [
      ['apply', ['builtin', 'equalsInteger'], [integer(42n), redeemer()]],
      ['delay', unit],
      ['delay', ['apply', ['lam', 'traced', ['error']], [trace('the redeemer must be 42', unit)]]],
    ],
  ],
])

function redeemer(): Term {
  const fields: Term = [
    'apply',
    ['force', ['force', ['builtin', 'sndPair']]],
    [['apply', ['builtin', 'unConstrData'], ['context']]],
  ]
  const second: Term = ['apply', ['force', ['builtin', 'tailList']], [fields]]
  return ['apply', ['builtin', 'unIData'], [['apply', ['force', ['builtin', 'headList']], [second]]]]
}

/** Programs that never end, each greedy of something else. */
export const bombs: { readonly [greed: string]: Uint8Array } = {
  steps: policy(['apply', ['lam', 'x', ['apply', 'x', ['x']]], [['lam', 'x', ['apply', 'x', ['x']]]]]),
  bytes: policy(
    recursive(again(['apply', ['builtin', 'appendByteString'], ['x', 'x']]), [
      'con',
      { type: 'bytestring', value: new Uint8Array(64) },
    ]),
  ),
  text: policy(
    recursive(again(['apply', ['builtin', 'appendString'], ['x', 'x']]), text('sixteen letters.')),
  ),
  digits: policy(
    recursive(again(['apply', ['builtin', 'multiplyInteger'], ['x', 'x']]), integer(10n ** 18n)),
  ),
  closures: policy(recursive(again(['lam', 'k', ['apply', 'k', ['x', 'x']]]), 'context')),
  stack: policy([
    'apply',
    ['lam', 'f', self],
    [['lam', 'f', ['apply', ['builtin', 'addInteger'], [integer(1n), self]]]],
  ]),
  traces: policy([
    'apply',
    ['lam', 'f', self],
    [['lam', 'f', ['force', trace('x'.repeat(255), ['delay', self])]]],
  ]),
}
