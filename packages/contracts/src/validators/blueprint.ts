import { CborWriter, toHex } from '@ratatosk/cbor'
import { scriptHash } from '@ratatosk/ledger'
import { type Compiled, compileValidator } from './compile.js'

/** The CIP-57 blueprint of both scripts, as `plutus.json` has it. */
export function blueprint(): object {
  return {
    preamble: {
      title: 'ratatosk/contracts',
      description: 'The state queue, operator registry and fraud proofs of an optimistic rollup',
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
          ['protocol_version', 'Integer'],
          ['verdict_policies', 'Policies'],
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
      policyEntry('transaction_fraud', compileValidator('transaction_fraud'), 'TransactionFraudProof', [
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
      ]),
      policyEntry('witness_fraud', compileValidator('witness_fraud'), 'WitnessFraudProof', [
        ['plutus_v1', 'Bytes'],
        ['plutus_v2', 'Bytes'],
        ['plutus_v3', 'Bytes'],
      ]),
    ],
    definitions,
  }
}

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

/** The entry of a minting policy. */
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

const reference = (name: string) => ({ $ref: `#/definitions/${name}` })

const variant = (title: string, index: number, fields: readonly (readonly [string, string])[]) => ({
  title,
  dataType: 'constructor',
  index,
  fields: fields.map(([name, type]) => ({ title: name, ...reference(type) })),
})

/** The types of the fields of fraud proofs. */
const proofFields = {
  transaction: 'OpenedTransaction',
  index: 'Integer',
  output: 'OpenedOutput',
  key: 'Bytes',
  spender: 'Spender',
  maker: 'Maker',
  before: 'UnspentOutput',
  after: 'UnspentOutput',
  hashes: 'Bytes',
  position: 'Integer',
  proof: 'Proof',
  later_position: 'Integer',
  record: 'Bytes',
  later_proof: 'Proof',
  value: 'Bytes',
  previous: 'PreviousRecord',
} as const

/** The types of the fields of proofs of the transaction policy. */
const transactionProofFields = {
  outputs: 'SuppliedList',
  hashes: 'Bytes',
  policy: 'Bytes',
  name: 'Bytes',
  witness_set: 'SuppliedBytes',
  auxiliary_data: 'OptionalBytes',
  output: 'OutputPlace',
  key: 'Integer',
  input: 'Integer',
  reference_input: 'Integer',
  part: 'Part',
  set: 'InputSet',
  index: 'Integer',
} as const

