// Decoding and the stateless rules (phase A) of signed 1-in/2-out transfers on one core, beside libsodium's
// bare verification of the same signatures in the same run; then the stateful rules (phase B) of the same
// transfers alone.
import { fromHex } from '@ratatosk/cbor'
import {
  decodeTransaction,
  decodeTransactionOutput,
  validateStateful,
  validateStateless,
} from '@ratatosk/ledger'
import { median, record, round } from './lib/figures.mjs'
import { bareVerifications, makeTransfers, parameters } from './lib/transfers.mjs'

const count = Number(process.env.BENCH_TRANSACTIONS ?? 20_000)
const rounds = Number(process.env.BENCH_ROUNDS ?? 9)

const context = { parameters, networkId: 0, slot: 0n }

const { genesis, transactions, signatures } = makeTransfers(count)
const utxos = new Map(genesis.map(({ outref, output }) => [outref, decodeTransactionOutput(fromHex(output))]))

function phaseA() {
  for (const bytes of transactions) expectNone(validateStateless(decodeTransaction(bytes), context))
}

function phaseB(decoded) {
  for (const transaction of decoded) expectNone(validateStateful(transaction, utxos, context))
}

function expectNone(failures) {
  if (failures.length > 0)
    throw new Error(`a transfer of the benchmark is refused: ${JSON.stringify(failures)}`)
}

function perSecond(work) {
  const started = process.hrtime.bigint()
  work()
  return (count * 1e9) / Number(process.hrtime.bigint() - started)
}

console.log(`phase A: ${count} signed 1-in/2-out transfers of ${transactions[0].length} bytes, one core`)
phaseA()
bareVerifications(signatures)
const figures = []
for (let i = 0; i < rounds; i++) {
  const bare = bareVerifications(signatures)
  const stateless = perSecond(phaseA)
  const decoded = transactions.map((bytes) => decodeTransaction(bytes))
  const stateful = perSecond(() => phaseB(decoded))
  figures.push({ bare, stateless, stateful, ratio: stateless / bare })
  console.log(
    `  round ${i + 1}: ${round(stateless)} tx/s, libsodium alone ${round(bare)}/s, ratio ` +
      `${(stateless / bare).toFixed(2)}; stateful rules ${round(stateful)} tx/s`,
  )
}
const middle = (name) => median(figures.map((figure) => figure[name]))
console.log(
  `  median: ${round(middle('stateless'))} tx/s, ratio ${middle('ratio').toFixed(2)} (aim 0.60); ` +
    `stateful rules ${round(middle('stateful'))} tx/s`,
)
record('phase-a', { rounds, perSecond: middle('stateless'), ceiling: middle('bare'), ratio: middle('ratio') })
