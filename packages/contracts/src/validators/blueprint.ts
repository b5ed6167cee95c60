import { compile, type PType, type Term } from '@harmoniclabs/plu-ts'
import { CborWriter, toHex } from '@ratatosk/cbor'
import { scriptHash } from '@ratatosk/ledger'
import type { ValidatorTitle } from '../scripts.js'
import { bridge } from './bridge/bridge.js'
import { events } from './bridge/events.js'
import { createInstrumentedRuleBook, createRuleBook, type RuleBook } from './core/rules.js'
import * as p from './core/term.js'
import {
  bridgeDefinitions,
  queueDefinitions,
  reference,
  registryDefinitions,
  summonsDefinitions,
} from './definitions/contracts.js'
import { fraudProofDefinitions } from './definitions/fraud-proofs.js'
import { readingCheck } from './fraud/cbor/references.js'
import { ledgerFrauds } from './fraud/ledger/frauds.js'
import { fraudPolicy } from './fraud/policy.js'
import { transactionFrauds, transactionFraudsOfVersion11 } from './fraud/transaction/frauds.js'
import type { RuleParameters } from './fraud/transaction/opening.js'
import { type LanguageViews, witnessFrauds } from './fraud/witness/frauds.js'
import { proofCheck } from './mpf/proof.js'
import { stateQueue } from './queue/state-queue.js'
import { operatorRegistry } from './registry/registry.js'
import { summons } from './summons/summons.js'

/** Proves that a block does to outputs what no valid block does. Without parameters. */
const ledgerFraud = (book: RuleBook, context: p.Data): p.Unit => fraudPolicy(book, ledgerFrauds, context)

/** Proves that a transaction breaks a rule of its own. The parameters are the rules of the layer 2. */
const transactionFraud = (book: RuleBook, parameters: RuleParameters, context: p.Data): p.Unit =>
  fraudPolicy(book, transactionFrauds(parameters), context)

/** The same for ledger version 11. */
const transactionFraudOfVersion11 = (book: RuleBook, parameters: RuleParameters, context: p.Data): p.Unit =>
  fraudPolicy(book, transactionFraudsOfVersion11(parameters), context)

/**
 * Proves that a transaction lacks a signature, script, redeemer or datum, or has a wrong one. `views`: the
 * cost models by which the layer 2 judges its transactions.
 */
const witnessFraud = (book: RuleBook, views: LanguageViews, context: p.Data): p.Unit =>
  fraudPolicy(book, witnessFrauds(views), context)

/** A compiled validator, not yet applied to its parameters. */
export interface Compiled {
  readonly program: Uint8Array
  readonly rules: readonly string[]
}

const plutusV3 = [1, 1, 0] as const

const transactionParameters = [
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
      (parameters) => p.lambda((context: p.Data) => stateQueue(book, parameters, context)),
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
      (parameters) => p.lambda((context: p.Data) => operatorRegistry(book, parameters, context)),
    ),
  ledger_fraud: (book) => p.lambda((context: p.Data) => ledgerFraud(book, context)),
  transaction_fraud: (book) =>
    withParameters(transactionParameters, (parameters) =>
      p.lambda((context: p.Data) => transactionFraud(book, parameters, context)),
    ),
  transaction_fraud_11: (book) =>
    withParameters(transactionParameters, (parameters) =>
      p.lambda((context: p.Data) => transactionFraudOfVersion11(book, parameters, context)),
    ),
  witness_fraud: (book) =>
    withParameters(['plutusV1', 'plutusV2', 'plutusV3'], ({ plutusV1, plutusV2, plutusV3 }) =>
      p.lambda((context: p.Data) => witnessFraud(book, [plutusV2, plutusV3, plutusV1], context)),
    ),
  summons: (book) =>
    withParameters(['bond', 'reward', 'byteReward', 'period', 'maturityWindow'], (parameters) =>
      p.lambda((context: p.Data) => summons(book, parameters, context)),
    ),
  bridge: (book) =>
    withParameters(['registryPolicy', 'rootName', 'bridged', 'reserveMin', 'payoutFee'], (parameters) =>
      p.lambda((context: p.Data) => bridge(book, parameters, context)),
    ),
  events: (book) =>
    withParameters(['bridge', 'eventWait', 'networkId', 'bridged'], (parameters) =>
      p.lambda((context: p.Data) => events(book, parameters, context)),
    ),
}

