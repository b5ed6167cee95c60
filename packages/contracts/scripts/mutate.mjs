// Leaves each condition out of its validator in turn and shows which tests that makes fail. Run after
// `tsc -b packages/contracts`; takes minutes. Fails when a condition is missed by no test, or a test breaks more than its rule.
import { engines } from '../dist/test/evaluate.js'
import { judgeMutant, subjects } from '../dist/test/mutants.js'

let survivors = 0
console.log('| validator | condition left out | tests that fail | of |\n| --- | --- | ---: | ---: |')
for (const subject of subjects) {
  for (const rule of subject.compile().rules) {
    const judged = Object.values(engines).map((evaluate) => judgeMutant(subject, rule, evaluate))
    const failing = judged.reduce((sum, { caught }) => sum + caught.length, 0)
    const all = judged.reduce((sum, { caught, missed }) => sum + caught.length + missed.length, 0)
    if (judged.some(({ caught, missed }) => caught.length === 0 || missed.length > 0)) survivors++
    console.log(`| ${subject.name} | \`${rule}\` | ${failing} | ${all} |`)
  }
}
console.log(
  survivors === 0 ? '\nEvery condition is needed.' : `\n${survivors} conditions are not shown to be needed.`,
)
process.exitCode = survivors === 0 ? 0 : 1
