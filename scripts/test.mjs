// npm test: install, build, check, then run the tests of vitest and tap. `--full` runs also the files whose
// names end with `.full.test.ts` or `.full.tap.ts`, and all backends. The last line sums all.
import { stripVTControlCharacters } from 'node:util'
import { runChecks } from './checks.mjs'
import { prepare } from './prepare.mjs'
import { processorSeconds } from './processor-time.mjs'
import { runTap, tapFiles } from './tap.mjs'
import { runVitest } from './vitest.mjs'

/** Files of tap that run at a time, beside as many of vitest. With more, two cores miss time limits. */
const tapJobs = 2
/** How many of the dearest files are listed last. */
const dearest = 20

let summarised = false
process.on('exit', () => {
  // A failed installation or build is a failure too, and has to be found where every other sum is.
  if (!summarised) console.log('0 passed, 1 failed, 0 skipped')
})

const full = process.argv.includes('--full')
if (full) process.env.RATATOSK_TESTS = 'full'
await prepare()

const isFull = (file) => /\.full\.(?:test|tap)\./.test(file)
const report = (name, { passed, seconds, failures, output }) => {
  const tests = passed > 0 ? ` (${passed} tests)` : ''
  console.log(` ${failures.length > 0 ? '❯' : '✓'} ${name}${tests} ${seconds.toFixed(1)} s of processor`)
  if (failures.length > 0) console.log(stripVTControlCharacters(output))
}
// All at once, because tests wait for databases and blocks half of the time.
const runs = await Promise.all([
  runChecks(full, report),
  runVitest(),
  runTap(
    tapFiles().filter((file) => full || !isFull(file)),
    tapJobs,
    report,
  ),
])

const files = runs.flatMap((results) => [...results])
const sum = (results, key) => [...results.values()].reduce((total, result) => total + result[key], 0)
const bySeconds = [...files].sort(([, one], [, other]) => other.seconds - one.seconds)
const line = ([name, { seconds }]) => `${seconds.toFixed(1).padStart(8)}  ${name}`
console.log('\nProcessor seconds of each file:')
for (const file of bySeconds) console.log(line(file))
console.log(`\nThe ${dearest} dearest:`)
for (const file of bySeconds.slice(0, dearest)) console.log(line(file))
const [checks, vitest, tap] = runs.map((results) => sum(results, 'seconds').toFixed())
console.log(
  `\nProcessor seconds: checks ${checks}, vitest ${vitest}, tap ${tap}, all ${processorSeconds().toFixed()}`,
)

const all = new Map(files)
const failures = files.flatMap(([name, result]) => result.failures.map((why) => `${name} > ${why}`))
for (const failure of failures) console.log(`failed: ${failure}`)
summarised = true
console.log(`${sum(all, 'passed')} passed, ${failures.length} failed, ${sum(all, 'skipped')} skipped`)
process.exitCode = failures.length > 0 ? 1 : 0
