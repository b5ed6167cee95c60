// A node in one process on PostgreSQL and Redis, with its default settings, and what its clients do.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defer } from '../clean-up.mjs'
import { openConnection } from '../load.mjs'
import { startNodeProcess } from '../node-process.mjs'
import { databaseUrl, redisUrl, removeTraces } from '../services.mjs'

const connections = 64
const patienceMs = 600_000

/** Starts a node with these genesis outputs; `cleanUp` ends it. */
export async function startNode(genesis, environment = {}) {
  const name = `bench_${randomBytes(4).toString('hex')}`
  const folder = mkdtempSync(join(tmpdir(), 'ratatosk-bench-genesis-'))
  defer(() => rmSync(folder, { recursive: true, force: true }))
  defer(() => removeTraces(name))
  const file = join(folder, 'genesis.json')
  writeFileSync(file, JSON.stringify({ utxos: genesis }))
  const { url, pid } = await startNodeProcess({
    DATABASE_URL: databaseUrl,
    DATABASE_SCHEMA: name,
    REDIS_URL: redisUrl,
    QUEUE_PREFIX: name,
    GENESIS_FILE: file,
    ...environment,
  })
  return { url, name, pid }
}

/**
 * Submits as an honest client does: again after `Retry-After`, if the queue is full.
 *
 * @returns {Promise<number>} how many times the node asked to try again
 */
export async function submit(connection, cbor) {
  for (let refusals = 0; ; refusals++) {
    const answer = await connection.submit(cbor)
    if (answer.startsWith('HTTP/1.1 200')) return refusals
    const retryAfter = /\r\nretry-after: *(\d+)/i.exec(answer)?.[1]
    if (retryAfter === undefined) throw new Error(`a submission was not taken: ${answer}`)
    await pause(Number(retryAfter) * 1000)
  }
}

/** Calls `send` for each connection until it returns false. */
export async function onConnections(url, send) {
  const opened = await Promise.all(Array.from({ length: connections }, () => openConnection(new URL(url))))
  try {
    await Promise.all(
      opened.map(async (connection) => {
        while (await send(connection));
      }),
    )
  } finally {
    for (const connection of opened) connection.close()
  }
}

/** Milliseconds from the submission of a payment until `/tx` has it. */
export async function timePayment(url, connection, cbor, id) {
  const began = performance.now()
  await submit(connection, cbor)
  await until(() => isAccepted(url, id), 'a payment was not accepted', 5)
  return performance.now() - began
}

export async function isAccepted(url, id) {
  const answer = await fetch(`${url}/tx?tx_hash=${id}`)
  await answer.arrayBuffer()
  return answer.status === 200
}

export async function until(holds, otherwise, everyMs = 200) {
  const deadline = Date.now() + patienceMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(otherwise)
    await pause(everyMs)
  }
}

export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** What the machine does besides: figures mean little without it. */
export const load = () => `load ${loadavg()[0].toFixed(1)}`
