import type { Breach } from './breach.js'
import { costTables } from './costs.js'
import { ledgerBreaches } from './fraud/ledger-breaches.js'
import { ledgerFraudNotes } from './fraud/ledger-notes.js'
import { transactionBreaches } from './fraud/transaction-breaches.js'
import { transactionFraudNotes } from './fraud/transaction-notes.js'
import { witnessBreaches } from './fraud/witness-breaches.js'
import { witnessFraudNotes } from './fraud/witness-notes.js'
import { queueBreaches } from './queue/breaches.js'
import { registryBreaches } from './registry/breaches.js'
import { queueNotes, type RuleNote, registryNotes } from './rule-notes.js'

/** The tables that `scripts/write-readme.mjs` writes into the README, by the names of their markers. */
export const readmeTables: { readonly [marker: string]: () => string } = {
  'queue rules': () => ruleTable(queueNotes, queueBreaches),
  'registry rules': () => ruleTable(registryNotes, registryBreaches),
  'ledger fraud rules': () => ruleTable(ledgerFraudNotes, ledgerBreaches),
  'transaction fraud rules': () => ruleTable(transactionFraudNotes, transactionBreaches),
  'witness fraud rules': () => ruleTable(witnessFraudNotes, witnessBreaches),
  costs: costTables,
}

const row = (...cells: readonly string[]) => `| ${cells.join(' | ')} |`

function ruleTable(notes: readonly RuleNote[], breaches: readonly Pick<Breach, 'rule' | 'what'>[]): string {
  return [
    row('rule', 'condition', 'stops', 'refused in the tests'),
    row('---', '---', '---', '---'),
    ...notes.map(({ rule, condition, stops }) =>
      row(
        `\`${rule}\``,
        condition,
        stops,
        breaches
          .filter((breach) => breach.rule === rule)
          .map(({ what }) => what)
          .filter((what, place, all) => all.indexOf(what) === place)
          .join('; '),
      ),
    ),
  ].join('\n')
}

/** A README with the text between each pair of markers replaced. */
export function withTables(readme: string): string {
  return Object.entries(readmeTables).reduce((text, [marker, table]) => {
    const [begin, end] = [`<!-- ${marker}: begin -->`, `<!-- ${marker}: end -->`]
    const [before, rest] = text.split(begin)
    const after = rest?.split(end)[1]
    if (before === undefined || after === undefined) throw new Error(`The README lacks ${begin} … ${end}`)
    return `${before}${begin}\n${table()}\n${end}${after}`
  }, readme)
}
