import { describe, expect, test } from 'vitest'
import { toHex } from '../bytes.js'
import { blake2b256 } from '../crypto/blake2b.js'
import { vectorsFolder } from '../test/vectors.js'
import { knownDeviations, listedCases } from './test/known-deviations.js'
import { threadProgram } from './test/thread-program.js'
import { reportUplcSuite } from './test/uplc-report.js'

const suite = vectorsFolder('uplc-evaluation')
const scenarios = vectorsFolder('ledger-scenarios')

describe.skipIf(suite === undefined || scenarios === undefined)('the Plutus conformance suite', () => {
  test('deviates in the known cases, each for its known cause, and in no other', {
    timeout: 180_000,
  }, async () => {
    const report = await reportUplcSuite(suite ?? '', scenarios ?? '', { threads: 1, threadProgram })
    expect(report.unexplained).toEqual([])

    const names = report.outcomes.map(({ name }) => name)
    const found = Object.fromEntries(report.deviations.map(({ outcome, cause }) => [outcome.name, cause?.id]))
    if (digestOf(names) === listedCases) {
      expect(found).toEqual(knownDeviations)
      return
    }
    // Other cases than those that the list was made of: what it says of them must hold, others may deviate for a known cause.
    const said = Object.entries(knownDeviations).filter(([name]) => names.includes(name))
    expect(found).toMatchObject(Object.fromEntries(said))
  })
})

function digestOf(names: readonly string[]): string {
  return toHex(blake2b256(Buffer.from([...names].sort().join('\n'))))
}
