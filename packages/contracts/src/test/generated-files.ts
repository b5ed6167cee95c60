import type { Breach } from './breach.js'
import { costTables } from './costs.js'
import { ledgerBreaches } from './fraud/ledger/breaches.js'
import { ledgerFraudNotes } from './fraud/ledger/notes.js'
import { transactionBreaches } from './fraud/transaction/breaches.js'
import { transactionFraudNotes } from './fraud/transaction/notes.js'
import { witnessBreaches } from './fraud/witness/breaches.js'
import { witnessFraudNotes } from './fraud/witness/notes.js'
import { queueBreaches } from './queue/breaches.js'
import { queueNotes } from './queue/notes.js'
import { registryBreaches } from './registry/breaches.js'
import { registryNotes } from './registry/notes.js'
import type { RuleNote } from './rule-notes.js'

const notice = '<!-- Written by scripts/write-tables.mjs: do not edit. -->'

/** The files that `scripts/write-tables.mjs` writes, by name. */
export const generatedFiles: { readonly [name: string]: () => string } = {
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
    ),
  'COSTS.md': () =>
    page(
      '# Sizes and costs',
      notice,
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

function ruleTable(notes: readonly RuleNote[], breaches: readonly Pick<Breach, 'rule'>[]): string {
  return [
    row('rule', 'condition', 'stops', 'tests'),
    row('---', '---', '---', '--:'),
    ...notes.map(({ rule, condition, stops }) =>
      row(`\`${rule}\``, condition, stops, String(breaches.filter((breach) => breach.rule === rule).length)),
    ),
  ].join('\n')
}
