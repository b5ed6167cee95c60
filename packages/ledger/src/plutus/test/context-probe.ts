import { flatProgram, type Term } from './flat.js'

const integer = (value: bigint): Term => ['con', { type: 'integer', value }]
const bytes = (value: Uint8Array): Term => ['con', { type: 'bytestring', value }]
const call = (name: Extract<Term, readonly ['builtin', unknown]>[1], ...args: Term[]): Term => [
  'apply',
  ['builtin', name],
  args,
]

const digits = bytes(new Uint8Array(Buffer.from('0123456789abcdef')))
const digit = (value: Term): Term => call('indexByteString', digits, value)

/** The hex digits of a hash from byte `x` on, where `f` is this function itself. */
const hexFrom: Term = [
  'lam',
  'f',
  [
    'lam',
    'x',
    [
      'force',
      [
        'apply',
        ['force', ['builtin', 'ifThenElse']],
        [
          call('lessThanInteger', 'x', integer(32n)),
          [
            'delay',
            call(
              'consByteString',
              digit(call('divideInteger', byteAt('x'), integer(16n))),
              call('consByteString', digit(call('modInteger', byteAt('x'), integer(16n))), [
                'apply',
                'f',
                ['f', call('addInteger', 'x', integer(1n))],
              ]),
            ),
          ],
          ['delay', bytes(new Uint8Array())],
        ],
      ],
    ],
  ],
]

function byteAt(place: Term): Term {
  return call('indexByteString', 'hash', place)
}

/**
 * A script that traces the hash of its last argument, the script context, and fails: so the contexts of
 * engines that return only traces can be compared. `before` counts the other arguments.
 */
export function contextProbe(before: number): Uint8Array {
  const hash = call('blake2b_256', call('serialiseData', 'context'))
  const hex: Term = ['apply', ['lam', 'f', ['apply', 'f', ['f', integer(0n)]]], [hexFrom]]
  const traced: Term = [
    'apply',
    ['force', ['builtin', 'trace']],
    [call('decodeUtf8', ['apply', ['lam', 'hash', hex], [hash]]), ['con', { type: 'unit' }]],
  ]
  let program: Term = ['lam', 'context', ['apply', ['lam', 'traced', ['error']], [traced]]]
  for (let i = 0; i < before; i++) program = ['lam', `argument ${i}`, program]
  return flatProgram(program)
}
