import { expect, it } from 'vitest'
import { rules } from '../test/fraud/transaction/transactions.js'
import { fraudScript } from './verdict-policies.js'

it.each(['transaction', 'witness'] as const)(
  'makes the script of the %s policy once for its rules',
  (policy) => {
    const script = fraudScript(policy, rules)
    expect(fraudScript(policy, rules)).toBe(script)
    const others = { ...rules, networkId: rules.networkId + 1 }
    expect(Buffer.compare(fraudScript(policy, others).hash, script.hash) === 0).toBe(policy === 'witness')
  },
)
