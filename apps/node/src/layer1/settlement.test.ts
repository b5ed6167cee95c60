import { surveyQueue, verdictPolicies } from '@ratatosk/contracts'
import type { Utxo } from '@ratatosk/ledger'
import { takeOverAfterOf } from '@ratatosk/protocol'
import { expect, test } from 'vitest'
import { loadContext } from '../context.js'
import { readSettings } from '../settings/read.js'
import { readingOf } from './open-deployment.js'
import { contractsOf } from './settlement.js'

const phrase = `${'test '.repeat(23)}sauce`
const preprod = {
  NETWORK: 'preprod',
  LAYER1_PROVIDER: 'kupmios',
  KUPO_URL: 'http://127.0.0.1:1442',
  OGMIOS_URL: 'http://127.0.0.1:1337',
  DEPLOYMENT_OUTPUT: `${'ab'.repeat(32)}#0`,
  OPERATOR_TOKEN: 'open-sesame',
  OPERATOR_SEED_PHRASE: phrase,
  ADMIN_SEED_PHRASE: phrase,
}
const all = Object.keys(verdictPolicies)

/** The context of a node with these settings, whose layer 2 has this ledger version. */
async function contextOf(environment: Record<string, string>, major = 10) {
  const context = await loadContext(readSettings({ LOG_LEVEL: 'silent', ...environment }), {})
  const { parameters } = context
  return { ...context, parameters: { ...parameters, ledgerVersion: { major, minor: 0 } } }
}

test.each<[string, Record<string, string>, number, readonly string[]]>([
  ['a devnet', {}, 10, all],
  ['a devnet whose layer 2 has ledger version 11', {}, 11, all],
  ['a devnet whose layer 2 has later rules', {}, 12, ['ledger', 'witness']],
  ['a devnet without proofs', { VERDICT_POLICIES: 'none' }, 10, []],
  ['a public network', preprod, 10, all],
  ['mainnet', { ...preprod, NETWORK: 'mainnet' }, 10, []],
  [
    'a public network that names proofs',
    { ...preprod, VERDICT_POLICIES: 'witness,ledger' },
    10,
    ['ledger', 'witness'],
  ],
])('%s with %o has the verdict policies that know its rules', async (_, environment, major, names) => {
  const context = await contextOf(environment, major)
  const { parameters, network } = context
  const rules = { parameters, networkId: network.id, slots: network.slots }
  const policies = names.map((name) => verdictPolicies[name as keyof typeof verdictPolicies].script(rules))
  expect(contractsOf(context).parameters).toMatchObject({
    verdictPolicies: policies,
    permissioned: true,
  })
})

test('refuses a policy by name that does not know the rules of layer 2', async () => {
  const context = await contextOf({ VERDICT_POLICIES: 'transaction' }, 12)
  expect(() => contractsOf(context)).toThrow(
    'VERDICT_POLICIES names transaction, but layer 2 has ledger version 12, whose rules this ' +
      'policy does not know.',
  )
})

test.each<[string, Record<string, string>, bigint | undefined]>([
  ['a devnet', {}, 7_500n],
  ['a devnet without time for answers', { MATURITY_WINDOW_MS: '0' }, undefined],
  ['a devnet that names others', { VERDICT_POLICIES: 'ledger,transaction,witness' }, undefined],
  ['a public network', preprod, 43_200_000n],
  ['mainnet', { ...preprod, NETWORK: 'mainnet' }, undefined],
  ['a devnet with a long window', { MATURITY_WINDOW_MS: '604800000' }, 43_200_000n],
])('%s gives %o time to answer questions', async (_, environment, period) => {
  const { parameters, summons } = contractsOf(await contextOf(environment))
  expect(parameters.summons?.period).toBe(period)
  expect(summons === undefined).toBe(period === undefined)
})

test.each<[string, Record<string, string>, bigint]>([
  ['a devnet', {}, 15_000n],
  ['a public network', preprod, 900_000n],
  ['a public network with short turns', { ...preprod, OPERATOR_TURN_MS: '60000' }, 15_000n],
  ['a public network that says so', { ...preprod, TAKEOVER_AFTER_MS: '70000' }, 70_000n],
])('on %s with %o others take over in time', async (_, environment, takeOverAfter) => {
  expect(takeOverAfterOf(contractsOf(await contextOf(environment)).parameters)).toBe(takeOverAfter)
})

test('without an administrator anyone may register, and the operator has the deployment output', async () => {
  const { parameters } = contractsOf(await contextOf({ ADMIN_RENOUNCED: 'true' }))
  expect(parameters).toMatchObject({ permissioned: false, administrator: { hash: new Uint8Array(28) } })
  expect(parameters.verdictPolicies).toHaveLength(all.length)
  expect(parameters.deploymentOutput).toEqual({
    transactionId: contractsOf(await contextOf({})).parameters.deploymentOutput.transactionId,
    index: 5,
  })
})

test('a queue whose root is gone reads otherwise than one that never began', () => {
  const { fault } = surveyQueue([], new Uint8Array())
  if (fault === undefined) throw new Error('A queue without a root is sound')
  const queue = { roots: [], blocks: [], strays: [], fault }
  expect(readingOf(queue)).toEqual({ fault: fault.message, blocks: [] })
  const rootless = readingOf({ ...queue, strays: [{} as Utxo] })
  expect(rootless.fault).toBe(`${fault.message}, and 1 of its elements are left`)
})
