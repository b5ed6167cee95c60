import { compile, type PType, type Term } from '@harmoniclabs/plu-ts'
import type { ValidatorTitle } from '../script/apply.js'
import { bridge } from './bridge/bridge.js'
import { events } from './bridge/events.js'
import { unIData } from './core/builtins.js'
import { createInstrumentedRuleBook, createRuleBook, type RuleBook } from './core/rules.js'
import { type Data, lambda, linked, type Unit } from './core/term.js'
import { readingCheck } from './fraud/cbor/check-reading.js'
import { ledgerFraud, transactionFraud, transactionFraudOfVersion11, witnessFraud } from './fraud/policies.js'
import { proofCheck } from './mpf/check.js'
import { stateQueue } from './queue/state-queue.js'
import { operatorRegistry } from './registry/registry.js'
import { summons } from './summons/summons.js'

/** A compiled validator, not yet applied to its parameters. */
export interface Compiled {
  readonly program: Uint8Array
  readonly rules: readonly string[]
}

const plutusV3 = [1, 1, 0] as const

const transactionRules = [
  'slotZeroTime',
  'slotLength',
  'networkId',
  'minFeeA',
  'minFeeB',
  'memoryPrice',
  'stepPrice',
  'unitPriceDenominator',
  'scriptPrice',
  'scriptPriceDenominator',
  'coinsPerUtxoByte',
] as const

const terms: { readonly [title in ValidatorTitle]: (book: RuleBook) => Term<PType> } = {
  state_queue: (book) =>
    withParameters(
      [
        'rootName',
        'administrator',
        'maturityWindow',
        'registryPolicy',
        'turnLength',
        'takeOverAfter',
        'blockVersion',
        'verdictPolicies',
        'bridge',
      ],
      (parameters) => lambda((context: Data) => stateQueue(book, parameters, context)),
    ),
  operator_registry: (book) =>
    withParameters(
      [
        'tokenName',
        'rootName',
        'administrator',
        'deploymentOutput',
        'permissioned',
        'bond',
        'turnLength',
        'releaseDelay',
        'maxOperators',
        'slashPenalty',
      ],
      (parameters) => lambda((context: Data) => operatorRegistry(book, parameters, context)),
    ),
  ledger_fraud: (book) => lambda((context: Data) => ledgerFraud(book, context)),
  transaction_fraud: (book) =>
    withParameters(transactionRules, (parameters) =>
      lambda((context: Data) => transactionFraud(book, parameters, context)),
    ),
  transaction_fraud_11: (book) =>
    withParameters(transactionRules, (parameters) =>
      lambda((context: Data) => transactionFraudOfVersion11(book, parameters, context)),
    ),
  witness_fraud: (book) =>
    withParameters(['plutusV1', 'plutusV2', 'plutusV3'], ({ plutusV1, plutusV2, plutusV3 }) =>
      lambda((context: Data) => witnessFraud(book, [plutusV2, plutusV3, plutusV1], context)),
    ),
  summons: (book) =>
    withParameters(['bond', 'reward', 'byteReward', 'period', 'maturityWindow'], (parameters) =>
      lambda((context: Data) => summons(book, parameters, context)),
    ),
  bridge: (book) =>
    withParameters(['registryPolicy', 'rootName', 'bridged', 'reserveMin', 'payoutFee'], (parameters) =>
      lambda((context: Data) => bridge(book, parameters, context)),
    ),
  events: (book) =>
    withParameters(['bridge', 'eventWait', 'networkId', 'bridged'], (parameters) =>
      lambda((context: Data) => events(book, parameters, context)),
    ),
}

function withParameters<Name extends string>(
  names: readonly Name[],
  body: (parameters: { readonly [name in Name]: Data }) => Term<PType>,
): Term<PType> {
  const take = (taken: Partial<Record<Name, Data>>, rest: readonly Name[]): Term<PType> => {
    const [name, ...others] = rest
    if (name === undefined) return body(taken as Record<Name, Data>)
    return lambda((value: Data) => take({ ...taken, [name]: value }, others))
  }
  return take({}, names)
}

export function compileValidator(title: ValidatorTitle): Compiled {
  const book = createRuleBook()
  const program = compile(linked(terms[title](book)), plutusV3)
  return { program, rules: [...book.names] }
}

/**
 * Compiles a validator for tests, with the place of a rule to skip as an additional first parameter, and with
 * traces that name the rules: see {@link createInstrumentedRuleBook}.
 */
export function compileInstrumented(title: ValidatorTitle): Compiled {
  const names = new Set<string>()
  const term = lambda((skipped: Data) => {
    const book = createInstrumentedRuleBook(unIData(skipped), names)
    return terms[title](book)
  })
  const program = compile(linked(term), plutusV3)
  return { program, rules: [...names] }
}

/** Compiles the validator of trie proofs, which has no parameters. */
export const compileProofCheck = (): Compiled => compileCheck(proofCheck)

/** Compiles the validator that reads transaction bodies, which has no parameters. */
export const compileReadingCheck = (): Compiled => compileCheck(readingCheck)

function compileCheck(check: (book: RuleBook, context: Data) => Unit): Compiled {
  const book = createRuleBook()
  const program = compile(linked(lambda((context: Data) => check(book, context))), plutusV3)
  return { program, rules: [...book.names] }
}
