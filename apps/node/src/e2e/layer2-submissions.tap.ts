import { setTimeout as pause } from 'node:timers/promises'
import { fromHex } from '@ratatosk/cbor'
import { apis } from '@ratatosk/chain-apis'
import { openLayer2Chain } from '@ratatosk/layer2/chain'
import { openIndex } from '@ratatosk/layer2/ledger-index'
import { decodeTransaction } from '@ratatosk/ledger'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { createSubmissionQueue, openQueueBackend } from '@ratatosk/queue'
import { openStore } from '@ratatosk/store'
import { databaseUrl, redisUrl } from '@ratatosk/test-kit'
import { ask } from '@ratatosk/test-kit/http'
import { alice, aliceGenesis, bob, devnetParameters, draft, first } from '@ratatosk/test-kit/ledger-apis'
import { openTurns } from '@ratatosk/workers'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { onServices, temporaryDirectory } from '../test/backends.js'
import { runNode } from '../test/node.js'
import { spawnNode } from '../test/node-process.js'
import { manyTransfers } from '../test/transfer.js'

/** How many valid and how many invalid transactions are submitted at once. */
const crowd = Number(process.env.RATATOSK_LAYER2_CROWD ?? 100)
const services = await onServices()

async function post(url: string, cborHex: string) {
  const { status, body, headers } = await ask(`${url}/l2/blockfrost/api/v0/tx/submit`, {
    method: 'POST',
    headers: { 'content-type': 'application/cbor' },
    body: Buffer.from(cborHex, 'hex'),
  })
  return { status, answer: JSON.parse(body), headers }
}

/** Repeats a submission after `Retry-After` as a client does, until there is a result. */
async function verdict(url: string, cborHex: string) {
  for (;;) {
    const answer = await post(url, cborHex)
    if (answer.status !== 503) return answer
    await pause(1000 * Number(answer.headers['retry-after']))
  }
}

/** Signed transactions, each with the predicate that it breaks. */
function invalid(count: number): { cborHex: string; predicate: string }[] {
  const base = {
    inputs: [first],
    outputs: [{ address: bob.addressBytes, lovelace: 99_800_000n }],
    fee: 200_000n,
    signers: [alice],
  }
  return Array.from({ length: count }, (_, n) => {
    const other = BigInt(n)
    const [predicate, transaction] = (
      [
        ['BadInputsUTxO', { ...base, inputs: [`${'22'.repeat(32)}#${n}`] }],
        ['FeeTooSmallUTxO', { ...base, fee: other }],
        [
          'ValueNotConservedUTxO',
          { ...base, outputs: [{ address: bob.addressBytes, lovelace: 1_000_000n + other }] },
        ],
        ['MissingVKeyWitnessesUTXOW', { ...base, fee: 200_000n + other, signers: [bob] }],
      ] as const
    )[n % 4]!
    return { predicate, cborHex: Buffer.from(draft(transaction).cbor).toString('hex') }
  })
}

