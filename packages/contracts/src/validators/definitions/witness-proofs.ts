import { variant } from './reference.js'

export const witnessProofDefinitions = {
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
