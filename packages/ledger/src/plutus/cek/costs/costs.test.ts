import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chargings, costOrder } from './cost-table.js'
import { type CostShape, exactCost, parameterCounts, quickCost } from './shapes.js'

const shapes = Object.keys(parameterCounts) as CostShape[]
const size = fc.nat(2000)

test.each(shapes)('%s costs the same in exact and in quick arithmetic', (shape) => {
  const parameters = fc.array(fc.integer({ min: -900, max: 100_000 }), {
    minLength: parameterCounts[shape],
    maxLength: parameterCounts[shape],
  })
  fc.assert(
    fc.property(parameters, size, size, size, size, (given, x, y, z, u) => {
      const exact = exactCost(shape, given)(BigInt(x), BigInt(y), BigInt(z), BigInt(u))
      const quick = quickCost(shape, given)(x, y, z, u)
      // Halves of negative costs are rounded differently; no model has them.
      if (shape === 'expMod' && quick < 0) return
      expect(BigInt(quick)).toBe(exact)
    }),
  )
})

test.each([
  ['PlutusV1', [166, 332]],
  ['PlutusV2', [175, 185, 332]],
  ['PlutusV3', [251, 297, 350]],
] as const)('the parameters of %s have the lengths of its cost models on networks', (language, lengths) => {
  const ends = new Set<number>()
  let position = 0
  for (const major of [10, 11]) {
    position = 0
    const charging = chargings(language, major)
    for (const name of costOrder[language]) {
      if (name.startsWith('@')) position += 2
      else {
        const [steps, memory] = charging[name as keyof typeof charging]
        position += parameterCounts[steps] + parameterCounts[memory]
      }
      ends.add(position)
    }
    expect(position).toBe(lengths.at(-1))
  }
  for (const length of lengths) expect(ends).toContain(length)
})
