import { openStore } from '@ratatosk/store'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { describe, expect, it } from 'vitest'
import { loadContext } from '../context.js'
import { readSettings } from '../settings/read.js'
import { checkRules, checkStored, keepRules } from './check-stored.js'

const policy = 'ab'.repeat(28)
const services = { DATABASE_URL: 'postgres://127.0.0.1/never', REDIS_URL: 'redis://127.0.0.1' }
const provider = {
  LAYER1_PROVIDER: 'blockfrost',
  BLOCKFROST_URL: 'http://127.0.0.1:9',
  ARCHIVIST_PEERS: 'http://127.0.0.1:9/archivist',
}

const load = (environment: Record<string, string>) =>
  loadContext(readSettings({ LOG_LEVEL: 'silent', ...environment }), {})

describe('kept rules', () => {
  it('are the same for every role, or the start is refused by the name of the setting', async () => {
    const store = await openTestStore(openStore)
    const shared = { ...services, BRIDGED_POLICIES: policy }
    await keepRules(await load({ ...shared, NODE_ROLE: 'sequencer' }), store)
    for (const role of ['all', 'api', 'tx-processor', 'sequencer']) {
      const start = async (changes: Record<string, string>) =>
        keepRules(await load({ ...shared, NODE_ROLE: role, ...changes }), store)
      await start({})
      for (const [changes, message] of [
        [{ BRIDGE: 'false' }, /has BRIDGE true, and here BRIDGE is false\. .*begin anew/],
        [{ BRIDGED_POLICIES: '' }, /has BRIDGED_POLICIES (ab){28}, and here BRIDGED_POLICIES is empty\./],
        [
          { MATURITY_WINDOW_MS: '77000' },
          /has MATURITY_WINDOW_MS 30000, and here MATURITY_WINDOW_MS is 77000\./,
        ],
        [
          { OPERATOR_BOND: '700000000' },
          /has OPERATOR_BOND 500000000, and here OPERATOR_BOND is 700000000\./,
        ],
        [{ LEDGER_VERSION: '10' }, /PROTOCOL_PARAMETERS_FILE has changed/],
      ] as const)
        await expect(start(changes), `${role} ${JSON.stringify(changes)}`).rejects.toMatchObject({
          code: 'NODE_DATABASE',
          message: expect.stringMatching(message),
        })
    }
  })

  it('may be the wrong ones in a store without blocks, which the refusal says', async () => {
    const store = await openTestStore(openStore)
    const archivist = (window: string) =>
      load({ ...services, NODE_ROLE: 'archivist', ...provider, MATURITY_WINDOW_MS: window })
    await keepRules(await archivist('30000'), store)
    const right = await archivist('600000')
    const ledgerVersion = right.parameters.ledgerVersion.major
    const head = { newest: undefined, archivedHeader: undefined, ledgerVersion, ledgerQueue: undefined }
    const ledgerRules = await store.ledgerRules('')
    await expect(
      checkStored(right, { ...head, ledgerRules, database: store.database }),
    ).rejects.toMatchObject({
      code: 'NODE_DATABASE',
      message: expect.stringMatching(
        /has no block yet\. If .* run `DROP SCHEMA IF EXISTS ratatosk, ratatosk_index, .* CASCADE` in /,
      ),
    })
    expect(() => checkRules(right, ledgerRules)).toThrow(/ Start with the settings of the others, or begin /)
  })

  it('of a deployment without a bridge refuse one with a bridge', async () => {
    const store = await openTestStore(openStore)
    await keepRules(await load({ BRIDGE: 'false' }), store)
    await keepRules(await load({ BRIDGE: 'false', MATURITY_WINDOW_MS: '77000' }), store)
    await expect(keepRules(await load({ ...services, NODE_ROLE: 'tx-processor' }), store)).rejects.toThrow(
      /has BRIDGE false, and here BRIDGE is true\./,
    )
  })
})