function withParameters<Name extends string>(
  names: readonly Name[],
  body: (parameters: { readonly [name in Name]: p.Data }) => Term<PType>,
): Term<PType> {
  const take = (taken: Partial<Record<Name, p.Data>>, rest: readonly Name[]): Term<PType> => {
    const [name, ...others] = rest
    if (name === undefined) return body(taken as Record<Name, p.Data>)
    return p.lambda((value: p.Data) => take({ ...taken, [name]: value }, others))
  }
  return take({}, names)
}

function compileValidator(title: ValidatorTitle): Compiled {
  const book = createRuleBook()
  const program = compile(p.linked(terms[title](book)), plutusV3)
  return { program, rules: [...book.names] }
}

/**
 * Compiles a validator for tests, with the place of a rule to skip as an additional first parameter, and with
 * traces that name the rules: see {@link createInstrumentedRuleBook}.
 */
export function compileInstrumented(title: ValidatorTitle): Compiled {
  const names = new Set<string>()
  const term = p.lambda((skipped: p.Data) => {
    const book = createInstrumentedRuleBook(p.unIData(skipped), names)
    return terms[title](book)
  })
  const program = compile(p.linked(term), plutusV3)
  return { program, rules: [...names] }
}

/** Compiles the validator of trie proofs, which has no parameters. */
export const compileProofCheck = (): Compiled => compileCheck(proofCheck)

/** Compiles the validator that reads transaction bodies, which has no parameters. */
export const compileReadingCheck = (): Compiled => compileCheck(readingCheck)

function compileCheck(check: (book: RuleBook, context: p.Data) => p.Unit): Compiled {
  const book = createRuleBook()
  const program = compile(p.linked(p.lambda((context: p.Data) => check(book, context))), plutusV3)
  return { program, rules: [...book.names] }
}

