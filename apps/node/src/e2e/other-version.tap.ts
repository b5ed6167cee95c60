import { blockVersion } from '@ratatosk/block'
import { inDatabase, schemaDigest } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { checkEnvironment, readSettings, startNode } from '../index.js'
import { embedded, onServices, type Placement } from '../test/backends.js'
import { initialised, runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfers.js'

// Three starts, two that are refused, and a block.
t.setTimeout(600_000)

const common = { MATURITY_WINDOW_MS: '500', VERDICT_POLICIES: 'none' }
const startAt = (place: Placement) =>
  startNode(readSettings({ PORT: '0', LOG_LEVEL: 'silent', ...common, ...place }))

/** A start is refused, and so is it by `ratatosk check`, with the same words. */
async function refused(t: Test, place: Placement, message: RegExp): Promise<void> {
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
  await refused(
    t,
    { ...place, LEDGER_VERSION: '10' },
    /^The deployment in this database began with ledger version 11/,
  )
  await refused(
    t,
    { ...place, MATURITY_WINDOW_MS: '600' },
    /^The deployment in this database has MATURITY_WINDOW_MS 500, and here MATURITY_WINDOW_MS is 600\./,
  )
  // As it was before the rules were kept.
  await inDatabase(`UPDATE ${schema}.deployment SET rules = NULL`)
  await refused(
    t,
    { ...place, MATURITY_WINDOW_MS: '600' },
    /^The blocks in the schema .* are not in the state queue of these contracts/,
  )

  // The version is the last item of an indefinite list.
  await inDatabase(`
    UPDATE ${schema}.blocks SET header = set_byte(header, octet_length(header) - 2, 1)
    WHERE get_byte(header, octet_length(header) - 1) = 255`)
  const blocks = await digests()
  await refused(
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
  await refused(
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
    message: /^The deployment in this database has MATURITY_WINDOW_MS 500, and here .* is 600\..* begin anew/,
  })
  const again = await startAt(place)
  t.equal(await queueOf(again.url), queue, 'the refused start left the deployment as it was')
  await again.close()
})
