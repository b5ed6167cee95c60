import { variant } from './reference.js'

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
