import fastify from 'fastify'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createDevnet } from './create-devnet.js'
import { devnetApis, devnetControls } from './plugin/devnet-apis.js'
import type { Devnet } from './types.js'

let devnet: Devnet
beforeAll(async () => {
  devnet = await createDevnet({ blockEveryMs: 0 })
  return () => devnet.close()
})

const code = 'DEVNET_CONFIGURATION'

describe('createDevnet', () => {
  it.each(['blockEveryMS', 'dataDir', 'ledger'])('refuses the option %s', async (name) => {
    const message =
      `createDevnet: there is no option ${name}; its options are store, parameters, genesis, clock, ` +
      'slotLengthMs, blockEveryMs, maxBlockSize, securityParameter, evaluator, onError'
    await expect(createDevnet({ [name]: 9 })).rejects.toMatchObject({ code, message })
  })
})

async function served(plugin: typeof devnetApis | typeof devnetControls, options: object) {
  const server = fastify()
  onTestFinished(() => server.close())
  await server.register(plugin as typeof devnetApis, options as { devnet: Devnet })
  return server
}

describe('devnetApis', () => {
  const paths = 'blockfrost, yaci, kupo, ogmios, control, wallet'
  const names = 'devnet, prefix, paths, ogmiosVersion, ogmiosStrictRpc, allowedHosts'

  it.each([
    [{ control: true }, `devnetApis: there is no option control; its options are ${names}`],
    [{ paths: 'x' }, 'devnetApis: paths must be an object, not x'],
    [{ devnet: {} }, 'devnetApis: devnet must be that of createDevnet'],
    [{ ogmiosVersion: 6 }, 'devnetApis: ogmiosVersion must be 6 or 7, not 6'],
    [
      { allowedHosts: ['a:80'] },
      'devnetApis: allowedHosts must be an array of host names or IP addresses, without port',
    ],
    [
      { paths: { controls: '/devnet' } },
      `devnetApis: paths: there is no option controls; its options are ${paths}`,
    ],
    [
      { paths: { control: true } },
      'devnetApis: paths: control must be a path that begins with a slash, or false, not true',
    ],
    [
      { paths: { control: 'devnet' } },
      'devnetApis: paths: control must be a path that begins with a slash, or false, not devnet',
    ],
  ])('refuses %o', async (options, message) => {
    await expect(served(devnetApis, { devnet, ...options })).rejects.toMatchObject({ code, message })
  })

  it('accepts absent options, and those of Fastify', async () => {
    const paths = { control: undefined, yaci: false, wallet: '/w.js' }
    await served(devnetApis, { devnet, paths, logLevel: 'warn', control: undefined })
  })

  it('refuses an option of the controls that does not exist', async () => {
    const options = { devnet: () => devnet, prefix: '/devnet', logLevel: 'warn' }
    await expect(served(devnetControls, { ...options, routes: {} })).rejects.toMatchObject({
      code,
      message:
        'devnetControls: there is no option routes; its options are devnet, sequencer, allowedHosts, route',
    })
    await served(devnetControls, options)
  })
})

const fields = 'kind, target, operation, times, delayMs, after'
const kinds = 'time-out, refusal, rate-limit, failure, garbage, delay, lost-answer'
const targets = 'blockfrost, kupo, ogmios, client'
const operations = 'utxos, transaction, submit, evaluate, parameters, tip, datum, script, other'

describe.each([
  ['in process', async (fault: unknown) => devnet.faults.inject(fault as never)],
  [
    'by the controls',
    async (payload: unknown) => {
      const server = await served(devnetApis, { devnet, paths: { control: '/devnet' } })
      const url = '/devnet/faults'
      const answer = await server.inject({ method: 'POST', url, payload: payload as object })
      if (answer.statusCode === 400) throw new Error(answer.json().error)
      expect(answer.statusCode).toBe(204)
    },
  ],
])('a fault, %s,', (_, inject) => {
  it.each([
    [{ kind: 'time-outs' }, `kind must be one of ${kinds}, not time-outs`],
    [{}, `kind must be one of ${kinds}, not undefined`],
    [{ kind: 'failure', target: 'yaci' }, `target must be one of ${targets}, not yaci`],
    [{ kind: 'failure', operation: 'utxo' }, `operation must be one of ${operations}, not utxo`],
    [{ kind: 'failure', time: 3 }, `there is no field time; its fields are ${fields}`],
    [{ kind: 'failure', times: 0 }, 'times must be a whole number from 1, or Infinity, not 0'],
    [{ kind: 'delay', delayMs: -1 }, 'delayMs must be a number from 0 to 600000, not -1'],
    [{ kind: 'failure', after: 0.5 }, 'after must be a whole number from 0, not 0.5'],
  ])('is refused: %o', async (fault, message) => {
    await expect(inject(fault)).rejects.toThrow(message)
    expect(devnet.faults.take('kupo', 'utxos')).toBeUndefined()
  })

  it('may have every field', async () => {
    const fault = { kind: 'delay', target: 'kupo', operation: 'utxos', times: 1, delayMs: 5, after: 0 }
    await inject(fault)
    expect(devnet.faults.take('kupo', 'utxos')).toEqual(fault)
  })
})

it('the controls refuse fields that do not exist, and do nothing', async () => {
  const server = await served(devnetApis, { devnet, paths: { control: '/devnet' } })
  for (const [path, payload, error] of [
    ['devnet/blocks', { counts: 3 }, 'there is no field counts; its fields are count'],
    [
      'devnet/roll-back',
      { blocks: 1, resubmits: true },
      'there is no field resubmits; its fields are blocks, transaction, resubmit',
    ],
    [
      'local-cluster/api/addresses/topup',
      { address: '', adaAmount: 1, ada: 2 },
      'there is no field ada; its fields are address, adaAmount',
    ],
  ] as const) {
    const answer = await server.inject({ method: 'POST', url: `/${path}`, payload })
    expect([answer.statusCode, answer.json()]).toEqual([400, { error: `Invalid body: ${error}` }])
  }
  expect(devnet.tip().height).toBe(0)
})

it('routes refuse parameters that do not exist', async () => {
  const server = await served(devnetApis, { devnet, paths: { control: '/devnet', wallet: '/w.js' } })
  for (const [path, error] of [
    [
      'devnet/outputs?address=a&adress=b',
      'Invalid query: there is no parameter adress; its parameters are address',
    ],
    ['w.js?acount=4', 'dev-wallet.js has no parameter acount: there are account, url, decline'],
    ['w.js?account=10', 'There is no account 10: choose one from 0 to 9'],
  ]) {
    const answer = await server.inject(`/${path}`)
    expect([answer.statusCode, answer.json()]).toEqual([400, { error }])
  }
  expect((await server.inject('/w.js?account=9&decline=sign')).statusCode).toBe(200)
})

it('an error of the chain decides neither status nor message', async () => {
  const fails = () => Promise.reject(Object.assign(new Error('password'), { statusCode: 404 }))
  const failing = { ...devnet, produceBlock: fails }
  const server = await served(devnetApis, { devnet: failing, paths: { control: '/devnet' } })
  const make = () => server.inject({ method: 'POST', url: '/devnet/blocks' })
  expect([(await make()).statusCode, (await make()).body]).toEqual([500, '{"error":"Something went wrong"}'])
})
