import { constr, encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { describe, expect, it } from 'vitest'
import type { ProvenFraud } from './find-fraud.js'
import { createTries } from './tries.js'

/** A proof with so many bytes that cannot be in a datum, and parts that can. */
function proofOf(bytes: number, ...parts: readonly number[]): ProvenFraud {
  const given = parts.map((length) => constr(0, new Uint8Array(length).fill(length)))
  const redeemer = encodePlutusData([0n, ...given, new Uint8Array(bytes)])
  return { policy: 'ledger', proof: { fraud: 'wrongChunk' }, redeemer } as unknown as ProvenFraud
}

describe('createTries', () => {
  it('allows so many proofs that are refused', () => {
    const tries = createTries(2, 16_384, true)
    for (const isWorth of [true, true, false]) {
      expect(tries.isWorth(proofOf(1))).toBe(isWorth)
      tries.refused(proofOf(1), undefined)
    }
  })

  it('allows any number that are smaller than what fits into no transaction', () => {
    const tries = createTries(1, 16_384, true)
    for (const bytes of [20_000, 15_000, 14_000]) {
      expect(tries.isWorth(proofOf(bytes))).toBe(true)
      tries.refused(proofOf(bytes), 'bytes')
      expect(tries.isWorth(proofOf(bytes))).toBe(false)
    }
    expect(tries.isWorth(proofOf(100, 15_000))).toBe(false)
    expect(tries.isWorth(proofOf(13_000, 12_000, 12_001))).toBe(true)
  })

  it('knows that nothing is as long as a transaction once a proof is too long', () => {
    const tries = createTries(1, 16_384, true)
    tries.refused(proofOf(20_000), 'bytes')
    expect(tries.isWorth(proofOf(16_384))).toBe(false)
    expect(tries.isWorth(proofOf(15_000))).toBe(true)
  })

  it('counts all parts where there are no datums', () => {
    const tries = createTries(1, 16_384, false)
    tries.refused(proofOf(20_000), 'bytes')
    expect(tries.isWorth(proofOf(100, 9000, 9001))).toBe(false)
  })

  it('counts proofs that cost too much and are no smaller than another', () => {
    const tries = createTries(1, 16_384, true)
    for (const bytes of [900, 800, 700]) {
      tries.refused(proofOf(bytes), 'units')
      expect(tries.isWorth(proofOf(2000))).toBe(true)
    }
    tries.refused(proofOf(750), 'units')
    expect(tries.isWorth(proofOf(100))).toBe(false)
  })
})
