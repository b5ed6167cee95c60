import { CborWriter, scriptHash, toHex } from '@ratatosk/ledger'
import { type Compiled, compileOperatorRegistry, compileStateQueue } from './compile.js'

/** The CIP-57 blueprint of both scripts. */
export function blueprint(): object {
  return {
    preamble: {
      title: 'ratatosk/contracts',
      description: 'The state queue and operator registry of an optimistic rollup',
      version: '0.1.0',
      plutusVersion: 'v3',
      license: 'Apache-2.0',
    },
    validators: [
      ...entries('state_queue', compileStateQueue(), {
        mint: 'QueueAction',
        spend: 'Data',
        datum: 'Element',
        parameters: [
          ['root_name', 'Bytes'],
          ['administrator', 'Hash'],
          ['maturity_window', 'Integer'],
          ['registry_policy', 'Hash'],
          ['turn_length', 'Integer'],
        ],
      }),
      ...entries('operator_registry', compileOperatorRegistry(), {
        mint: 'RegistryAction',
        spend: 'RegistryAction',
        datum: 'Registry',
        parameters: [
          ['token_name', 'Bytes'],
          ['administrator', 'Hash'],
          ['bond', 'Integer'],
          ['release_delay', 'Integer'],
          ['max_operators', 'Integer'],
        ],
      }),
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

/** One script serves both purposes, so both entries have its code. */
function entries(name: string, { program }: Compiled, face: Interface): object[] {
  const code = new CborWriter(program.length + 5).bytes(program).toBytes()
  const shared = {
    parameters: face.parameters.map(([title, type]) => ({ title, schema: reference(type) })),
    compiledCode: toHex(code),
    hash: toHex(scriptHash('PlutusV3', code)),
  }
  return [
    { title: `${name}.mint`, redeemer: { title: 'redeemer', schema: reference(face.mint) }, ...shared },
    {
      title: `${name}.spend`,
      datum: { title: 'datum', schema: reference(face.datum) },
      redeemer: { title: 'redeemer', schema: reference(face.spend) },
      ...shared,
    },
  ]
}

const reference = (name: string) => ({ $ref: `#/definitions/${name}` })

const variant = (title: string, index: number, fields: readonly (readonly [string, string])[]) => ({
  title,
  dataType: 'constructor',
  index,
  fields: fields.map(([name, type]) => ({ title: name, ...reference(type) })),
})

const definitions = {
  Data: { title: 'Data', description: 'Any Plutus data' },
  Integer: { dataType: 'integer' },
  Bytes: { dataType: 'bytes' },
  Hash: { title: 'Hash', dataType: 'bytes', description: 'Blake2b-224', minLength: 28, maxLength: 28 },
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
    anyOf: [variant('Active', 0, []), variant('Retired', 1, []), variant('AlreadySlashed', 2, [])],
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
    ],
  },
  ActiveOperator: {
    title: 'ActiveOperator',
    anyOf: [
      variant('ActiveOperator', 0, [
        ['vkey', 'Hash'],
        ['bond', 'Integer'],
      ]),
    ],
  },
  RetiredOperator: {
    title: 'RetiredOperator',
    anyOf: [
      variant('RetiredOperator', 0, [
        ['vkey', 'Hash'],
        ['bond', 'Integer'],
        ['release_time', 'Time'],
      ]),
    ],
  },
  ActiveOperators: { dataType: 'list', items: reference('ActiveOperator') },
  RetiredOperators: { dataType: 'list', items: reference('RetiredOperator') },
  Registry: {
    title: 'Registry',
    anyOf: [
      variant('Registry', 0, [
        ['active', 'ActiveOperators'],
        ['retired', 'RetiredOperators'],
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
    ],
  },
}
