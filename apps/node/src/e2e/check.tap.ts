import { freePort } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { checkEnvironment } from '../check/check-environment.js'
import { readSettings } from '../settings/read.js'
import { anyPlacement, onServices, type Placement, temporaryDirectory } from '../test/backends.js'
import { devnetServer } from '../test/forged-block.js'
import { initialised, runNode } from '../test/node.js'

t.setTimeout(300_000)

async function findingsOf(t: Test, environment: Placement) {
  const DATA_DIR = await temporaryDirectory(t)
  return checkEnvironment(readSettings({ PORT: '0', DATA_DIR, ...environment }))
}

/** The first finding about a subject; undefined if there is none. */
async function finding(t: Test, subject: string, environment: Placement) {
  return (await findingsOf(t, environment)).find((each) => each.subject === subject)
}

t.test('check names settings whose contracts have no state queue on layer 1', async (t) => {
  const { settings } = await devnetServer(t)
  const { url } = await runNode(t, { ...(await anyPlacement(t)), ...settings, BLOCK_VALIDITY_MS: '10000' })
  await initialised(url)
  const follower = { ...settings, NODE_ROLE: 'archivist', ARCHIVIST_PEERS: `${url}/archivist` }
  const found = (others: Placement) => finding(t, 'state queue', { ...follower, ...others })
  t.match(await found({}), { status: 'ok' })
  t.match(await found({ MATURITY_WINDOW_MS: '31000' }), {
    status: 'failed',
    message: /^Layer 1 has no state queue of these contracts: .* such as MATURITY_WINDOW_MS, differs .*\.$/,
  })
  const sequencing = { NODE_ROLE: 'all', ARCHIVIST_PEERS: '' }
  t.match(await found(sequencing), { status: 'ok', message: /^layer 1 has that of these contracts$/ })
  t.match(await found({ ...sequencing, MATURITY_WINDOW_MS: '31000' }), {
    status: 'failed',
    message:
      /^The deployment output .*#0 is spent .* MATURITY_WINDOW_MS, or else name an unspent DEPLOYMENT_OUTPUT/,
  })
  const other = { ...sequencing, OPERATOR_SEED_PHRASE: `${'abandon '.repeat(23)}art` }
  const findings = await findingsOf(t, { ...settings, ...other })
  t.match(
    findings.find(({ subject, status }) => subject === 'state queue' && status === 'warning'),
    { message: /^the operator's key [0-9a-f]{56} is not in the registry, .*`ratatosk operator register`/ },
  )
})

t.test('a sequencer with the settings of another deployment is not ready, and says why', async (t) => {
  const { settings } = await devnetServer(t)
  const manual = { ...settings, BLOCK_VALIDITY_MS: '10000', AUTO_INIT: 'false' }
  const other = await runNode(t, { ...(await anyPlacement(t)), ...manual, MATURITY_WINDOW_MS: '31000' })
  const readiness = () => ask(`${other.url}/health/ready`)
  await until(async () => (await readiness()).status === 200, { what: 'it is ready before any deployment' })
  const first = await runNode(t, { ...(await anyPlacement(t)), ...settings, BLOCK_VALIDITY_MS: '10000' })
  await initialised(first.url)
  await until(async () => (await readiness()).status === 503, { what: 'it sees that its queue cannot begin' })
  t.match((await readiness()).body, /"layer1":"SEQUENCER_DEPLOYMENT_OUTPUT_SPENT: [^"]* use the /)
})

t.test('check finds no fault with settings whose state queue can begin', async (t) => {
  const { settings } = await devnetServer(t)
  const found = () => finding(t, 'state queue', settings)
  await until(async () => (await found()) !== undefined, { what: 'layer 1 has a block' })
  t.match(await found(), { status: 'ok', message: /^layer 1 has none yet, and one can begin$/ })
})

const services = await onServices()

t.test('a port at which another process hosts the devnet is no fault', { skip: services.skip }, async (t) => {
  const placement = await services.place(t)
  const shared = { ...placement, NODE_ROLE: 'sequencer', DEVNET_PORT: await freePort() }
  const node = await runNode(t, shared)
  const standby = { ...shared, DATA_DIR: await temporaryDirectory(t) }
  await initialised(node.url)
  const other = { ...standby, OPERATOR_SEED_PHRASE: `${'abandon '.repeat(23)}art` }
  t.match(
    (await findingsOf(t, other)).filter(({ subject }) => subject === 'state queue').at(-1),
    { status: 'warning', message: /is not in the registry/ },
    'it compares the keys on the devnet of the other one',
  )
  t.match(await finding(t, 'devnet port', standby), { status: 'ok', message: /would stand by$/ })
  await node.close()
  t.match(await finding(t, 'devnet port', standby), { status: 'ok', message: /is free$/ })
})
