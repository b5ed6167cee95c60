import { reference, variant } from './contracts.js'

const witnessProofDefinitions = {
  WitnessNeed: {
    title: 'WitnessNeed',
    description:
      'What a transaction needs a signature or a script for; without an input, the CBOR of a byte string ' +
      'in the body',
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
          [
            'UnreadableScript',
            [
              ['need', 'WitnessNeed'],
              ['script', 'SuppliedBytes'],
            ],
          ],
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
}

/** The types of the redeemer of `wrongChunk`. */
const chunkProofDefinitions = {
  OpenedChunk: {
    title: 'OpenedChunk',
    description: 'Number, record and proof',
    dataType: 'list',
    items: [reference('Integer'), reference('Bytes'), reference('Proof')],
  },
  ShownChunk: {
    title: 'ShownChunk',
    description: 'Number, record, proof and bytes in parts',
    dataType: 'list',
    items: [reference('Integer'), reference('Bytes'), reference('Proof'), reference('SuppliedList')],
  },
  ChunkHolder: {
    title: 'ChunkHolder',
    anyOf: [
      variant('Chunk', 0, [['chunk', 'OpenedChunk']]),
      variant('Transaction', 1, [['record', 'OpenedRecord']]),
    ],
  },
  AbsentPosition: {
    title: 'AbsentPosition',
    description: 'Position and proof',
    dataType: 'list',
    items: [reference('Integer'), reference('Proof')],
  },
  NextTransaction: {
    title: 'NextTransaction',
    description: 'A transaction, and what is behind its witness set',
    dataType: 'list',
    items: [reference('OpenedTransaction'), reference('SuppliedBytes')],
  },
  ChunkFlaw: {
    title: 'ChunkFlaw',
    anyOf: [
      variant('CountsDiffer', 0, [
        ['chunk', 'OpenedChunk'],
        ['other', 'OpenedChunk'],
      ]),
      variant('Misplaced', 1, [['chunk', 'OpenedChunk']]),
      variant('Missing', 2, [
        ['number', 'Integer'],
        ['proof', 'Proof'],
        ['holder', 'ChunkHolder'],
      ]),
      variant('NextElsewhere', 3, [
        ['chunk', 'ShownChunk'],
        ['next', 'OpenedChunk'],
      ]),
      variant('TransactionsLeft', 4, [
        ['chunk', 'ShownChunk'],
        ['record', 'OpenedRecord'],
      ]),
      variant('InventedTransaction', 5, [
        ['chunk', 'ShownChunk'],
        ['absent', 'AbsentPosition'],
      ]),
      variant('OtherTransaction', 6, [
        ['chunk', 'ShownChunk'],
        ['record', 'OpenedRecord'],
      ]),
      variant('StrangeRest', 7, [
        ['chunk', 'ShownChunk'],
        ['place', 'Integer'],
      ]),
      variant('Malformed', 8, [['chunk', 'ShownChunk']]),
      variant('TooShort', 9, [
        ['chunk', 'ShownChunk'],
        ['next', 'NextTransaction'],
      ]),
    ],
  },
} as const

const proofFields = {
  transaction: 'OpenedTransaction',
  index: 'Integer',
  output: 'OpenedOutput',
  key: 'Bytes',
  spender: 'Spender',
  maker: 'Maker',
  path: 'Bytes',
  before: 'UnspentOutput',
  deposits: 'UnspentOutput',
  after: 'UnspentOutput',
  hashes: 'Bytes',
  position: 'Integer',
  proof: 'Proof',
  later_position: 'Integer',
  record: 'Bytes',
  later_proof: 'Proof',
  key_parts: 'SuppliedList',
  value_parts: 'SuppliedList',
  previous: 'PreviousRecord',
  parts: 'ShownParts',
  first: 'Integer',
  outputs: 'ResolvedOutputs',
  part: 'Part',
  flaw: 'ChunkFlaw',
} as const

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
  read_part: 'ReadPart',
  set: 'InputSet',
  index: 'Integer',
  other_index: 'Integer',
  field_key: 'Integer',
  policy_index: 'Integer',
  name_index: 'Integer',
  record: 'OpenedRecord',
  is_bootstrap: 'Integer',
  path: 'Places',
  same: 'Places',
} as const