const definitions = {
  Integer: { dataType: 'integer' },
  Bytes: { dataType: 'bytes' },
  Hash: { title: 'Hash', dataType: 'bytes', description: 'Blake2b-224', minLength: 28, maxLength: 28 },
  Bool: { title: 'Bool', anyOf: [variant('False', 0, []), variant('True', 1, [])] },
  Credential: {
    title: 'Credential',
    anyOf: [variant('VerificationKey', 0, [['hash', 'Hash']]), variant('Script', 1, [['hash', 'Hash']])],
  },
  OutputReference: {
    title: 'OutputReference',
    anyOf: [
      variant('OutputReference', 0, [
        ['transaction_id', 'Bytes'],
        ['index', 'Integer'],
      ]),
    ],
  },
  Root: {
    title: 'Root',
    dataType: 'bytes',
    description: 'Merkle Patricia Forestry',
    minLength: 32,
    maxLength: 32,
  },
  Time: { title: 'Time', dataType: 'integer', description: 'POSIX milliseconds' },
  Link: {
    title: 'Link',
    anyOf: [variant('Some', 0, [['header_hash', 'Hash']]), variant('None', 1, [])],
  },
  ConfirmedState: {
    title: 'ConfirmedState',
    anyOf: [
      variant('ConfirmedState', 0, [
        ['header_hash', 'Hash'],
        ['prev_header_hash', 'Hash'],
        ['utxo_root', 'Root'],
        ['start_time', 'Time'],
        ['end_time', 'Time'],
        ['protocol_version', 'Integer'],
      ]),
    ],
  },
  Header: {
    title: 'Header',
    anyOf: [
      variant('Header', 0, [
        ['prev_utxos_root', 'Root'],
        ['utxos_root', 'Root'],
        ['transactions_root', 'Root'],
        ['deposits_root', 'Root'],
        ['withdrawals_root', 'Root'],
        ['start_time', 'Time'],
        ['end_time', 'Time'],
        ['prev_header_hash', 'Hash'],
        ['operator_vkey', 'Hash'],
        ['protocol_version', 'Integer'],
      ]),
    ],
  },
  Element: {
    title: 'Element',
    description: 'The root holds the confirmed state, a block its header',
    anyOf: [
      variant('Root', 0, [
        ['state', 'ConfirmedState'],
        ['link', 'Link'],
      ]),
      variant('Block', 0, [
        ['header', 'Header'],
        ['link', 'Link'],
      ]),
    ],
  },
  Approach: {
    title: 'Approach',
    description: 'Who decides a removal, and where the operator is in the registry',
    anyOf: [
      variant('Active', 0, []),
      variant('Retired', 1, []),
      variant('AlreadySlashed', 2, []),
      variant('ByAdministrator', 3, []),
    ],
  },
  QueueAction: {
    title: 'QueueAction',
    anyOf: [
      variant('Init', 0, []),
      variant('Deinit', 1, []),
      variant('Commit', 2, []),
      variant('Merge', 3, []),
      variant('Remove', 4, [
        ['header_hash', 'Hash'],
        ['approach', 'Approach'],
      ]),
      variant('Prune', 5, [['positions', 'Integers']]),
    ],
  },
  ProofStep: {
    title: 'ProofStep',
    description: 'A step of a Merkle Patricia Forestry proof',
    anyOf: [
      variant('Branch', 0, [
        ['skip', 'Integer'],
        ['neighbors', 'Bytes'],
      ]),
      variant('Fork', 1, [
        ['skip', 'Integer'],
        ['neighbor', 'Neighbor'],
      ]),
      variant('Leaf', 2, [
        ['skip', 'Integer'],
        ['key', 'Bytes'],
        ['value', 'Bytes'],
      ]),
    ],
  },
  Neighbor: {
    title: 'Neighbor',
    anyOf: [
      variant('Neighbor', 0, [
        ['nibble', 'Integer'],
        ['prefix', 'Bytes'],
        ['root', 'Root'],
      ]),
    ],
  },
  Proof: { dataType: 'list', items: reference('ProofStep') },
  SuppliedBytes: {
    title: 'SuppliedBytes',
    anyOf: [
      variant('Given', 0, [['bytes', 'Bytes']]),
      variant('InDatum', 1, [['reference_input', 'Integer']]),
    ],
  },
  OpenedRecord: {
    title: 'OpenedRecord',
    description: 'Position, record and proof',
    dataType: 'list',
    items: [reference('Integer'), reference('Bytes'), reference('Proof')],
  },
  OpenedTransaction: {
    title: 'OpenedTransaction',
    description: 'Position, record, proof and body',
    dataType: 'list',
    items: [reference('Integer'), reference('Bytes'), reference('Proof'), reference('SuppliedBytes')],
  },
  OpenedOutput: {
    title: 'OpenedOutput',
    anyOf: [
      variant('Noted', 0, [
        ['record', 'Bytes'],
        ['proof', 'Proof'],
      ]),
      variant('NotNoted', 1, [['proof', 'Proof']]),
    ],
  },
  UnspentOutput: {
    title: 'UnspentOutput',
    anyOf: [
      variant('Unspent', 0, [
        ['hash', 'Bytes'],
        ['proof', 'Proof'],
      ]),
      variant('Missing', 1, [['proof', 'Proof']]),
    ],
  },
  Spender: {
    title: 'Spender',
    anyOf: [
      variant('Known', 0, [['transaction', 'OpenedTransaction']]),
      variant('Absent', 1, [['proof', 'Proof']]),
    ],
  },
  Maker: {
    title: 'Maker',
    anyOf: [
      variant('Absent', 0, [['proof', 'Proof']]),
      variant('OfAnotherId', 1, [
        ['position', 'Integer'],
        ['record', 'Bytes'],
        ['proof', 'Proof'],
      ]),
      variant('OfFewerOutputs', 2, [
        ['transaction', 'OpenedTransaction'],
        ['index', 'Integer'],
      ]),
    ],
  },
  PreviousRecord: {
    title: 'PreviousRecord',
    anyOf: [
      variant('Previous', 0, [
        ['position', 'Integer'],
        ['record', 'Bytes'],
        ['proof', 'Proof'],
      ]),
      variant('None', 1, []),
    ],
  },
  LedgerFraudProof: {
    title: 'LedgerFraudProof',
    description:
      'A fraud in what a block does to outputs; an unspent output that is not read may be any data',
    anyOf: (
      [
        ['InputSpentElsewhere', ['transaction', 'index', 'output']],
        ['SpentWithoutInput', ['key', 'output', 'spender']],
        ['OutputNotNoted', ['transaction', 'index', 'output']],
        ['InventedOutput', ['key', 'output', 'maker']],
        ['SpentThatNeverWas', ['key', 'output', 'before']],
        ['SpentBeforeMade', ['key', 'output']],
        ['WrongOutputsAfter', ['key', 'output', 'before', 'after']],
        ['WrongResolved', ['transaction', 'index', 'hashes', 'output', 'before']],
        ['ReferenceInputMissing', ['transaction', 'index', 'output', 'before']],
        ['GapInTransactions', ['position', 'proof', 'later_position', 'record', 'later_proof']],
        ['StrangeEntry', ['key', 'value', 'proof']],
        ['WrongFees', ['transaction', 'previous']],
      ] as const
    ).map(([title, names], index) =>
      variant(title, index, [
        ['header', 'Header'],
        ...names.map((name) => [name, proofFields[name]] as const),
      ]),
    ),
  },
  SuppliedList: { dataType: 'list', items: reference('SuppliedBytes') },
  OptionalBytes: {
    title: 'OptionalBytes',
    anyOf: [variant('Some', 0, [['bytes', 'SuppliedBytes']]), variant('None', 1, [])],
  },
  OutputPlace: {
    title: 'OutputPlace',
    anyOf: [variant('Output', 0, [['index', 'Integer']]), variant('CollateralReturn', 1, [])],
  },
  InputSet: {
    title: 'InputSet',
    anyOf: [variant('Inputs', 0, []), variant('CollateralInputs', 1, []), variant('ReferenceInputs', 2, [])],
  },
  Part: {
    title: 'Part',
    anyOf: [
      variant('Body', 0, [['transaction', 'OpenedTransaction']]),
      variant('WitnessSet', 1, [
        ['record', 'OpenedRecord'],
        ['witness_set', 'SuppliedBytes'],
      ]),
    ],
  },
  TransactionFraudProof: {
    title: 'TransactionFraudProof',
    description: 'A rule that a transaction of a block breaks',
    anyOf: (
      [
        ['ValueNotPreserved', ['outputs', 'hashes', 'policy', 'name']],
        ['FeeTooSmall', ['witness_set', 'auxiliary_data', 'outputs', 'hashes']],
        ['OutputTooSmall', ['output']],
        ['OutputOnOtherNetwork', ['output']],
        ['OutsideInterval', []],
        ['ForbiddenField', ['key']],
        ['WrongNetwork', []],
        ['ForbiddenWithdrawal', []],
        ['NoInputs', []],
        ['InputIsReferenceInput', ['input', 'reference_input']],
        ['UnreadablePart', ['part']],
        ['UnreadableReference', ['set', 'index']],
      ] as const
    ).map(([title, names], index) =>
      variant(title, index, [
        ['header', 'Header'],
        ...(title === 'UnreadablePart' ? [] : [['transaction', 'OpenedTransaction'] as const]),
        ...names.map((name) => [name, transactionProofFields[name]] as const),
      ]),
    ),
  },
  WitnessNeed: {
    title: 'WitnessNeed',
    description:
      'What a transaction needs a signature or a script for; without an input, the CBOR of a byte string in the body',
    anyOf: [
      variant('Spent', 0, [
        ['index', 'Integer'],
        ['noted', 'OpenedOutput'],
        ['output', 'SuppliedBytes'],
      ]),
      variant('Minted', 1, [['policy', 'Bytes']]),
      variant('Withdrawn', 2, [['account', 'Bytes']]),
      variant('Required', 3, [['key_hash', 'Bytes']]),
    ],
  },
  WitnessFraudProof: {
    title: 'WitnessFraudProof',
    description: 'A fraud in the witnesses of a transaction',
    anyOf: [
      variant('InvalidSignature', 0, [
        ['header', 'Header'],
        ['transaction', 'OpenedRecord'],
        ['witnesses', 'SuppliedBytes'],
        ['is_bootstrap', 'Integer'],
        ['index', 'Integer'],
      ]),
      ...(
        [
          ['MissingSignature', [['need', 'WitnessNeed']]],
          [
            'NativeScriptFails',
            [
              ['need', 'WitnessNeed'],
              ['script', 'SuppliedBytes'],
            ],
          ],
          [
            'ScriptMissing',
            [
              ['need', 'WitnessNeed'],
              ['outputs', 'SuppliedList'],
            ],
          ],
          [
            'RedeemerMissing',
            [
              ['need', 'WitnessNeed'],
              ['language', 'Integer'],
              ['script', 'SuppliedBytes'],
            ],
          ],
          ['DatumMissing', [['spent', 'WitnessNeed']]],
          ['WrongScriptDataHash', []],
        ] as const
      ).map(([title, fields], place) =>
        variant(title, place + 1, [
          ['header', 'Header'],
          ['transaction', 'OpenedTransaction'],
          ['witnesses', 'SuppliedBytes'],
          ...fields,
        ]),
      ),
    ],
  },
  Operator: {
    title: 'Operator',
    anyOf: [
      variant('Operator', 0, [
        ['vkey', 'Hash'],
        ['bond', 'Integer'],
        ['active_from', 'Time'],
        ['active_until', 'OptionalTime'],
      ]),
    ],
  },
  Operators: { dataType: 'list', items: reference('Operator') },
  OptionalTime: {
    title: 'OptionalTime',
    anyOf: [variant('Some', 0, [['time', 'Time']]), variant('None', 1, [])],
  },
  Integers: { dataType: 'list', items: reference('Integer') },
  Policies: { dataType: 'list', items: reference('Hash') },
  Registry: {
    title: 'Registry',
    anyOf: [
      variant('Registry', 0, [
        ['operators', 'Operators'],
        ['queue', 'Hash'],
        ['running', 'Bool'],
      ]),
    ],
  },
  RegistryAction: {
    title: 'RegistryAction',
    anyOf: [
      variant('Init', 0, []),
      variant('Deinit', 1, []),
      variant('Register', 2, [['operator', 'Hash']]),
      variant('Retire', 3, [['operator', 'Hash']]),
      variant('Release', 4, [['operator', 'Hash']]),
      variant('Slash', 5, [
        ['operator', 'Hash'],
        ['approach', 'Approach'],
      ]),
      variant('SetQueue', 6, [['running', 'Bool']]),
    ],
  },
}
