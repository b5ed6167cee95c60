import { reference, variant } from './reference.js'

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
