import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { apis } from './apis.js'
import { chainMembers } from './options.js'
import { chainWith } from './test/served-chain.js'

async function register(options: object) {
  const server = fastify()
  onTestFinished(() => server.close())
  await server.register(apis, { chain: chainWith({}), ...options })
}

const names =
  'chain, prefix, paths, ogmiosVersion, ogmiosStrictRpc, maxOutputs, maxWebSockets, stallTimeoutMs, faults'

test.each([
  [{ foo: 1 }, `: there is no option foo; its options are ${names}`],
  [{ maxOutput: 5 }, `: there is no option maxOutput; its options are ${names}`],
  [{ maxOutputs: '1' }, ': maxOutputs must be a number of at least 1, not 1'],
  [{ maxOutputs: 0 }, ': maxOutputs must be a number of at least 1, not 0'],
  [{ maxWebSockets: Number.NaN }, ': maxWebSockets must be a number of at least 1, not NaN'],
  [{ stallTimeoutMs: 1e10 }, ': stallTimeoutMs must be a whole number from 1 to 2147483647, not 10000000000'],
  [{ stallTimeoutMs: -1 }, ': stallTimeoutMs must be a whole number from 1 to 2147483647, not -1'],
  [{ ogmiosVersion: 6 }, ': ogmiosVersion must be 6 or 7, not 6'],
  [{ ogmiosStrictRpc: 'no' }, ': ogmiosStrictRpc must be true or false, not no'],
  [{ prefix: 1 }, ': prefix must be a text, not 1'],
  [{ faults: {} }, ': faults must be an object with the method take'],
  [{ paths: '/x' }, ': paths must be an object'],
  [
    { paths: { blokfrost: '/x' } },
    ': paths: there is no option blokfrost; its options are blockfrost, yaci, kupo, ogmios',
  ],
  [{ paths: { kupo: true } }, ': paths: kupo must be a path that begins with a slash, or false, not true'],
  [{ paths: { kupo: 'kupo' } }, ': paths: kupo must be a path that begins with a slash, or false, not kupo'],
])('refuses %o', async (options, message) => {
  await expect(register(options)).rejects.toThrow(TypeError)
  await expect(register(options)).rejects.toThrow(`@ratatosk/chain-apis${message}`)
})

test('names all that a chain lacks', async () => {
  const chain = { ...chainWith({}), block: undefined, slots: 1, subscribe: {} }
  await expect(register({ chain })).rejects.toThrow(
    new TypeError('@ratatosk/chain-apis: chain must satisfy ChainView; it lacks slots, block(), subscribe()'),
  )
  for (const [name, type] of Object.entries(chainMembers))
    await expect(register({ chain: { ...chainWith({}), [name]: undefined } })).rejects.toThrow(
      `it lacks ${name}${type === 'function' ? '()' : ''}`,
    )
  for (const chain of [undefined, null, 'chain'])
    await expect(register({ chain })).rejects.toThrow('chain must satisfy ChainView')
})

test('accepts options that are undefined, and those of Fastify', async () => {
  await register({
    maxOutputs: Number.POSITIVE_INFINITY,
    faults: undefined,
    foo: undefined,
    logLevel: 'warn',
    paths: { yaci: false, kupo: undefined, ogmios: '/o' },
  })
  await register({ chain: Object.create(chainWith({})), paths: undefined })
})
