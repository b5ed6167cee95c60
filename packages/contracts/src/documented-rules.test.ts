import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { bridgeBreaches, eventBreaches } from './test/bridge/breaches.js'
import { bridgeNotes, eventNotes } from './test/bridge/notes.js'
import { ledgerBreaches } from './test/fraud/ledger/breaches.js'
import { ledgerFraudNotes } from './test/fraud/ledger/notes.js'
import { transactionBreaches, transactionFraudNotes } from './test/fraud/transaction/breaches.js'
import { witnessBreaches, witnessFraudNotes } from './test/fraud/witness/breaches.js'
import { generatedFiles, measuredScripts } from './test/generated-files.js'
import { queueBreaches } from './test/queue/breaches.js'
import { queueNotes } from './test/queue/notes.js'
import { registryBreaches } from './test/registry/breaches.js'
import { registryNotes } from './test/registry/notes.js'
import { summonsBreaches } from './test/summons/breaches.js'
import { summonsNotes } from './test/summons/notes.js'

// The tests of the validators show that every rule of the scripts has a breach.
it('RULES.md explains every rule that exists, and no other', () => {
  const rules = (of: readonly { readonly rule: string }[]) => [...new Set(of.map(({ rule }) => rule))].sort()
  expect(rules([...queueNotes, ...registryNotes, ...ledgerFraudNotes, ...witnessFraudNotes])).toEqual(
    rules([...queueBreaches, ...registryBreaches, ...ledgerBreaches, ...witnessBreaches]),
  )
  expect(rules(summonsNotes)).toEqual(rules(summonsBreaches))
  expect(rules(bridgeNotes)).toEqual(rules(bridgeBreaches))
  expect(rules(eventNotes)).toEqual(rules(eventBreaches))
  expect(rules(transactionFraudNotes)).toEqual(rules(transactionBreaches))
})

/** The formatter pads tables: this undoes it. */
const unpadded = (text: string) => text.replace(/ +/g, ' ').replace(/-{2,}/g, '--')

const written = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

it('RULES.md is current', () => expectCurrent('RULES.md'))

it('COSTS.md is of the current scripts', () => expect(written('COSTS.md')).toContain(measuredScripts()))

// Measures every script at its limits, which takes minutes.
it.runIf(process.env.RATATOSK_COSTS === 'all')(
  'COSTS.md is what the scripts cost',
  () => expectCurrent('COSTS.md'),
  3_600_000,
)

function expectCurrent(name: 'RULES.md' | 'COSTS.md'): void {
  expect(unpadded(written(name))).toBe(unpadded(generatedFiles[name]()))
}
