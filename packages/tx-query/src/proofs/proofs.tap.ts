import swagger from '@fastify/swagger'
import { toHex } from '@ratatosk/cbor'
import { encodeOutputReference } from '@ratatosk/ledger'
import { recordedLog } from '@ratatosk/test-kit/http'
import {
  createMemoryStore,
  createTrie,
  proofFromCbor,
  proofFromJson,
  proofToCbor,
  verifyExclusion,
  verifyInclusion,
} from '@ratatosk/trie'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import proofs, { proofs as named, type ProofsOptions, type Prover } from './index.js'

const hash = 'ab'.repeat(32)
const block = 'cd'.repeat(28)
const key = encodeOutputReference({ transactionId: Buffer.from(hash, 'hex'), index: 1 })
const value = Buffer.from('82a0', 'hex')
const trie = createTrie({ store: createMemoryStore() })
trie.update([
  { type: 'insert', key, value },
  { type: 'insert', key: Buffer.from('other'), value },
])
const held = {
  block: { headerHash: Buffer.from(block, 'hex'), header: Buffer.from('d87980', 'hex'), height: 7n },
  root: trie.root,
  key,
}
const present = { ...held, value, proof: proofToCbor(trie.prove(key)) }
const missing = Buffer.from('missing')
const absent = { ...held, key: missing, value: undefined, proof: proofToCbor(trie.proveAbsence(missing)) }

async function build(t: Test, prover: Partial<Prover>) {
  const server = fastify()
  t.teardown(() => server.close())
  const never = () => Promise.reject(new Error('asked'))
  await server.register(proofs, { prover: { utxo: never, transaction: never, ...prover } })
  return server
}

t.test('is exported by default and by name, and registered under its npm name', async (t) => {
  t.equal(proofs, named)
  t.ok((await build(t, {})).hasPlugin('@ratatosk/tx-query/proofs'))
})

t.test('the log names the method and the field of a proof that has another shape', async (t) => {
  const { stream, records: log } = recordedLog()
  const server = fastify({ logger: { level: 'error', stream } })
  t.teardown(() => server.close())
  let answer: unknown
  const give = async () => answer as never
  await server.register(proofs, { prover: { utxo: give, transaction: give } })
  for (const [given, fault] of [
    [undefined, 'Expected object'],
    [null, 'Expected object'],
    [{ ...present, root: 'ab' }, 'root: Expected Uint8Array'],
    [{ ...present, root: present.root.subarray(1) }, /^.* root: Expected .* 32$/],
    [{ ...present, block: { ...present.block, headerHash: hash } }, 'block.headerHash: Expected Uint8Array'],
    [{ ...present, block: { ...present.block, header: 'ab' } }, 'block.header: Expected Uint8Array'],
    [{ ...present, value: 'ab' }, 'value: Expected Uint8Array'],
    [{ ...present, proof: undefined }, 'proof: Expected Uint8Array'],
  ] as const) {
    answer = given
    for (const [url, method] of [
      [`/proofs/utxo?outref=${hash}%231`, 'utxo'],
      [`/proofs/transaction?tx_hash=${hash}`, 'transaction'],
    ] as const) {
      t.equal((await server.inject(url)).statusCode, 500)
      const message =
        typeof fault === 'string' ? `prover.${method}() must resolve to a proof: ${fault}` : fault
      t.match(log().at(-1), { err: { type: 'TypeError', message } })
    }
  }
})

t.test('refuses parameters that a route does not have', async (t) => {
  const server = await build(t, {})
  for (const [url, names] of [
    [`/proofs/utxo?outref=${hash}%231`, 'outref, at, header_hash'],
    [`/proofs/transaction?tx_hash=${hash}`, 'tx_hash, header_hash'],
  ]) {
    const answer = await server.inject(`${url}&foo=1`)
    t.same([answer.statusCode, answer.json()], [400, { error: `Invalid parameter: foo. Send only ${names}` }])
  }
})

t.test('answers with a proof that holds, as JSON and as CBOR', async (t) => {
  const asked: unknown[] = []
  const server = await build(t, {
    utxo: async (...question) => {
      asked.push(question)
      return present
    },
  })
  const response = await server.inject(`/proofs/utxo?outref=${hash}%231`)
  t.equal(response.statusCode, 200)
  t.equal(response.headers['cache-control'], 'no-store')
  const { proof, ...answer } = response.json()
  t.same(answer, {
    headerHash: block,
    header: 'd87980',
    height: 7,
    root: toHex(trie.root),
    key: toHex(key),
    value: '82a0',
  })
  t.ok(verifyInclusion(trie.root, key, value, proofFromJson(proof.json)))
  t.ok(verifyInclusion(trie.root, key, value, proofFromCbor(Buffer.from(proof.cbor, 'hex'))))
  await server.inject(`/proofs/utxo?outref=${toHex(key).toUpperCase()}&at=committed`)
  await server.inject(`/proofs/utxo?outref=${hash}%231&header_hash=${block.toUpperCase()}`)
  const reference = { transactionId: new Uint8Array(Buffer.from(hash, 'hex')), index: 1 }
  t.match(asked, [
    [reference, { kind: 'confirmed' }],
    [reference, { kind: 'committed' }],
    [reference, { kind: 'header', headerHash: new Uint8Array(Buffer.from(block, 'hex')) }],
  ])
})

