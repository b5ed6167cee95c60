// Runs the Plutus conformance suite through the evaluator and prints what agrees. Run after a build:
//   node packages/ledger/conformance/plutus.mjs [--all]
import { reportUplcSuite } from '../dist/plutus/test/uplc-report.js'
import { vectorsFolder } from '../dist/test/vectors.js'

const suite = vectorsFolder('uplc-evaluation')
const scenarios = vectorsFolder('ledger-scenarios')
if (suite === undefined || scenarios === undefined) {
  console.log('uplc-evaluation: the test data is not here, nothing was run')
} else {
  const { text, unexplained } = await reportUplcSuite(suite, scenarios)
  console.log(text)
  process.exitCode = unexplained.length === 0 ? 0 : 1
}
