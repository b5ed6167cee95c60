/** A reference to a definition of the blueprint. */
export const reference = (name: string) => ({ $ref: `#/definitions/${name}` })

/** A constructor, with the definition of each of its fields. */
export const variant = (title: string, index: number, fields: readonly (readonly [string, string])[]) => ({
  title,
  dataType: 'constructor',
  index,
  fields: fields.map(([name, type]) => ({ title: name, ...reference(type) })),
})

/** Datums and redeemers of the state queue, and what all scripts share. */
export const queueDefinitions = {
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
}

export const registryDefinitions = {
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

/** Datums and redeemers of the bridge and of events. */
export const bridgeDefinitions = {
  Data: { title: 'Data', description: 'Any Plutus data' },
  OutputDatum: {
    title: 'OutputDatum',
    anyOf: [
      variant('NoDatum', 0, []),
      variant('DatumHash', 1, [['hash', 'Bytes']]),
      variant('InlineDatum', 2, [['data', 'Data']]),
    ],
  },
  BridgeDatum: {
    title: 'BridgeDatum',
    description: 'The datum of a deposit or a settlement; a reserve has none',
    anyOf: [
      variant('Deposit', 0, [
        ['id', 'Bytes'],
        ['time', 'Time'],
        ['address', 'Bytes'],
        ['datum', 'OutputDatum'],
        ['output_hash', 'Bytes'],
      ]),
      variant('Settlement', 1, [
        ['root', 'Root'],
        ['time', 'Time'],
      ]),
    ],
  },
  EventAction: { title: 'EventAction', anyOf: [variant('Event', 0, [])] },
  SettleAction: { title: 'SettleAction', anyOf: [variant('Settle', 0, [])] },
  OtherChild: {
    title: 'OtherChild',
    description: 'Nibble, hash and siblings of a child of a branch',
    dataType: 'list',
    items: [reference('Integer'), reference('Bytes'), reference('Bytes')],
  },
  DeletionStep: {
    title: 'DeletionStep',
    description: 'A step of a proof, or its last branch with another child that shows that two are left',
    anyOf: [
      reference('ProofStep'),
      variant('Branch', 0, [
        ['skip', 'Integer'],
        ['neighbors', 'Bytes'],
        ['other', 'OtherChild'],
      ]),
    ],
  },
  DeletionProof: { dataType: 'list', items: reference('DeletionStep') },
  OwedEntry: {
    title: 'OwedEntry',
    description: 'Key and output of layer 2, and the proof',
    dataType: 'list',
    items: [reference('Bytes'), reference('Bytes'), reference('DeletionProof')],
  },
  OwedEntries: { dataType: 'list', items: reference('OwedEntry') },
  BridgeSpend: {
    title: 'BridgeSpend',
    anyOf: [
      variant('Follow', 0, [['leader', 'Integer']]),
      variant('Pay', 1, [['entries', 'OwedEntries']]),
      variant('Tidy', 2, []),
    ],
  },
}

export const summonsDefinitions = {
  Question: {
    title: 'Question',
    description:
      'What a header commits to; `root` is the index of a field of the header. The key of a chunk is its ' +
      'number; that of a node is a path and the number of its nibbles above the node, below which `Entry` ' +
      'is about this path',
    anyOf: ['Chunk', 'Subtree', 'Leaf', 'Entry'].map((title, index) =>
      variant(title, index, [
        ['header_hash', 'Hash'],
        ['root', 'Integer'],
        ['key', 'Bytes'],
        ['hash', 'Root'],
        ['deadline', 'Time'],
        ['refund', 'Hash'],
      ]),
    ),
  },
  MapNode: {
    title: 'MapNode',
    anyOf: [
      variant('Branch', 0, [
        ['prefix', 'Bytes'],
        ['children', 'Bytes'],
      ]),
      variant('Leaf', 1, [
        ['path', 'Bytes'],
        ['value', 'Bytes'],
      ]),
      variant('None', 2, []),
    ],
  },
  MapNodes: { dataType: 'list', items: reference('MapNode') },
  NodeAnswer: {
    title: 'NodeAnswer',
    anyOf: [
      variant('Branch', 0, [
        ['prefix', 'Bytes'],
        ['children', 'Bytes'],
        ['nodes', 'MapNodes'],
      ]),
      variant('Leaf', 1, [
        ['path', 'Bytes'],
        ['value', 'Bytes'],
        ['steps', 'ProofSteps'],
      ]),
      variant('None', 2, [['steps', 'ProofSteps']]),
    ],
  },
  ChunkAnswer: {
    title: 'ChunkAnswer',
    anyOf: [
      variant('Shown', 0, [
        ['entry', 'Bytes'],
        ['proof', 'ProofSteps'],
        ['parts', 'SuppliedParts'],
      ]),
      variant('Absent', 1, [['proof', 'ProofSteps']]),
    ],
  },
  Ways: { dataType: 'list', items: reference('ProofSteps') },
  SuppliedParts: { dataType: 'list', items: reference('SuppliedBytes') },
  QuestionAnswer: {
    title: 'QuestionAnswer',
    anyOf: [reference('ChunkAnswer'), reference('NodeAnswer')],
  },
  SummonsAction: {
    title: 'SummonsAction',
    anyOf: [
      variant('Ask', 0, [
        ['header', 'Header'],
        ['ways', 'Ways'],
      ]),
      variant('Answer', 1, [
        ['refund', 'Integer'],
        ['answer', 'QuestionAnswer'],
      ]),
      variant('Expire', 2, [['refund', 'Integer']]),
      variant('Reclaim', 3, [['refund', 'Integer']]),
    ],
  },
}
