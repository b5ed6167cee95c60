// A flood of submissions that can never be accepted, and payments meanwhile: what the store and Redis grow
// to, and whether every payment arrives.
import { randomFillSync } from 'node:crypto'
import {
  encodeInput,
  encodeList,
  encodeSet,
  encodeUint,
  keyOf,
  outputOf,
  signDraft,
} from '@ratatosk/fixtures'
import { Redis } from 'ioredis'
import { defer } from '../clean-up.mjs'
import { percentile, round } from '../figures.mjs'
import { openConnection } from '../load.mjs'
import { redisUrl, withDatabase } from '../services.mjs'
import { makeTransfers } from '../transfers.mjs'
import { isAccepted, load, onConnections, pause, startNode, submit, until } from './node.mjs'

const count = Number(process.env.BENCH_JUNK ?? 100_000)
/** As QUEUE_MAX_WAITING and DEAD_LETTER_MAX_BYTES, whose defaults they have. */
const maxWaiting = Number(process.env.BENCH_MAX_WAITING ?? 100_000)
const maxDeadLetterBytes = Number(process.env.BENCH_LETTER_BYTES ?? 268_435_456)
const betweenPaymentsMs = 50
const mostPayments = 4000
const mebibytes = (value) => `${round(value / 1024 / 1024)} MiB`

export async function measureJunk() {
  const { genesis, transactions, signatures } = makeTransfers(mostPayments + 1)
  const forged = transactions.at(-1)
  const { url, name } = await startNode(genesis, {
    QUEUE_MAX_WAITING: String(maxWaiting),
    DEAD_LETTER_MAX_BYTES: String(maxDeadLetterBytes),
  })
  const redis = new Redis(redisUrl)
  defer(() => redis.disconnect())
  await withDatabase(async (client) => {
    const { rows: vacuuming } = await client.query('SHOW autovacuum')
    const before = await usage(client, redis, name)
    const peak = { ...before }
    let flooding = true
    let watching = true
    const watch = (async () => {
      while (watching) {
        const now = await usage(client, redis, name)
        for (const [what, value] of Object.entries(now)) peak[what] = Math.max(peak[what], value)
        await pause(250)
      }
    })()

    const loadBefore = load()
    const began = performance.now()
    const seconds = () => ((performance.now() - began) / 1000).toFixed(0)
    const paid = []
    let refusedPayments = 0
    const answerMs = []
    const paying = (async () => {
      const connection = await openConnection(new URL(url))
      while (flooding && paid.length < mostPayments) {
        const n = paid.length
        const sent = performance.now()
        refusedPayments += await submit(connection, transactions[n])
        answerMs.push(performance.now() - sent)
        paid.push(signatures[n].message.toString('hex'))
        await pause(betweenPaymentsMs)
      }
      connection.close()
    })()

    let made = 0
    let taken = 0
    let refused = 0
    await onConnections(url, async (connection) => {
      if (made === count) return false
      const answer = await connection.submit(junk(made++, forged))
      if (answer.startsWith('HTTP/1.1 200')) taken++
      else if (/\r\nretry-after:/i.test(answer)) refused++
      else throw new Error(`an answer that no flood should cause: ${answer}`)
      return true
    })
    flooding = false
    await paying
    const sentIn = seconds()
    await until(async () => (await waitingJobs(redis, name)) === 0, 'the queue was not emptied')
    const drainedIn = seconds()
    let lost = 0
    for (const id of paid) if (!(await isAccepted(url, id))) lost++
    watching = false
    await watch
    const after = await usage(client, redis, name)
    console.log(
      `${round(count)} junk submissions in ${sentIn} s: ${round(taken)} taken, ${round(refused)} ` +
        `refused with Retry-After; ` +
        `validated after ${drainedIn} s; ${loadBefore} before, ${load()} after\n` +
        `  waiting at most ${round(peak.waiting)} of ${round(maxWaiting)}; Redis ` +
        `${mebibytes(before.redis)} → at most ` +
        `${mebibytes(peak.redis)}, at the end ${mebibytes(after.redis)}\n` +
        `  dead letters at most ${mebibytes(peak.deadLetters)} of ` +
        `${mebibytes(maxDeadLetterBytes)}; their tables at most ` +
        `${mebibytes(peak.deadLetterTables)}, with autovacuum ${vacuuming[0].autovacuum}; whole ` +
        `store at most ${mebibytes(peak.store)}\n` +
        `  ${round(paid.length)} payments meanwhile, ${lost} lost, ${round(refusedPayments)} ` +
        `times asked to try again; ` +
        `answers after p50 ${round(percentile(answerMs, 0.5))} ms, p95 ` +
        `${round(percentile(answerMs, 0.95))} ms`,
    )
    if (lost > 0) throw new Error(`${lost} payments that were taken are not in the ledger`)
  })
}

/**
 * By turns: no transaction at all, a forged signature, and 155 made-up signatures for an input that does not
 * exist.
 */
function junk(n, forged) {
  if (n % 3 === 0) return undecodable()
  if (n % 3 === 1) return badSignature(forged)
  return unknownInput()
}

function undecodable() {
  const cbor = Buffer.alloc(16_384)
  cbor[0] = 0x59
  cbor.writeUInt16BE(16_381, 1)
  randomFillSync(cbor, 3)
  return cbor
}

/** Each differs from the others in its signature, which is the last but two bytes. */
function badSignature(transaction) {
  const cbor = Buffer.from(transaction)
  randomFillSync(cbor, cbor.length - 66, 64)
  return cbor
}

const key = keyOf(7)
const random = (length) => randomFillSync(Buffer.alloc(length))

function unknownInput() {
  const signers = Array.from({ length: 155 }, () => ({ publicKey: random(32), sign: () => random(64) }))
  const body = new Map([
    [0, encodeSet([encodeInput(random(32), 0)])],
    [1, encodeList([outputOf(key, 10_000_000n)])],
    [2, encodeUint(2_000_000n)],
  ])
  return Buffer.from(signDraft({ body, witnesses: new Map(), signers, isValid: true }).cbor)
}

/** Bytes, and transactions that wait for validation. */
async function usage(client, redis, name) {
  const [{ rows }, memory, waiting] = await Promise.all([
    client.query(
      `SELECT (SELECT sum(cbor_bytes + reason_bytes) FROM ${name}.rejection_usage)::float8 AS "deadLetters",
        (pg_total_relation_size('${name}.rejections') +
          pg_total_relation_size('${name}.rejected_submissions'))::float8
          AS "deadLetterTables",
        (SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class AS c WHERE c.relnamespace =
          '${name}'::regnamespace
          AND c.relkind = 'r')::float8 AS store`,
    ),
    redis.info('memory'),
    waitingJobs(redis, name),
  ])
  return { ...rows[0], redis: Number(/used_memory:(\d+)/.exec(memory)[1]), waiting }
}

async function waitingJobs(redis, name) {
  const key = `${name}:submissions`
  const counts = await Promise.all([
    redis.llen(`${key}:wait`),
    redis.llen(`${key}:active`),
    redis.zcard(`${key}:delayed`),
  ])
  return counts.reduce((sum, each) => sum + each, 0)
}