/** The CIP-57 blueprint of all scripts, as `plutus.json` has it. */
export function blueprint(): object {
  return {
    preamble: {
      title: 'ratatosk/contracts',
      description:
        'The state queue, operator registry, fraud proofs, summons and bridge of an optimistic rollup',
      version: '0.1.0',
      plutusVersion: 'v3',
      license: 'Apache-2.0',
    },
    validators: [
      ...entries('state_queue', compileValidator('state_queue'), {
        mint: 'QueueAction',
        spend: 'Integer',
        datum: 'Element',
        parameters: [
          ['root_name', 'Bytes'],
          ['administrator', 'Credential'],
          ['maturity_window', 'Integer'],
          ['registry_policy', 'Hash'],
          ['turn_length', 'Integer'],
          ['takeover_after', 'Integer'],
          ['protocol_version', 'Integer'],
          ['verdict_policies', 'Policies'],
          ['bridge', 'Bytes'],
        ],
      }),
      ...entries('operator_registry', compileValidator('operator_registry'), {
        mint: 'RegistryAction',
        spend: 'RegistryAction',
        datum: 'Registry',
        parameters: [
          ['token_name', 'Bytes'],
          ['root_name', 'Bytes'],
          ['administrator', 'Credential'],
          ['deployment_output', 'OutputReference'],
          ['permissioned', 'Bool'],
          ['bond', 'Integer'],
          ['turn_length', 'Integer'],
          ['release_delay', 'Integer'],
          ['max_operators', 'Integer'],
          ['slash_penalty', 'Integer'],
        ],
      }),
      policyEntry('ledger_fraud', compileValidator('ledger_fraud'), 'LedgerFraudProof'),
      ...(['transaction_fraud', 'transaction_fraud_11'] as const).map((title) =>
        policyEntry(title, compileValidator(title), 'TransactionFraudProof', transactionRules),
      ),
      policyEntry('witness_fraud', compileValidator('witness_fraud'), 'WitnessFraudProof', [
        ['plutus_v1', 'Bytes'],
        ['plutus_v2', 'Bytes'],
        ['plutus_v3', 'Bytes'],
      ]),
      ...entries('summons', compileValidator('summons'), {
        mint: 'SummonsAction',
        spend: 'SummonsAction',
        datum: 'Question',
        parameters: [
          ['bond', 'Integer'],
          ['reward', 'Integer'],
          ['byte_reward', 'Integer'],
          ['period', 'Integer'],
          ['maturity_window', 'Integer'],
        ],
      }),
      ...entries('bridge', compileValidator('bridge'), {
        mint: 'SettleAction',
        spend: 'BridgeSpend',
        datum: 'BridgeDatum',
        parameters: [
          ['registry_policy', 'Hash'],
          ['root_name', 'Bytes'],
          ['bridged', 'Policies'],
          ['reserve_min', 'Integer'],
          ['payout_fee', 'Integer'],
        ],
      }),
      policyEntry('events', compileValidator('events'), 'EventAction', [
        ['bridge', 'Hash'],
        ['event_wait', 'Integer'],
        ['network_id', 'Integer'],
        ['bridged', 'Policies'],
      ]),
    ],
    definitions,
  }
}

const transactionRules: Interface['parameters'] = [
  ['slot_zero_time', 'Integer'],
  ['slot_length', 'Integer'],
  ['network_id', 'Integer'],
  ['min_fee_a', 'Integer'],
  ['min_fee_b', 'Integer'],
  ['memory_price', 'Integer'],
  ['step_price', 'Integer'],
  ['unit_price_denominator', 'Integer'],
  ['script_price', 'Integer'],
  ['script_price_denominator', 'Integer'],
  ['coins_per_utxo_byte', 'Integer'],
]

interface Interface {
  readonly mint: string
  readonly spend: string
  readonly datum: string
  readonly parameters: readonly (readonly [title: string, type: string])[]
}

/** The entries of a script for minting and for spending; both have the same code. */
function entries(name: string, { program }: Compiled, types: Interface): object[] {
  const code = new CborWriter(program.length + 5).bytes(program).toBytes()
  const shared = {
    parameters: parameterEntries(types.parameters),
    compiledCode: toHex(code),
    hash: toHex(scriptHash('PlutusV3', code)),
  }
  return [
    { title: `${name}.mint`, redeemer: { title: 'redeemer', schema: reference(types.mint) }, ...shared },
    {
      title: `${name}.spend`,
      datum: { title: 'datum', schema: reference(types.datum) },
      redeemer: { title: 'redeemer', schema: reference(types.spend) },
      ...shared,
    },
  ]
}

function policyEntry(
  name: string,
  { program }: Compiled,
  redeemer: string,
  parameters: Interface['parameters'] = [],
): object {
  const code = new CborWriter(program.length + 5).bytes(program).toBytes()
  return {
    title: `${name}.mint`,
    redeemer: { title: 'redeemer', schema: reference(redeemer) },
    ...(parameters.length > 0 && { parameters: parameterEntries(parameters) }),
    compiledCode: toHex(code),
    hash: toHex(scriptHash('PlutusV3', code)),
  }
}

const parameterEntries = (parameters: Interface['parameters']) =>
  parameters.map(([title, type]) => ({ title, schema: reference(type) }))

const definitions = {
  ...queueDefinitions,
  ...fraudProofDefinitions,
  ...registryDefinitions,
  ...summonsDefinitions,
  ...bridgeDefinitions,
}
