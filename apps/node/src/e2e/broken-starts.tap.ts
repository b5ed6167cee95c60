import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { blockVersion } from '@ratatosk/block'
import { databaseUrl, freePort, inDatabase, randomName, redisUrl, schemaDigest } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { checkEnvironment, readSettings, startNode } from '../index.js'
import {
  embedded,
  onServices,
  type Placement,
  servicesMissing,
  temporaryDirectory,
} from '../test/backends.js'
import { initialised, refusalOf, runNode, submit } from '../test/node.js'
import { failedStart } from '../test/node-process.js'
import { transferFrom } from '../test/transfer.js'

// Three starts, two that are refused, and a block.
t.setTimeout(600_000)

const common = { MATURITY_WINDOW_MS: '500', VERDICT_POLICIES: 'none' }
const startAt = (place: Placement) =>
  startNode(readSettings({ PORT: '0', LOG_LEVEL: 'silent', ...common, ...place }))

/** A start is refused, and so is it by `ratatosk check`, with the same words. */
async function refusedAlike(t: Test, place: Placement, message: RegExp): Promise<void> {
  await t.rejects(startAt(place), { code: 'NODE_DATABASE', message })
  const findings = await checkEnvironment(readSettings({ PORT: '0', ...common, ...place }))
  const failed = findings.filter(({ status }) => status === 'failed')
  t.match(failed, [{ subject: 'deployment', message }])
  t.equal(failed.length, 1)
}

const remedy = 'begin anew with another DATABASE_SCHEMA or, if DATABASE_URL is not set, another DATA_DIR'

const services = await onServices()

t.test('a store of another version is refused', { skip: services.skip }, async (t) => {
  const place = await services.place(t)
  const { DATABASE_SCHEMA: schema = '' } = place
  const { transfer } = await transferFrom(3, 0)
  const node = await runNode(t, { ...common, ...place })
  await submit(node.url, transfer.cborHex)
  const status = async () =>
    JSON.parse((await ask(`${node.url}/tx/status?tx_hash=${transfer.hash}`)).body).status
  await until(async () => (await status()) === 'merged', {
    what: 'the transaction is merged',
    timeoutMs: 240_000,
  })
  await node.close()
  const digests = () => Promise.all(['', '_index', '_devnet'].map((end) => schemaDigest(`${schema}${end}`)))

  const found = await checkEnvironment(readSettings({ PORT: '0', ...common, ...place }))
  t.match(
    found.find(({ subject }) => subject === 'deployment'),
    { status: 'ok', message: /^ledger version 11/ },
  )
  await refusedAlike(
    t,
    { ...place, LEDGER_VERSION: '10' },
    /^The deployment in this database began with ledger version 11/,
  )
  await refusedAlike(
    t,
    { ...place, MATURITY_WINDOW_MS: '600' },
    /^The deployment in this database has MATURITY_WINDOW_MS 500, and here MATURITY_WINDOW_MS is 600\./,
  )
  // As it was before the rules were kept.
  await inDatabase(`UPDATE ${schema}.deployment SET rules = NULL`)
  await refusedAlike(
    t,
    { ...place, MATURITY_WINDOW_MS: '600' },
    /^The blocks in the schema .* are not in the state queue of these contracts/,
  )

  // The version is the last item of an indefinite list.
  await inDatabase(`
    UPDATE ${schema}.blocks SET header = set_byte(header, octet_length(header) - 2, 1)
    WHERE get_byte(header, octet_length(header) - 1) = 255`)
  const blocks = await digests()
  await refusedAlike(
    t,
    place,
    new RegExp(
      `^The blocks in the schema ${schema} of postgres:.* of block version 1, and this node has version ` +
        `${blockVersion}\\. Nothing was changed\\. Start the version that made them, or ${remedy}`,
    ),
  )
  t.same(await digests(), blocks, 'the refused start left everything as it was')

  await inDatabase(`UPDATE ${schema}.migrations SET hash = 'of another commit'`)
  const tables = await digests()
  await refusedAlike(
    t,
    place,
    new RegExp(
      `^The store cannot be opened: The schema "${schema}" is of another version, whose tables differ\\. ` +
        `Nothing was changed\\. Start the version that made it, or ${remedy}`,
    ),
  )
  t.same(await digests(), tables, 'so did this one')
})

t.test('a devnet of other contracts, without blocks, is refused', async (t) => {
  const { DATA_DIR = '' } = await embedded(t)
  const place = { DATA_DIR, AUTO_COMMIT: 'false' }
  const first = await runNode(t, { ...common, ...place })
  await initialised(first.url)
  const queueOf = async (url: string) => (await ask(`${url}/stateQueue`)).body
  const queue = await queueOf(first.url)
  await first.close()
  await t.rejects(startAt({ ...place, MATURITY_WINDOW_MS: '600' }), {
    code: 'NODE_DATABASE',
    message: /^The deployment in this database has MATURITY_WINDOW_MS 500,.* 600\..* remove the folder/,
  })
  const again = await startAt(place)
  t.equal(await queueOf(again.url), queue, 'the refused start left the deployment as it was')
  await again.close()
})

t.setTimeout(600_000)