t.test('answers 404 with a proof of absence', async (t) => {
  const server = await build(t, {
    utxo: async () => absent,
    transaction: async () => ({ ...absent, position: undefined }),
  })
  for (const url of [
    `/proofs/utxo?outref=${hash}%230`,
    `/proofs/transaction?tx_hash=${hash}&header_hash=${block}`,
  ]) {
    const response = await server.inject(url)
    t.equal(response.statusCode, 404)
    const { error, proof, value } = response.json()
    t.type(error, 'string')
    t.equal(value, undefined)
    t.ok(verifyExclusion(trie.root, missing, proofFromJson(proof.json)))
  }
})

t.test('names the state before the first block by zeros', async (t) => {
  const server = await build(t, { utxo: async () => ({ ...present, block: undefined }) })
  const { proof: _, ...answer } = (await server.inject(`/proofs/utxo?outref=${hash}%231`)).json()
  t.same(answer, { headerHash: '00'.repeat(28), root: toHex(trie.root), key: toHex(key), value: '82a0' })
})

t.test('answers with the position of a transaction', async (t) => {
  const server = await build(t, { transaction: async () => ({ ...present, position: 3 }) })
  const response = await server.inject(`/proofs/transaction?tx_hash=${hash}`)
  t.equal(response.statusCode, 200)
  t.match(response.json(), { position: 3, value: '82a0', headerHash: block })
})

t.test('refuses parameters that are malformed, before anything is proved', async (t) => {
  const server = await build(t, {})
  for (const [url, error] of [
    ['/proofs/utxo', 'Invalid output reference: undefined'],
    [
      // As curl sends `#0`.
      `/proofs/utxo?outref=${hash}`,
      `Invalid output reference: ${hash}. Send outref as <tx_hash>#<index>, with # as %23 in a ` +
        'URL, or as its CBOR in hex',
    ],
    ['/proofs/utxo?outref=x', 'Invalid output reference: x. Send outref as '],
    [`/proofs/utxo?outref=${hash}%23`, `Invalid output reference: ${hash}#`],
    [`/proofs/utxo?outref=${hash}%2301`, `Invalid output reference: ${hash}#01`],
    [`/proofs/utxo?outref=${hash}%2365536`, `Invalid output reference: ${hash}#65536`],
    ['/proofs/utxo?outref=8040', 'Invalid output reference: 8040'],
    [`/proofs/utxo?outref=${hash}%230&at=now`, /^Send either header_hash/],
    [`/proofs/utxo?outref=${hash}%230&at=confirmed&header_hash=${block}`, /^Send either header_hash/],
    [
      `/proofs/utxo?outref=${hash}%230&header_hash=cd`,
      'Invalid block hash: cd. Send header_hash with 56 hex digits',
    ],
    ['/proofs/transaction?tx_hash=ab', 'Invalid transaction hash: ab. Send tx_hash with 64 hex digits'],
    [`/proofs/transaction?tx_hash=${hash}&tx_hash=${hash}`, `Invalid transaction hash: ${hash},${hash}`],
    [`/proofs/transaction?tx_hash=${hash}&header_hash=`, 'Invalid block hash: '],
  ] as const) {
    const response = await server.inject(url)
    t.equal(response.statusCode, 400, url)
    t.match(response.json(), { error }, url)
  }
})

t.test('says of a state that is not kept what to ask instead', async (t) => {
  const server = await build(t, { utxo: async () => 'not kept' })
  const errorOf = async (state: string) =>
    (await server.inject(`/proofs/utxo?outref=${'00'.repeat(32)}%230${state}`)).json().error
  t.match(await errorOf(''), /the newest confirmed block: ask with at=committed, .*PROOF_BLOCKS$/)
  t.match(await errorOf(`&header_hash=${'00'.repeat(28)}`), /after this block: ask for a newer block$/)
})

t.test('says why there is no proof', async (t) => {
  const busy = Object.assign(new Error('secret'), { retryAfterMs: 2000 })
  for (const [utxo, status] of [
    [async () => 'no block' as const, 404],
    [async () => 'not kept' as const, 410],
    [() => Promise.reject(busy), 503],
    [() => Promise.reject(new Error('secret')), 500],
  ] as const) {
    const server = await build(t, { utxo })
    const response = await server.inject(`/proofs/utxo?outref=${hash}%230`)
    t.equal(response.statusCode, status)
    t.notMatch(response.body, /secret/)
    t.equal(response.headers['retry-after'], status === 503 ? '2' : undefined)
  }
  const server = await build(t, { transaction: async () => 'no block' })
  t.equal((await server.inject(`/proofs/transaction?tx_hash=${hash}`)).statusCode, 404)
})

t.test('throws at startup for options that cannot work', async (t) => {
  for (const options of [{}, { prover: {} }, { prover: { utxo: () => {} } }]) {
    const server = fastify()
    await t.rejects(async () => server.register(proofs, options as unknown as ProofsOptions), TypeError)
    await server.close()
  }
})

t.test('documents the routes and every status in OpenAPI', async (t) => {
  const server = fastify()
  t.teardown(() => server.close())
  await server.register(swagger, { openapi: {} })
  const never = () => Promise.reject(new Error('asked'))
  await server.register(proofs, { prover: { utxo: never, transaction: never } })
  await server.ready()
  const { paths } = server.swagger()
  const statuses = (path: string) => Object.keys(paths?.[path]?.get?.responses ?? {}).join(' ')
  t.equal(statuses('/proofs/utxo'), '200 400 404 408 410 429 431 500 503')
  t.equal(statuses('/proofs/transaction'), '200 400 404 408 429 431 500 503')
})
