import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@ratatosk/client'
import { databaseUrl, inDatabase, randomName } from '@ratatosk/test-kit'
import { until } from '@ratatosk/test-kit/http'
import { needServices } from '@ratatosk/test-kit/vitest'
import { expect, type TestContext, test } from 'vitest'
import { startedNode, testLayer1 } from './test/nodes.js'
import { run } from './test/run.js'
import { openUsers } from './test/users.js'

/** A node on PostgreSQL that commits only when it is asked to, and its users. */
async function openNode(context: TestContext) {
  await needServices(context)
  const layer1 = await testLayer1()
  context.onTestFinished(() => layer1.close())
  const schema = randomName()
  const schemas = ['', '_queue', '_index'].map((part) => `DROP SCHEMA IF EXISTS ${schema}${part} CASCADE`)
  context.onTestFinished(() => inDatabase(schemas.join(';')))
  const settings = { ...layer1.settings, MATURITY_WINDOW_MS: '600000' }
  const own = { ...settings, DATABASE_SCHEMA: schema, AUTO_COMMIT: 'false' }
  const { url, stop } = await startedNode(own, { DATABASE_URL: databaseUrl })
  context.onTestFinished(async () => void (await stop()))
  const client = createClient(url, { operatorToken: 'an-operator' })
  await until(async () => (await run(['status', '--url', url])).out.includes('state queue     ok'), {
    timeoutMs: 300_000,
    what: 'the node is ready',
  })
  const { users, close } = await openUsers(() => client)
  context.onTestFinished(close)
  const pay = (n: number) => users[n % users.length]!.pay(users[(n + 1) % users.length]!.address, 2_000_000n)
  const environment = { ...settings, ARCHIVIST_PEERS: `${url}/archivist` }
  const audit = async (...more: string[]) => {
    const { status, out } = await run(['audit', '--url', url, '--json', ...more], environment)
    const { verdict, findings, unchecked } = JSON.parse(out)
    const kinds: string[] = findings.map(({ kind }: { kind: string }) => kind)
    return { status, verdict, unchecked, kinds: [...new Set(kinds)].sort() }
  }
  return { client, pay, audit, table: (name: string) => `${schema}.${name}` }
}

test('what a node loses or makes in its store is found', { timeout: 600_000 }, async (context) => {
  const { client, pay, audit, table } = await openNode(context)
  const committed = [await pay(0), await pay(1)]
  await client.commit()
  const waiting = [await pay(2), await pay(3), await pay(4)]
  await until(async () => (await audit()).verdict === 'clean', { timeoutMs: 120_000, what: 'it is clean' })

  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-cli-'))
  context.onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'accepted')
  await writeFile(file, [...committed, ...waiting, ''].join('\n'))
  expect(await audit('--accepted', file)).toMatchObject({ status: 0, verdict: 'clean' })

  // Outputs stay in the ledger.
  await inDatabase(
    `DELETE FROM ${table('mempool_transactions')} WHERE transaction_id = decode('${waiting[2]}', 'hex')`,
  )
  expect(await audit()).toMatchObject({
    status: 1,
    verdict: 'defective',
    kinds: expect.arrayContaining(['lost']),
  })

  // As if it had never been, but for the inputs that it spent.
  await inDatabase(
    `DELETE FROM ${table('mempool_ledger')} WHERE transaction_id = decode('${waiting[2]}', 'hex')`,
  )
  const { kinds } = await audit()
  expect(kinds).toContain('node-outputs')
  const withIds = await audit('--accepted', file)
  expect(withIds.kinds).toContain('lost')

  await writeFile(file, 'no id\n')
  expect(await audit('--accepted', file)).toMatchObject({
    unchecked: [{ why: expect.stringContaining('Line 1') }],
  })
})

test('the audit of a node that accepts all the time ends, and is clean', {
  timeout: 600_000,
}, async (context) => {
  const { client, pay, audit } = await openNode(context)
  await pay(0)
  await client.commit()
  let stopped = false
  let paid = 0
  const paying = (async () => {
    while (!stopped) {
      await pay(paid++)
      if (paid % 10 === 0) await client.commit().catch(() => undefined)
    }
  })()
  const since = performance.now()
  for (let n = 0; n < 3; n++) {
    const before = paid
    expect(await audit()).toMatchObject({ status: 0, verdict: 'clean', unchecked: [], kinds: [] })
    // A busy machine may take a payment only after the reading.
    await expect.poll(() => paid, { timeout: 60_000 }).toBeGreaterThan(before)
  }
  stopped = true
  await paying
  console.log(JSON.stringify({ audits: 3, milliseconds: Math.round(performance.now() - since), paid }))
})