t.test(
  `${crowd} valid and ${crowd} invalid submissions at once: each gets its verdict`,
  { skip: services.skip },
  async (t) => {
    const { genesisFile, transfers } = await manyTransfers(t, crowd, aliceGenesis.utxos)
    const node = await runNode(t, {
      ...(await services.place(t)),
      GENESIS_FILE: genesisFile,
      AUTO_COMMIT: 'false',
    })
    const wrong = invalid(crowd)
    let found = 0
    let named = 0
    await Promise.all([
      ...transfers.map(async ({ hash, cborHex }) => {
        const { status, answer } = await verdict(node.url, cborHex)
        if (status !== 200 || answer !== hash) t.fail(`${hash}: ${status} ${JSON.stringify(answer)}`)
        const { status: lookup } = await ask(`${node.url}/tx?tx_hash=${hash}`)
        if (lookup === 200) found++
      }),
      ...wrong.map(async ({ cborHex, predicate }) => {
        const { status, answer } = await verdict(node.url, cborHex)
        if (status === 400 && String(answer.message).includes(predicate)) named++
        else t.fail(`${predicate}: ${status} ${JSON.stringify(answer)}`)
      }),
    ])
    t.equal(found, crowd, 'each id that was answered is found by GET /tx at once')
    t.equal(named, crowd, 'each 400 names its predicate')
    const { transactions } = await node.store.chain.countAfter(0n, 10 * crowd)
    t.equal(transactions, crowd, 'nothing else is in the ledger')

    await t.test('/l2, /evaluate and /tx/status name every predicate that fails', async (t) => {
      const { cbor, hash } = draft({
        inputs: [first, `${'22'.repeat(32)}#0`],
        outputs: [{ address: bob.addressBytes, lovelace: 1n }],
        fee: 1n,
        signers: [bob],
      })
      const cborHex = Buffer.from(cbor).toString('hex')
      const { answer } = await verdict(node.url, cborHex)
      const { error } = JSON.parse(answer.message).contents.contents.contents
      const predicates = error.map((text: string) => /(\w+) \(\{"message"/.exec(text)?.[1])
      t.same(predicates, [
        'FeeTooSmallUTxO',
        'BabbageOutputTooSmallUTxO',
        'BadInputsUTxO',
        'MissingVKeyWitnessesUTXOW',
      ])
      const evaluated = await ask(`${node.url}/evaluate`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: cborHex,
      })
      const { failures } = JSON.parse(evaluated.body)
      t.same(
        failures.map(({ predicate }: { predicate: string }) => predicate),
        predicates,
      )
      const status = JSON.parse((await ask(`${node.url}/tx/status?tx_hash=${hash}`)).body)
      t.match(status, { status: 'rejected', rejection: { code: predicates[0] } })
      t.same(status.rejection.failures, failures)
    })
  },
)

t.test(
  'the validating process is killed meanwhile: 503, and a repeated submission has one effect',
  { skip: services.skip },
  async (t) => {
    const placement = await services.place(t)
    const { genesisFile, transfers } = await manyTransfers(t, crowd)
    const validator = async () =>
      spawnNode(t, {
        ...placement,
        NODE_ROLE: 'tx-processor',
        DATA_DIR: await temporaryDirectory(t),
        GENESIS_FILE: genesisFile,
      })
    const victim = await validator()
    const { url, store } = await serveGateway(t, placement.DATABASE_SCHEMA ?? '', 2_000)
    const half = transfers.length / 2
    let killed: Promise<unknown> | undefined
    const overtaken = await Promise.all(
      transfers.slice(0, half).map(async ({ cborHex }) => {
        const { status } = await post(url, cborHex)
        killed ??= victim.stop('SIGKILL')
        return status
      }),
    )
    await killed
    t.ok(
      overtaken.every((status) => status === 200 || status === 503),
      `while it dies: ${overtaken.filter((status) => status === 200).length} accepted of ${half}, ` +
        'the others undecided',
    )
    const refused = await Promise.all(transfers.slice(half).map(({ cborHex }) => post(url, cborHex)))
    t.same([...new Set(refused.map(({ status }) => status))], [503], 'after it died')
    t.ok(refused.every(({ headers }) => Number(headers['retry-after']) > 0))
    t.match(refused[0]?.answer, { status_code: 503, message: /Submit it again: it takes effect once/ })

    await validator()
    await Promise.all(
      transfers.map(async ({ hash, cborHex }) => {
        const { status, answer } = await verdict(url, cborHex)
        t.equal(status, 200)
        t.equal(answer, hash)
      }),
    )
    const { transactions } = await store.chain.countAfter(0n, 10 * crowd)
    t.equal(transactions, crowd, 'each took effect once')

    // Its predicate may hold later, so it is validated several times, longer than a submission waits.
    const [wrong] = invalid(1)
    const { status, answer } = await verdict(url, wrong?.cborHex ?? '')
    t.equal(status, 400, 'a repeated submission gets a late result')
    t.match(answer.message, wrong?.predicate)
    const { id } = decodeTransaction(fromHex(wrong?.cborHex ?? ''))
    t.equal((await store.rejections.findTransaction(id))?.count, 1, 'of one submission')
  },
)

/** Serves `/l2` on a node's database and queue, without validation. `name`: schema and prefix. */
async function serveGateway(t: Test, name: string, submitTimeoutMs: number) {
  const parameters = devnetParameters()
  const store = await openStore({ url: databaseUrl, schema: name, maxConnections: 6 })
  const queue = await openQueueBackend({ kind: 'redis', url: redisUrl, prefix: name })
  const evaluator = createEvaluator({ threads: 1 })
  const index = await openIndex({
    database: store.database,
    schema: `${name}_index`,
    source: store.changes,
    genesis: [],
  })
  const layer2 = openLayer2Chain({
    store,
    index,
    queue: createSubmissionQueue(queue),
    evaluator,
    turns: openTurns(),
    maxTransactionSize: parameters.maxTransactionSize,
    submitTimeoutMs,
    log: { warn: (...args: unknown[]) => console.warn(...args) },
    parameters,
    slots: { zeroTime: BigInt(Date.UTC(2025, 0, 1)), zeroSlot: 0n, slotLength: 1000 },
    networkMagic: 42,
    networkId: 0,
    maxBlockSize: 90_112,
    securityParameter: 2_160,
    now: Date.now,
  })
  const server = fastify({ forceCloseConnections: true })
  await server.register(apis, { chain: layer2.view('accepted'), prefix: '/l2' })
  // As a node does: by default the system resets some of more than 511 connections that come at once.
  const url = await server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 })
  t.teardown(async () => {
    layer2.close()
    await server.close()
    await index.close()
    await queue.close()
    await store.close()
    await evaluator.close()
  })
  return { url, store }
}
