// Payments beside thousands of transactions whose script uses its whole budget, about a second of a thread,
// and then fails.
import { CborWriter, fromHex } from '@ratatosk/cbor'
import {
  addressOf,
  blake2b,
  encodeBytes,
  encodeInput,
  encodeList,
  encodeOutput,
  encodeSet,
  encodeUint,
  keyOf,
  outputOf,
  signDraft,
} from '@ratatosk/fixtures'
import { decodeTransaction, scriptHash, scriptIntegrityHash } from '@ratatosk/ledger'
import { percentile, round } from '../figures.mjs'
import { openConnection } from '../load.mjs'
import { parameters } from '../parameters.mjs'
import { withDatabase } from '../services.mjs'
import { genesisOutput, makeTransfers } from '../transfers.mjs'
import { load, onConnections, pause, startNode, submit, timePayment } from './node.mjs'

const count = Number(process.env.BENCH_BOMBS ?? 2000)
const payments = Number(process.env.BENCH_PAYMENTS ?? 60)
const betweenMs = 250

/** `bls12_381_G2_scalarMul` for ever: of all built-in functions the slowest for its price. */
const endless = fromHex(
  '58520101002323232300100123230020023377e906d7ffffffffffffffffffffffffffffffffffffffffffffffffff' +
    'fffffffffffffffffff8780119bc3489016100488101620033778911016100488101620001',
)
const most = { memory: 14_000_000, steps: 10_000_000_000 }
const lovelaceEach = 10_000_000n
const fee = 2_000_000n
/** Half of the transactions spend one output, the others share these. */
const outputs = 200

export async function measureBombs() {
  const alone = 20
  const { genesis, transactions, signatures } = makeTransfers(alone + 2 * payments + count)
  const bombs = makeBombs()
  const { url, name } = await startNode([...genesis, ...bombs.genesis])
  const connection = await openConnection(new URL(url))
  let paid = 0
  const pay = (number) =>
    payInTurn(number, () => {
      const place = paid++
      return timePayment(url, connection, transactions[place], signatures[place].message.toString('hex'))
    })

  const loadBefore = load()
  console.log(`payments alone: ${figuresOf(await pay(alone))}; ${loadBefore}`)
  const plain = flood(url, transactions.slice(alone + 2 * payments))
  const besidePlain = await pay(payments)
  console.log(
    `  beside ${round(count)} other payments, sent in ${round(await plain)} ms: ` +
      `${figuresOf(besidePlain)}; ${load()}`,
  )
  const explosion = flood(url, bombs.transactions)
  const besideBombs = await pay(payments)
  const sentIn = await explosion
  const validated = await failedScripts(name)
  connection.close()
  console.log(
    `  beside ${round(count)} scripts of 10^10 steps, ${bombs.transactions[0].length} bytes each, ` +
      `sent in ${round(sentIn)} ms, ` +
      `${round(validated)} validated meanwhile: ${figuresOf(besideBombs)}; ${load()}`,
  )
}

/** @returns how long each took, in milliseconds */
async function payInTurn(number, pay) {
  const times = []
  for (let n = 0; n < number; n++) {
    if (n > 0) await pause(betweenMs)
    times.push(await pay())
  }
  return times
}

/** @returns how long the submissions took, in milliseconds */
async function flood(url, transactions) {
  let sent = 0
  const began = performance.now()
  await onConnections(url, async (connection) => {
    if (sent === transactions.length) return false
    await submit(connection, transactions[sent++])
    return true
  })
  return performance.now() - began
}

function figuresOf(times) {
  return (
    `first ${round(times[0])} ms, p50 ${round(percentile(times, 0.5))} ms, p95 ` +
    `${round(percentile(times, 0.95))} ms, ` +
    `slowest of ${times.length} ${round(Math.max(...times))} ms`
  )
}

/** How many scripts have run. Whatever was rejected for another reason was no bomb. */
async function failedScripts(name) {
  const { rows } = await withDatabase((client) =>
    client.query(`SELECT code, count(*)::integer AS count FROM ${name}.rejections GROUP BY code`),
  )
  const others = rows.filter(({ code }) => code !== 'ValidationTagMismatch')
  if (others.length > 0) throw new Error(`not rejected by their scripts: ${JSON.stringify(others)}`)
  return rows[0]?.count ?? 0
}

function makeBombs() {
  const key = keyOf(7)
  const address = addressOf(scriptHash('PlutusV3', endless), 'script')
  const places = Array.from({ length: outputs + 1 }, (_, n) => blake2b(32, Buffer.from(`bench bomb ${n}`)))
  const collateral = blake2b(32, Buffer.from('bench collateral'))
  const locked = encodeOutput({ address, lovelace: lovelaceEach })
  const genesis = places.map((source) => genesisOutput(source, locked))
  genesis.push(genesisOutput(collateral, outputOf(key, lovelaceEach)))

  function bomb(n) {
    const source = n % 2 === 0 ? places[0] : places[1 + (n % outputs)]
    const redeemers = new CborWriter().map(1).array(2).uint(0).uint(0).array(2).uint(n)
    redeemers.array(2).uint(most.memory).uint(most.steps)
    const assemble = (integrity) => {
      const body = new Map([
        [0, encodeSet([encodeInput(source, 0)])],
        [1, encodeList([outputOf(key, lovelaceEach - fee)])],
        [2, encodeUint(fee)],
        [11, encodeBytes(integrity)],
        [13, encodeSet([encodeInput(collateral, 0)])],
      ])
      const witnesses = new Map([
        [5, redeemers.toBytes()],
        [7, encodeSet([encodeBytes(endless)])],
      ])
      return signDraft({ body, witnesses, signers: [key], isValid: true }).cbor
    }
    const draft = decodeTransaction(assemble(new Uint8Array(32)))
    return Buffer.from(assemble(scriptIntegrityHash(draft, new Set(['PlutusV3']), parameters)))
  }

  return { genesis, transactions: Array.from({ length: count }, (_, n) => bomb(n)) }
}
