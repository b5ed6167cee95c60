import { describe, expect, it } from 'vitest'
import type { OutputReference } from '../transaction/types.js'
import { createNetEffects } from './net-effects.js'

const reference = (id: number, index = 0): OutputReference => ({
  transactionId: new Uint8Array(32).fill(id),
  index,
})
const output = (id: number, index = 0) => ({ reference: reference(id, index) })

describe('the net effects of several transactions', () => {
  it('names the spender of each output, and separates outputs that are produced and spent', () => {
    const net = createNetEffects<{ reference: OutputReference }>()
    net.add({ spent: [reference(1)], produced: [output(2, 0), output(2, 1)] })
    net.add({ spent: [reference(2, 1), reference(9)], produced: [output(3)] })
    expect([...net.spent.values()]).toEqual([
      { reference: reference(1), spentBy: 0 },
      { reference: reference(9), spentBy: 1 },
    ])
    expect([...net.produced.values()]).toEqual([
      { output: output(2, 0), producedBy: 0, spentBy: undefined },
      { output: output(2, 1), producedBy: 0, spentBy: 1 },
      { output: output(3), producedBy: 1, spentBy: undefined },
    ])
  })

  const sequences: [string, string, { spent?: number[]; produced?: number[] }[]][] = [
    ['an older output twice', 'EFFECTS_DOUBLE_SPEND', [{ spent: [1] }, { spent: [1] }]],
    ['its own output twice', 'EFFECTS_DOUBLE_SPEND', [{ produced: [2] }, { spent: [2] }, { spent: [2] }]],
    ['an output before it exists', 'EFFECTS_SPENT_BEFORE_PRODUCED', [{ spent: [2] }, { produced: [2] }]],
  ]

  it.each(sequences)('refuses a sequence that spends %s', (_what, code, transactions) => {
    const net = createNetEffects<{ reference: OutputReference }>()
    const add = () => {
      for (const { spent = [], produced = [] } of transactions)
        net.add({ spent: spent.map((id) => reference(id)), produced: produced.map((id) => output(id)) })
    }
    expect(add).toThrowError(expect.objectContaining({ code, position: transactions.length - 1 }))
  })

  it('refuses a sequence that produces an output twice', () => {
    const net = createNetEffects<{ reference: OutputReference }>()
    net.add({ spent: [], produced: [output(2)] })
    expect(() => net.add({ spent: [], produced: [output(2)] })).toThrowError(
      expect.objectContaining({ code: 'EFFECTS_OUTPUT_EXISTS', position: 1 }),
    )
  })
})
