import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ruleRows } from '../../../protocol/dist/fraud/test/rules.js'
import type { Breach } from './breach.js'
import { bridgeBreaches, eventBreaches } from './bridge/breaches.js'
import { bridgeNotes, eventNotes } from './bridge/notes.js'
import { costTables } from './costs.js'
import { ledgerBreaches } from './fraud/ledger/breaches.js'
import { ledgerFraudNotes } from './fraud/ledger/notes.js'
import { transactionBreaches, transactionFraudNotes } from './fraud/transaction/breaches.js'
import { witnessBreaches, witnessFraudNotes } from './fraud/witness/breaches.js'
import { queueBreaches } from './queue/breaches.js'
import { queueNotes } from './queue/notes.js'
import { registryBreaches } from './registry/breaches.js'
import { registryNotes } from './registry/notes.js'
import type { RuleNote } from './rule-notes.js'
import { summonsBreaches } from './summons/breaches.js'
import { summonsNotes } from './summons/notes.js'

/** Names the scripts that COSTS.md measures. */
export function measuredScripts(): string {
  const blueprint = readFileSync(new URL('../../plutus.json', import.meta.url))
  const digest = createHash('sha256').update(blueprint).digest('hex')
  return `<!-- Measured on plutus.json of SHA-256 ${digest}. -->`
}

const notice = '<!-- Written by scripts/write-tables.mjs: do not edit. -->'

/** The files that `scripts/write-tables.mjs` writes, by name. */
export const generatedFiles: Readonly<Record<'RULES.md' | 'COSTS.md', () => string>> = {
  'RULES.md': () =>
    page(
      '# Rules of the scripts',
      notice,
      'The last column counts the transactions in the tests that break this rule and no other. Scalus and ' +
        'Aiken’s evaluator refuse each, and accept it by a script without the rule.',
      '## State queue',
      ruleTable(queueNotes, queueBreaches),
      '## Operator registry',
      ruleTable(registryNotes, registryBreaches),
      '## Ledger policy of fraud proofs',
      ruleTable(ledgerFraudNotes, ledgerBreaches),
      '## Transaction policy of fraud proofs',
      ruleTable(transactionFraudNotes, transactionBreaches),
      'The policy of ledger version 11 has no rule `input-is-reference-input`, and counts the reference ' +
        'script of an output that is both an input and a reference input once.',
      '## Witness policy of fraud proofs',
      ruleTable(witnessFraudNotes, witnessBreaches),
      '## Summons',
      ruleTable(summonsNotes, summonsBreaches),
      '## Bridge',
      'A withdrawal is an output that a settlement owes; a payment is the output of layer 1 that pays it.',
      ruleTable(bridgeNotes, bridgeBreaches),
      '## Events',
      ruleTable(eventNotes, eventBreaches),
      '## What proves a false block',
      'Every rule by which verifiers judge a block. Tests tell a lie for each rule and claim, and find no ' +
        'proof of those without a claim. An operator that breaks one of these keeps its bond, and others ' +
        'build nothing on the block until the administrator removes it. The state ' +
        'queue itself refuses a header with a false previous root, previous hash, time, operator, block ' +
        'version or event root.',
      provabilityTable(),
    ),
  'COSTS.md': () =>
    page(
      '# Sizes and costs',
      notice,
      measuredScripts(),
      'At mainnet’s prices and limits of ledger version 10, with reference scripts. Layer-1 rules accept ' +
        'each transaction. ' +
        'Fraud proofs are about a block of 40,000 entries over 1,000,000 unspent outputs. ' +
        'An ordinary transaction has what one script needs; the rich one has three scripts, three policies ' +
        'and a withdrawal.',
      costTables(),
    ),
}

const page = (...parts: readonly string[]) => `${parts.join('\n\n')}\n`

const row = (...cells: readonly string[]) => `| ${cells.join(' | ')} |`

function provabilityTable(): string {
  return [
    row('rule', 'claims', 'a lie about it', 'without a claim, an operator that breaks it gains'),
    row('---', '---', '---', '---'),
    ...Object.entries(ruleRows).map(([rule, each]) => {
      if ('sameAs' in each) return row(rule, `those of ${each.sameAs}`, 'lie' in each ? each.lie : '', '')
      if ('never' in each) return row(rule, '', '', `nothing: ${each.never}`)
      return 'claims' in each
        ? row(rule, each.claims.map((claim) => `\`${claim}\``).join(', '), each.lie, '')
        : row(rule, '', each.lie, each.gain)
    }),
  ].join('\n')
}

function ruleTable(notes: readonly RuleNote[], breaches: readonly Pick<Breach, 'rule'>[]): string {
  return [
    row('rule', 'condition', 'stops', 'tests'),
    row('---', '---', '---', '--:'),
    ...notes.map(({ rule, condition, stops }) =>
      row(`\`${rule}\``, condition, stops, String(breaches.filter((breach) => breach.rule === rule).length)),
    ),
  ].join('\n')
}