const partVariants = [
  variant('Body', 0, [['transaction', 'OpenedTransaction']]),
  variant('WitnessSet', 1, [
    ['record', 'OpenedRecord'],
    ['witness_set', 'SuppliedBytes'],
  ]),
]

export const fraudProofDefinitions = {
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
  ProofSteps: { dataType: 'list', items: reference('ProofStep') },
  Proof: {
    title: 'Proof',
    anyOf: [reference('ProofSteps'), variant('InDatum', 1, [['reference_input', 'Integer']])],
  },
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
      variant('Left', 2, [['withdrawals', 'UnspentOutput']]),
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
  ResolvedOutput: {
    title: 'ResolvedOutput',
    description: 'What the block notes of an output and, if that is nothing, the output before the block',
    dataType: 'list',
    items: [reference('OpenedOutput'), reference('UnspentOutput')],
  },
  ResolvedOutputs: { dataType: 'list', items: reference('ResolvedOutput') },
  ShownPart: {
    title: 'ShownPart',
    description:
      'What a token shows: hashes of outputs, the place behind that of the last, and the reference input ' +
      'that holds the token',
    dataType: 'list',
    items: [reference('Bytes'), reference('Integer'), reference('Integer')],
  },
  ShownParts: { dataType: 'list', items: reference('ShownPart') },
  LedgerFraudProof: {
    title: 'LedgerFraudProof',
    description:
      'A fraud in what a block does to outputs, or what references of a transaction stand for; an unspent ' +
      'output that is not read may be any data',
    anyOf: (
      [
        ['InputSpentElsewhere', ['transaction', 'index', 'output']],
        ['SpentWithoutInput', ['key', 'output', 'spender']],
        ['OutputNotNoted', ['transaction', 'index', 'output']],
        ['InventedOutput', ['key', 'output', 'maker']],
        ['StrayFromBefore', ['key', 'output', 'before', 'deposits']],
        ['SpentBeforeMade', ['key', 'output']],
        ['WrongOutputsAfter', ['path', 'output', 'before', 'after']],
        ['WrongResolved', ['transaction', 'index', 'hashes', 'output', 'before']],
        ['ReferenceInputMissing', ['transaction', 'index', 'output', 'before']],
        ['GapInTransactions', ['position', 'proof', 'later_position', 'record', 'later_proof']],
        ['StrangeEntry', ['key_parts', 'value_parts', 'proof']],
        ['WrongFees', ['transaction', 'previous']],
        ['WrongResolvedHash', ['position', 'record', 'proof', 'parts']],
        ['WrongLength', ['part']],
        ['TooLong', ['position', 'record', 'proof']],
        ['WrongChunk', ['flaw']],
        ['Resolution', ['transaction', 'first', 'outputs']],
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
  Places: { dataType: 'list', items: reference('Integer') },
  Part: { title: 'Part', anyOf: partVariants },
  ReadPart: {
    title: 'ReadPart',
    description: 'A body, a witness set, or the outputs that inputs and reference inputs stand for',
    anyOf: [
      ...partVariants,
      variant('Resolved', 2, [
        ['record', 'OpenedRecord'],
        ['outputs', 'SuppliedList'],
        ['hashes', 'Bytes'],
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
        ['UnreadablePart', ['read_part']],
        ['UnreadableReference', ['set', 'index']],
        ['MalformedPart', ['part']],
        ['StrangeField', ['part', 'field_key', 'policy_index', 'name_index']],
        ['StrangeOutput', ['output', 'policy_index', 'name_index']],
        ['StrangeWitness', ['record', 'witness_set', 'is_bootstrap', 'index']],
        ['RepeatedReference', ['set', 'index', 'other_index']],
        ['TooMany', ['part']],
        ['StrangeItem', ['part', 'path', 'same']],
      ] as const
    ).map(([title, names], index) =>
      variant(title, index, [
        ['header', 'Header'],
        ...(names.some((name) => name === 'part' || name === 'read_part' || name === 'record')
          ? []
          : [['transaction', 'OpenedTransaction'] as const]),
        ...names.map((name) => [name, transactionProofFields[name]] as const),
      ]),
    ),
  },
  ...chunkProofDefinitions,
  ...witnessProofDefinitions,
}
