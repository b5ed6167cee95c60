import { fileURLToPath } from 'node:url'
import { openStore } from '@ratatosk/store'
import { recordedLog } from '@ratatosk/test-kit/http'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { loadContext } from '../context.js'
import { readSettings } from '../settings/read.js'
import { atLedgerVersion, contextAt } from './ledger-version.js'

const version11 = fileURLToPath(new URL('../../parameters/preprod-11.json', import.meta.url))

const load = (environment: Record<string, string>) =>
  loadContext(readSettings({ LOG_LEVEL: 'silent', ...environment }), {})

it.each([
  ['by default', {}, 11],
  ['as LEDGER_VERSION says', { LEDGER_VERSION: '10' }, 10],
  ['as the file of parameters says', { PROTOCOL_PARAMETERS_FILE: version11 }, 11],
] as const)('a new deployment begins with a version %s, and keeps it', async (_, environment, major) => {
  const store = await openTestStore(openStore)
  const context = await load(environment)
  expect(context.parameters.ledgerVersion.major).toBe(major)
  expect(await atLedgerVersion(context, store)).toBe(context)
  expect(await atLedgerVersion(await load({ LEDGER_VERSION: String(major) }), store)).toBeDefined()

  const kept = await atLedgerVersion(await load({}), store)
  expect(kept.parameters).toEqual(context.parameters)
})

it('loads and logs the version of a deployment once', async () => {
  const { lines, stream } = recordedLog()
  const context = { ...(await load({})), log: pino({}, stream) }
  expect(await contextAt(context, 10)).toBe(await contextAt(context, 10))
  expect(lines).toHaveLength(1)
})

it('refuses another version than that of the deployment', async () => {
  const store = await openTestStore(openStore)
  await atLedgerVersion(await load({ LEDGER_VERSION: '10' }), store)
  const refusal = async (environment: Record<string, string>, reason: string) =>
    expect(atLedgerVersion(await load(environment), store)).rejects.toMatchObject({
      code: 'NODE_DATABASE',
      message: expect.stringMatching(
        `^The deployment in this database began with ledger version 10 and keeps it, but ${reason}, ` +
          'or begin a new deployment with another DATABASE_SCHEMA',
      ),
    })
  await refusal({ LEDGER_VERSION: '11' }, 'LEDGER_VERSION is 11: unset it')
  await refusal(
    { PROTOCOL_PARAMETERS_FILE: version11 },
    'PROTOCOL_PARAMETERS_FILE has parameters of version 11: name a file of version 10',
  )
})

it('asks for the parameters of a version that the node does not include', async () => {
  const store = await openTestStore(openStore)
  await store.ledgerVersion(9)
  await expect(atLedgerVersion(await load({}), store)).rejects.toThrow(
    /The ledger version is 9 on devnet.*PROTOCOL_PARAMETERS_FILE\.$/,
  )
})
