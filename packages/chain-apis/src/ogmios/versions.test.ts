import { fromHex } from '@ratatosk/cbor'
import { decodeTransaction, parseProtocolParameters } from '@ratatosk/ledger'
import { documentFees, keyOf, signed } from '@ratatosk/test-kit'
import { draft } from '@ratatosk/test-kit/ledger-apis'
import fastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { apis } from '../apis.js'
import { chainWith } from '../test/served-chain.js'
import type { OgmiosVersion } from '../versions.js'
import { transactionJson } from './json/transaction-json.js'

async function served(ogmiosVersion?: OgmiosVersion) {
  const server = fastify()
  onTestFinished(() => server.close())
  await server.register(apis, { chain: chainWith({}), ...(ogmiosVersion && { ogmiosVersion }) })
  const payload = { jsonrpc: '2.0', method: 'queryLedgerState/protocolParameters' }
  const { result } = (await server.inject({ method: 'POST', url: '/ogmios', payload })).json()
  const { version } = (await server.inject('/ogmios/health')).json()
  return { result, version }
}

it.each([
  [undefined, 'maxReferenceScriptsSize', /^v6\./],
  ['6', 'maxReferenceScriptsSize', /^v6\./],
  ['7', 'maxReferenceScriptsSizePerTransaction', /^v7\./],
] as const)(
  'serves Ogmios %s with its name of the limit of reference scripts',
  async (asked, name, announced) => {
    const { result, version } = await served(asked)
    expect(version).toMatch(announced)
    const names = Object.keys(result).filter((each) => each.startsWith('maxReferenceScripts'))
    expect(names).toEqual([name])
    const limit = { maxReferenceScriptsSize: 204_800 }
    expect(parseProtocolParameters(result)).toEqual({ ...documentFees, ...limit })
  },
)

it('omits empty outputs and intervals of Ogmios 7 only', () => {
  const inputs = [{ transactionId: new Uint8Array(32), index: 0 }]
  const empty = decodeTransaction(signed(keyOf(1), { inputs, outputs: [] }).cbor)
  const paying = decodeTransaction(signed(keyOf(1), { inputs, outputs: [2_000_000n] }).cbor)
  expect(transactionJson(empty, '6')).toMatchObject({ outputs: [], validityInterval: {} })
  const { outputs, validityInterval } = transactionJson(empty, '7')
  expect([outputs, validityInterval]).toEqual([undefined, undefined])
  expect(transactionJson(paying, '7').outputs).toEqual(transactionJson(paying, '6').outputs)
})

it('writes each label of metadata as CBOR, and as JSON if it has no bytes', () => {
  const { cbor } = draft({
    inputs: [`${'00'.repeat(32)}#0`],
    outputs: [],
    fee: 0n,
    signers: [],
    auxiliaryData: fromHex('a21902a2a1636d73678161611902a34101'),
  })
  expect(transactionJson(decodeTransaction(cbor), '6').metadata?.labels).toEqual({
    674: { cbor: 'a1636d7367816161', json: { msg: ['a'] } },
    675: { cbor: '4101', json: undefined },
  })
})

it('refuses another version', async () => {
  const options = { chain: chainWith({}), ogmiosVersion: '5' as OgmiosVersion }
  await expect(fastify().register(apis, options)).rejects.toThrow('ogmiosVersion must be 6 or 7, not 5')
})