const directory = await temporaryDirectory(t)
const never = join(directory, 'never')
const plainFile = join(directory, 'plain')
await writeFile(plainFile, '')
const unreachable = '127.0.0.1:1'

/** One message that says what to do, and nothing that the start has created. */
async function refused(
  t: Test,
  environment: Readonly<Record<string, string>>,
  ...sentences: readonly (string | RegExp)[]
): Promise<void> {
  judge(t, await refusalOf({ DATA_DIR: never, ...environment }), sentences)
}

function judge(t: Test, output: string, sentences: readonly (string | RegExp)[]): void {
  for (const sentence of sentences) t.match(output, sentence)
  t.equal(output.match(/Ratatosk did not start/g)?.length, 1, 'one message')
  t.notMatch(output, /^\s+at /m, 'no stack trace')
  t.notMatch(output, 'opensesame')
  t.notOk(existsSync(never), 'nothing is created')
}

t.test('a port that is taken', async (t) => {
  const occupied = createServer()
  await new Promise<void>((resolve) => occupied.listen(0, '127.0.0.1', resolve))
  t.teardown(() => occupied.close())
  const address = occupied.address()
  const port = String(typeof address === 'object' ? address?.port : undefined)
  const advice = 'another process listens on this port. Stop it, or set another'
  await refused(t, { PORT: port }, `PORT is ${port}: ${advice} PORT; 0 takes a free port.`)
  await refused(
    t,
    { DEVNET_PORT: port },
    `DEVNET_PORT is ${port}: ${advice} DEVNET_PORT; 0 takes a free port.`,
  )
})

t.test('a port that is named twice', async (t) => {
  const port = await freePort()
  await refused(t, { PORT: port, DEVNET_PORT: port }, `are both ${port}: set different ports.`)
})

t.test('an address of another machine', async (t) => {
  const environment = { HOST: 'nowhere.invalid', OPERATOR_OPEN: 'true' }
  await refused(t, environment, 'HOST is "nowhere.invalid": this machine has no such')
})

t.test('PostgreSQL that is away ends the process, with all that it prints', async (t) => {
  const environment = { DATA_DIR: never, DATABASE_URL: `postgres://me:opensesame@${unreachable}/x` }
  const { code, stdout, stderr } = await failedStart(t, environment)
  t.equal(code, 1)
  judge(t, stdout + stderr, [
    'The store cannot be opened: The database is unreachable: check that it runs and accepts connections',
    `postgres://***@${unreachable}/x: no answer: start PostgreSQL, or correct DATABASE_URL.`,
  ])
})

t.test('Redis that is away', async (t) => {
  const environment = { REDIS_URL: `redis://me:opensesame@${unreachable}` }
  const sentence = 'The queue cannot be opened: Redis is not reachable. Start Redis at redis://***@'
  await refused(t, environment, sentence, /correct REDIS_URL, or unset it/)
})

t.test('services of which one refuses', { skip: await servicesMissing() }, async (t) => {
  const DATABASE_SCHEMA = randomName()
  const DATABASE_URL = databaseUrl
  const absent = new URL(databaseUrl)
  absent.pathname = `/${randomName()}`
  await refused(
    t,
    { DATABASE_URL: absent.href, REDIS_URL: redisUrl },
    'The store cannot be opened: The database refuses the user, the database name',
    'the database does not exist: create it, such as with `createdb`.',
  )
  const standby = `${databaseUrl}?options=-c%20default_transaction_read_only%3Don`
  await refused(t, { DATABASE_URL: standby, DATABASE_SCHEMA }, 'the server is read-only: name the primary')
  await refused(t, { DATABASE_URL, DATABASE_SCHEMA, REDIS_URL: `redis://${unreachable}` }, /Start Redis at/)
  const schemas = `SELECT 1 / (SELECT count(*) = 0 FROM pg_namespace
    WHERE starts_with(nspname, '${DATABASE_SCHEMA}'))::int`
  await t.resolves(inDatabase(schemas), 'no schema is created')
})

t.test('a misspelt setting', (t) =>
  refused(t, { MATURITY_WINDOW_M: '1000' }, /^MATURITY_WINDOW_M is .* MATURITY_WINDOW_MS/m),
)

t.test('a data directory that cannot be written to', (t) =>
  refused(t, { DATA_DIR: join(plainFile, 'x') }, /^DATA_DIR is ".*plain\/x": /m),
)

t.test('a public network without a provider', (t) =>
  refused(
    t,
    { NETWORK: 'preprod' },
    /^NETWORK is "preprod" but LAYER1_PROVIDER is .*: set LAYER1_PROVIDER to/m,
  ),
)

t.test('a verdict policy for other rules than those of layer 2', async (t) => {
  const parameters = JSON.parse(
    await readFile(new URL('../../parameters/devnet.json', import.meta.url), 'utf8'),
  )
  const file = join(directory, 'parameters.json')
  await writeFile(file, JSON.stringify({ ...parameters, protocol_major_ver: 12 }))
  await refused(
    t,
    { PROTOCOL_PARAMETERS_FILE: file, VERDICT_POLICIES: 'transaction' },
    /^VERDICT_POLICIES names .* version 12,/m,
  )
})
