import { describe, expect, it } from 'vitest'
import { effectiveTime, endOfTurn, operatorInTurn, type RegistryDatum } from './registry.js'

const filled = (length: number, byte: number) => new Uint8Array(length).fill(byte)
const queue = filled(28, 10)

describe('turns', () => {
  const entry = (byte: number) => ({ vkey: filled(28, byte), bond: 1n, activeFrom: 0n })
  const operators = [entry(1), entry(2), entry(3)]
  const inTurn = (of: RegistryDatum['operators'], ...times: bigint[]) =>
    times.map((time) => operatorInTurn({ operators: of, queue, running: true }, time, 60n)?.vkey[0])

  it('follow the order of the registry', () => {
    expect(inTurn(operators, 0n, 59n, 60n, 120n, 180n)).toEqual([1, 1, 2, 3, 1])
    expect(inTurn([], 0n)).toEqual([undefined])
  })

  it('count an operator from the start of one turn to the start of another', () => {
    const changing = [{ ...entry(1), activeFrom: 120n }, entry(2), { ...entry(3), activeUntil: 240n }]
    // Turns 0 and 1 have operators 2 and 3; turns 2 and 3 all three; from turn 4 on 1 and 2.
    expect(inTurn(changing, 0n, 60n, 120n, 180n, 240n, 300n)).toEqual([2, 3, 3, 1, 1, 2])
  })

  it('end where the next one begins', () => {
    expect([0n, 59n, 60n].map((time) => endOfTurn(time, 60n))).toEqual([60n, 60n, 120n])
  })

  it('keep their operators until the turn after next when an operator comes or goes', () => {
    expect(effectiveTime({ running: true }, 60n, 120n, 60n)).toBe(180n)
    expect(effectiveTime({ running: true }, 60n, 121n, 60n)).toBe(240n)
  })

  it('change at once while there is no queue', () => {
    expect(effectiveTime({ running: false }, 119n, 130n, 60n)).toBe(60n)
  })
})
