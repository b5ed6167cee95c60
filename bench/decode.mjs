// Decoding of signed 1-in/2-out transfers into typed transactions with their ids, beside bare Ed25519
// verification of the same transfers' signatures by libsodium, round by round.
import { decodeTransaction } from '@ratatosk/ledger'
import { median, record, round } from './lib/figures.mjs'
import { bareVerifications, makeTransfers } from './lib/transfers.mjs'

const rounds = Number(process.env.BENCH_ROUNDS ?? 9)
const repeats = 20

const { transactions, signatures } = makeTransfers(2_000)

function decodings() {
  const started = process.hrtime.bigint()
  for (let i = 0; i < repeats; i++) for (const bytes of transactions) decodeTransaction(bytes)
  return (repeats * transactions.length * 1e9) / Number(process.hrtime.bigint() - started)
}

decodings() // warms up
const figures = Array.from({ length: rounds }, () => ({
  decoded: decodings(),
  verified: bareVerifications(signatures),
}))
const decoded = median(figures.map((figure) => figure.decoded))
const verified = median(figures.map((figure) => figure.verified))
const ratio = median(figures.map((figure) => figure.decoded / figure.verified))
console.log(
  `decode, ${transactions[0].length}-byte transfers: ${round(decoded)} tx/s on one core, ` +
    `${ratio.toFixed(1)} times ` +
    `libsodium's bare verification (${round(verified)}/s; median of ${rounds} rounds)`,
)
record('decode', { rounds, perSecond: decoded, ceiling: verified, ratio })
