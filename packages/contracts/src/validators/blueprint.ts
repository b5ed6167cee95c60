import { CborWriter, toHex } from '@ratatosk/cbor'
import { scriptHash } from '@ratatosk/ledger'
import { type Compiled, compileValidator } from './compile.js'
import { bridgeDefinitions } from './definitions/bridge.js'
import { fraudProofDefinitions } from './definitions/fraud-proofs.js'
import { queueDefinitions } from './definitions/queue.js'
import { reference } from './definitions/reference.js'
import { registryDefinitions } from './definitions/registry.js'
import { summonsDefinitions } from './definitions/summons.js'

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
