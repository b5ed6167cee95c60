// Validates other people's test data by the rules and prints what agrees. Run after a build:
//   node packages/ledger/conformance/run.mjs

import { vectorsFolder } from '@ratatosk/test-vectors'
import { createEvaluator } from '../dist/plutus/index.js'
import { runLedgerEvents } from '../dist/test/conformance/ledger-events.js'
import { table, unexplained } from '../dist/test/conformance/outcome.js'
import { runScenarios } from '../dist/test/conformance/scenarios.js'

const evaluator = createEvaluator({ threads: 1 })
let defects = 0
try {
  for (const [name, run] of [
    ['ledger-scenarios', runScenarios],
    ['ledger-rules', runLedgerEvents],
  ]) {
    const folder = vectorsFolder(name)
    if (!folder) {
      console.log(`${name}: the test data is not here, nothing was run\n`)
      continue
    }
    const outcomes = await run(folder, evaluator)
    defects += unexplained(outcomes).length
    console.log(`${table(name, outcomes)}\n`)
  }
} finally {
  await evaluator.close()
}
process.exitCode = defects === 0 ? 0 : 1
