import { freePort } from '@ratatosk/test-kit'
import t, { type Test } from 'tap'
import { checkEnvironment } from '../check/check-environment.js'
import { readSettings } from '../settings/read.js'
import { anyPlacement, onServices, type Placement, temporaryDirectory } from '../test/backends.js'
import { devnetServer } from '../test/devnet-server.js'
import { initialised, runNode } from '../test/node.js'

t.setTimeout(300_000)

/** The finding about a subject; undefined if there is none. */
async function finding(t: Test, subject: string, environment: Placement) {
  const DATA_DIR = await temporaryDirectory(t)
  const findings = await checkEnvironment(readSettings({ PORT: '0', DATA_DIR, ...environment }))
  return findings.find((each) => each.subject === subject)
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
  t.equal(await found({ NODE_ROLE: 'all', MATURITY_WINDOW_MS: '31000' }), undefined, 'may begin another')
})

const services = await onServices()

t.test('a port at which another process hosts the devnet is no fault', { skip: services.skip }, async (t) => {
  const placement = await services.place(t)
  const shared = { ...placement, NODE_ROLE: 'sequencer', DEVNET_PORT: await freePort() }
  const node = await runNode(t, shared)
  const standby = { ...shared, DATA_DIR: await temporaryDirectory(t) }
  t.match(await finding(t, 'devnet port', standby), { status: 'ok', message: /would stand by$/ })
  await node.close()
  t.match(await finding(t, 'devnet port', standby), { status: 'ok', message: /is free$/ })
})
