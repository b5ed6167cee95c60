import { fromHex } from '@ratatosk/cbor'
import { decodeTransactionOutput } from '@ratatosk/ledger'
import { type Answer, ask } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import type { RunningNode } from '../index.js'
import { anyPlacement, backends, onServices } from '../test/backends.js'
import { type DevnetServer, devnetServer } from '../test/forged-block.js'
import { askExact, runNode } from '../test/node.js'
import { newWallet } from '../test/transfer.js'

const token = 'open-sesame'

interface ClaimBody {
  readonly address: string
  readonly idempotencyKey: string
  readonly ipHash: string
}

function claim(
  { url }: Pick<RunningNode, 'url'>,
  body: ClaimBody | string,
  authorization = `Bearer ${token}`,
): Promise<Answer> {
  return ask(`${url}/faucet/claims`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** Balance of an address on layer 2, in lovelace. */
async function onLayer2({ url }: RunningNode, address: string): Promise<bigint> {
  const { utxos } = JSON.parse((await ask(`${url}/utxos?address=${address}`)).body)
  return utxos.reduce(
    (sum: bigint, { value }: { value: string }) =>
      sum + decodeTransactionOutput(fromHex(value)).value.lovelace,
    0n,
  )
}

function onLayer1({ devnet }: DevnetServer, address: string): bigint {
  return devnet.utxos({ address }).reduce((sum, { output }) => sum + output.value.lovelace, 0n)
}

const services = await onServices()

for (const backend of await backends()) {
  for (const layer of ['1', '2']) {
    t.test(`the faucet pays on layer ${layer}, on ${backend.name}`, { skip: backend.skip }, async (t) => {
      const layer1 = await devnetServer(t)
      const node = await runNode(t, {
        ...(await backend.place(t)),
        ...layer1.settings,
        FAUCET_TOKEN: token,
        FAUCET_LAYER: layer,
      })
      const { bech32: address } = newWallet()
      const request = { address, idempotencyKey: 'first', ipHash: 'somebody' }

      const before = Date.now()
      const paid = await claim(node, request)
      t.equal(paid.status, 200, paid.body)
      const { claimId, txHash, amount, nextEligibleAt } = JSON.parse(paid.body)
      t.match(claimId, /^[0-9a-f]{8}-[0-9a-f]{4}-/)
      t.match(txHash, /^[0-9a-f]{64}$/)
      t.equal(amount, '100000000')
      t.ok(Date.parse(nextEligibleAt) >= before + 86_400_000)

      if (layer === '2') {
        t.equal((await ask(`${node.url}/tx?tx_hash=${txHash}`)).status, 200, 'GET /tx finds it')
        t.equal(await onLayer2(node, address), 100_000_000n)
      } else {
        while (layer1.devnet.status(txHash).status !== 'confirmed') await layer1.devnet.produceBlock()
        t.equal(onLayer1(layer1, address), 100_000_000n)
      }

      t.equal((await claim(node, request)).body, paid.body, 'the same key gets the same answer')
      const cooling = await claim(node, { ...request, idempotencyKey: 'second' })
      t.equal(cooling.status, 429)
      t.match(JSON.parse(cooling.body), { code: 'COOLDOWN', nextEligibleAt })
      const stolen = await claim(node, { ...request, address: newWallet().bech32 })
      t.match(stolen, { status: 409, body: '{"error":"idempotencyKey already used"}' })
      const wrong = await claim(node, request, 'Bearer open Sesame')
      t.match(wrong, { status: 401, body: '{"error":"Unauthorized"}' })
      t.match(wrong.headers['www-authenticate'], /^Bearer/)
      t.match(await claim(node, '{', 'Bearer x'), { status: 401 }, 'the token is checked before the body')
    })
  }
}

t.test('a disabled faucet is answered like an unknown path, byte for byte', async (t) => {
  const run = async (environment: Record<string, string>) =>
    runNode(t, { ...(await anyPlacement(t)), ...environment })
  const nodes = [await run({}), await run({ FAUCET_TOKEN: token, FAUCET_ENABLED: 'false' })]
  for (const node of nodes) await equalsUnknown(t, node)
})

async function equalsUnknown(t: Test, { url }: RunningNode): Promise<void> {
  const body = JSON.stringify({ address: newWallet().bech32, idempotencyKey: 'k', ipHash: 'i' })
  for (const question of [
    {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    },
    { method: 'POST', body, headers: { 'content-type': 'application/json' } },
    { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } },
    { method: 'POST', body, headers: { 'content-type': 'text/plain' } },
    { method: 'GET' },
    { method: 'OPTIONS' },
  ]) {
    const unknown = await askExact(`${url}/nothing/claims`, question)
    t.equal(unknown.status, 404)
    t.same(await askExact(`${url}/faucet/claims`, question), unknown, JSON.stringify(question))
  }
}

t.test('an api node has the faucet as well', { skip: services.skip }, async (t) => {
  const layer1 = await devnetServer(t)
  const node = await runNode(t, {
    ...(await services.place(t)),
    ...layer1.settings,
    NODE_ROLE: 'api',
    FAUCET_TOKEN: token,
    FAUCET_AMOUNT: '5000000',
  })
  const { bech32: address } = newWallet()
  t.match(await claim(node, { address, idempotencyKey: 'a', ipHash: 'b' }), {
    status: 200,
    body: /"amount":"5000000"/,
  })
})
