import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { databaseUrl, freePort, inDatabase, randomName, redisUrl } from '@ratatosk/test-kit'
import t, { type Test } from 'tap'
import { servicesMissing, temporaryDirectory } from '../test/backends.js'
import { refusalOf } from '../test/node.js'
import { failedStart } from '../test/node-process.js'

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
