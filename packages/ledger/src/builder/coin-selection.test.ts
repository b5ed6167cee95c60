import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blake2b256, type Utxo } from '../index.js'
import { addValue, lovelaceUnit, type Quantities, selectCoins, toValue } from './coin-selection.js'
import { toOutput } from './encode.js'
import { keys } from './test/fixtures.js'

const token = 'ab'.repeat(28)

function utxos(holdings: readonly (readonly [lovelace: bigint, tokens: bigint])[]): Utxo[] {
  return holdings.map(([lovelace, tokens], index) => {
    const quantities: Quantities = new Map([[lovelaceUnit, lovelace]])
    if (tokens > 0n) quantities.set(token, tokens)
    const value = toValue(quantities)
    return {
      reference: { transactionId: blake2b256(Buffer.from(String(index))), index },
      output: toOutput({ address: keys.address.bytes, value, datum: { kind: 'none' } }),
    }
  })
}

function sumOf(chosen: readonly Utxo[]): Quantities {
  const sum: Quantities = new Map()
  for (const { output } of chosen) addValue(sum, output.value)
  return sum
}

const holding = fc.tuple(fc.bigInt(1n, 10n ** 10n), fc.bigInt(0n, 1000n))

describe('coin selection', () => {
  it('covers what is needed by different outputs, or says what is missing', () => {
    fc.assert(
      fc.property(
        fc.array(holding, { maxLength: 60 }),
        fc.bigInt(0n, 10n ** 11n),
        fc.bigInt(0n, 10_000n),
        fc.infiniteStream(fc.double({ min: 0, max: 0.999_999, noNaN: true })),
        (holdings, lovelace, tokens, stream) => {
          const candidates = utxos(holdings)
          const needed = new Map(
            [[lovelaceUnit, lovelace]].concat(tokens > 0n ? [[token, tokens]] : []) as [string, bigint][],
          )
          const all = sumOf(candidates)
          const random = () => stream.next().value
          const missing = [...needed].filter(([unit, amount]) => (all.get(unit) ?? 0n) < amount)
          if (missing.length > 0) {
            expect(() => selectCoins(candidates, needed, random)).toThrow(
              expect.objectContaining({
                code: 'WALLET_INSUFFICIENT_FUNDS',
                missing: new Map(missing.map(([unit, amount]) => [unit, amount - (all.get(unit) ?? 0n)])),
              }),
            )
            return
          }
          const chosen = selectCoins(candidates, needed, random)
          expect(new Set(chosen).size).toBe(chosen.length)
          const sum = sumOf(chosen)
          for (const [unit, amount] of needed) expect((sum.get(unit) ?? 0n) >= amount).toBe(true)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('leaves outputs with native assets alone where it can', () => {
    const candidates = utxos([
      [50n, 7n],
      [40n, 0n],
      [60n, 0n],
    ])
    for (const random of [() => 0, () => 0.5, () => 0.99]) {
      const chosen = selectCoins(candidates, new Map([[lovelaceUnit, 30n]]), random)
      expect(sumOf(chosen).get(token)).toBeUndefined()
    }
  })

  it('takes the largest outputs where random ones would be too many', () => {
    const candidates = utxos([...Array.from({ length: 500 }, () => [1n, 0n] as const), [1000n, 0n]])
    expect(selectCoins(candidates, new Map([[lovelaceUnit, 450n]]), () => 0.999)).toHaveLength(1)
  })
})
