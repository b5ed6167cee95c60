import type { UplcCase, UplcOutcome } from './uplc-suite.js'

/** Why engines deviate from the suite: what a program must contain, and what then goes wrong. */
export interface Cause {
  readonly id: string
  readonly reason: string
  explains(subject: UplcCase, outcome: UplcOutcome): boolean
}

const values = /insertCoin|lookupCoin|scaleValue|unValueData|unionValue|valueContains|valueData/

const wrong = ({ right }: UplcOutcome) => !right
const inexact = ({ right, exact }: UplcOutcome) => right && exact === false

export const causes: readonly Cause[] = [
  {
    id: 'open-term',
    reason:
      'The ledger reads a term with a free variable, and fails it when it is to be run; the suite calls it unreadable',
    explains: ({ expected }, { message }) =>
      expected.kind === 'unreadable' && message === 'ScriptFailure: cannot evaluate an open term:',
  },
  {
    id: 'values',
    reason:
      'Protocol version 11: neither engine reads constants of type value; scalus takes unordered and empty maps for values ' +
      'and charges unValueData by another size',
    explains: ({ source }, outcome) => values.test(source) && (wrong(outcome) || inexact(outcome)),
  },
  {
    id: 'case-on-constant',
    reason: 'Protocol version 11: neither engine has case on booleans, integers, lists, pairs and unit',
    explains: ({ source }, outcome) =>
      /\(\s*case\b/.test(source) && wrong(outcome) && /case expression/.test(outcome.message),
  },
  {
    id: 'multi-scalar-bound',
    reason: 'Protocol version 11: scalus does not bound the scalars of multi-scalar multiplication',
    explains: ({ source, expected }, outcome) =>
      /multiScalarMul/.test(source) && expected.kind === 'failure' && wrong(outcome),
  },
  {
    id: 'array-size',
    reason: 'Protocol version 11: scalus charges builtins of arrays by another size',
    explains: ({ source }, outcome) =>
      /lengthOfArray|indexArray|listToArray/.test(source) && inexact(outcome),
  },
  {
    id: 'shift-bound',
    reason: 'Both engines shift and rotate by amounts beyond 64 bits, which must fail',
    explains: ({ source, expected }, outcome) =>
      /shiftByteString|rotateByteString/.test(source) && expected.kind === 'failure' && wrong(outcome),
  },
  {
    id: 'text-size',
    reason:
      'Both engines measure text in characters, as protocol version 10 does; the suite measures it in words of UTF-8',
    explains: ({ source }, outcome) =>
      /appendString|encodeUtf8|equalsString/.test(source) && inexact(outcome),
  },
]
