import { CborWriter } from '@ratatosk/cbor'
import { blake2b224 } from '#crypto'
import type { ProtocolParameters } from '../../parameters/types.js'
import type { EvaluationResult, Evaluator, ExecutionUnits } from '../../rules/script-evaluator.js'
import { decodeTransaction } from '../../transaction/decode.js'
import { outputReferenceKey } from '../../transaction/output-reference.js'
import type { PlutusLanguage, Transaction, TransactionOutput } from '../../transaction/types.js'
import { flatProgram, scriptBytes, type Term } from './flat.js'

const languages = {
  PlutusV1: { tag: 1, witnessKey: 3 },
  PlutusV2: { tag: 2, witnessKey: 6 },
  PlutusV3: { tag: 3, witnessKey: 7 },
}

export interface Mint {
  readonly flat: Uint8Array
  readonly language?: PlutusLanguage
  readonly declared?: ExecutionUnits
  /** 0 by default. */
  readonly redeemer?: bigint
  /** Whether the body is a map of indefinite length. */
  readonly indefinite?: boolean
}

/** A transaction that mints one token with a script as its policy, and the output that it spends. */
export function mintTransaction(mint: Mint): {
  transaction: Transaction
  utxos: Map<string, TransactionOutput>
} {
  const { language = 'PlutusV3', declared = { memory: 14_000_000n, steps: 10_000_000_000n } } = mint
  const { tag, witnessKey } = languages[language]
  const script = scriptBytes(mint.flat)
  const policy = blake2b224(Uint8Array.of(tag, ...script))
  const input = { transactionId: new Uint8Array(32).fill(1), index: 0 }
  const output = new CborWriter().map(2).uint(0).bytes(testAddress).uint(1).uint(5_000_000).toBytes()

  const body = new CborWriter()
  if (mint.indefinite === true) body.indefiniteMap()
  else body.map(4)
  body.uint(0).array(1).array(2).bytes(input.transactionId).uint(input.index)
  body.uint(1).array(1).raw(output)
  body.uint(2).uint(200_000)
  body.uint(9).map(1).bytes(policy).map(1).bytes(new Uint8Array()).uint(1)
  if (mint.indefinite === true) body.break()

  const witnesses = new CborWriter(script.length + 64).map(2).uint(witnessKey).array(1).bytes(script)
  witnesses.uint(5).map(1).array(2).uint(1).uint(0)
  witnesses
    .array(2)
    .int(mint.redeemer ?? 0n)
    .array(2)
    .uint(declared.memory)
    .uint(declared.steps)

  const bytes = new CborWriter(script.length + 512)
    .array(4)
    .raw(body.toBytes())
    .raw(witnesses.toBytes())
    .boolean(true)
    .null()
    .toBytes()
  const transaction = decodeTransaction(bytes)
  const [spent] = transaction.body.outputs
  if (spent === undefined) throw new Error('The transaction has an output')
  return { transaction, utxos: new Map([[outputReferenceKey(input), spent]]) }
}

/** A key hash's address on a test network. */
const testAddress = Uint8Array.of(0x60, ...new Uint8Array(28).fill(7))

/** Evaluates such a transaction; a slot lasts a second. */
export function evaluateMint(
  evaluator: Evaluator,
  mint: Mint,
  parameters: ProtocolParameters,
): Promise<EvaluationResult> {
  const { transaction, utxos } = mintTransaction(mint)
  return evaluator.evaluate(transaction, utxos, parameters, { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 })
}

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
