import {
  Address,
  BaseAddress,
  Credential,
  EnterpriseAddress,
  ScriptHash,
} from '@dcspark/cardano-multiplatform-lib-nodejs'
import { ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { anyPlacement, backends } from '../test/backends.js'
import { askExact, runNode, submit } from '../test/node.js'
import {
  builderConfig,
  devnetFunds,
  devnetParameters,
  lovelaceOf,
  newWallet,
  publicNetwork,
  signedTransfer,
  type Transfer,
} from '../test/transfer.js'

const ada = 1_000_000n
const hash = 'ab'.repeat(32)
const mainnetAddress = 'addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8'

const badRequest = (error: string) => ({ status: 400, body: JSON.stringify({ error }) })

/** Invalid address parameters, and the check that refuses each. */
function wrongAddresses(own: string): [query: string, error: string][] {
  const keyHash = newWallet().key.to_public().hash()
  const script = Credential.new_script(ScriptHash.from_hex('22'.repeat(28)))
  const scriptAddress = EnterpriseAddress.new(0, script).to_address().to_bech32()
  const scriptWithStake = BaseAddress.new(0, script, Credential.new_pub_key(keyHash)).to_address().to_bech32()
  const typo = own.endsWith('q') ? `${own.slice(0, -1)}p` : `${own.slice(0, -1)}q`
  const stake = 'stake_test1uqehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gssrtvn'
  return [
    ['', 'Invalid address type: undefined'],
    ['?addr=x', 'Invalid address type: undefined'],
    [`?address=${own}&address=${own}`, `Invalid address type: ${own},${own}`],
    ['?address=', 'Invalid address format: '],
    ['?address=hello', 'Invalid address format: hello'],
    [`?address=${typo}`, `Invalid address format: ${typo}`],
    [`?address=${own.slice(0, -1)}Q`, `Invalid address format: ${own.slice(0, -1)}Q`],
    ['?address=2cWKMJemoBajNBYKgvqFzvFqKt', 'Invalid address format: 2cWKMJemoBajNBYKgvqFzvFqKt'],
    [`?address=${stake}`, `Invalid address format: ${stake}`],
    [`?address=${scriptAddress}`, `Invalid address format: ${scriptAddress}`],
    [`?address=${scriptWithStake}`, `Invalid address format: ${scriptWithStake}`],
    [`?address=${mainnetAddress}`, `Invalid address: ${mainnetAddress}`],
  ]
}

for (const backend of await backends()) {
  t.test(`queries on ${backend.name}`, { skip: backend.skip }, async (t) => {
    const { url } = await runNode(t, await backend.place(t))
    const get = (path: string) => ask(`${url}${path}`)
    const arrival = (transfer: Transfer) =>
      until(async () => (await get(`/tx?tx_hash=${transfer.hash}`)).status === 200)

    // The address receives once and pays three times: four transactions in its history.
    const config = builderConfig(await devnetParameters())
    const { wallet: bank, utxo: funds } = devnetFunds(1, 0)
    const own = newWallet()
    const friend = newWallet()
    const chain: Transfer[] = [signedTransfer(config, bank, funds, own.address, 100n * ada)]
    for (let payment = 0; payment < 3; payment++) {
      await submit(url, chain.at(-1)!.cborHex)
      await arrival(chain.at(-1)!)
      const { utxos } = JSON.parse((await get(`/utxos?address=${own.bech32}`)).body)
      chain.push(signedTransfer(config, own, utxos[0], friend.address, 10n * ada))
    }
    await submit(url, chain.at(-1)!.cborHex)
    await arrival(chain.at(-1)!)
    const cbors = chain.map(({ cborHex }) => cborHex)

    await t.test('GET /tx', async (t) => {
      const { hash: known, cborHex } = chain[0]!
      t.match(await get(`/tx?tx_hash=${known}`), { status: 200, body: `{"tx":"${cborHex}"}` })
      t.match(await get(`/tx?tx_hash=${known.toUpperCase()}`), { status: 200, body: `{"tx":"${cborHex}"}` })
      t.match(await get(`/tx?tx_hash=${hash}`), {
        status: 404,
        body: `{"error":"Transaction not found: ${hash}"}`,
      })
      for (const [query, shown] of [
        ['', 'undefined'],
        ['?tx_hash=', ''],
        ['?tx_hash=xyz', 'xyz'],
        [`?tx_hash=${hash.slice(1)}`, hash.slice(1)],
        [`?tx_hash=${hash}00`, `${hash}00`],
        [`?tx_hash=0x${hash.slice(2)}`, `0x${hash.slice(2)}`],
        [`?tx_hash=${hash}&tx_hash=${hash}`, `${hash},${hash}`],
      ] as const) {
        t.match(await get(`/tx${query}`), badRequest(`Invalid transaction hash: ${shown}`), query)
      }
    })

    await t.test('GET /utxos', async (t) => {
      const { utxos } = JSON.parse((await get(`/utxos?address=${own.bech32}`)).body)
      t.equal(utxos.length, 1)
      t.same(Object.keys(utxos[0]), ['outref', 'value'])
      const [{ hash: last }] = chain.slice(-1) as [Transfer]
      t.equal(utxos[0].outref, `825820${last}01`)
      const fees = chain.slice(1).reduce((sum, { fee }) => sum + fee, 0n)
      t.equal(lovelaceOf(utxos[0].value), 70n * ada - fees)

      const friends = JSON.parse((await get(`/utxos?address=${friend.bech32.toUpperCase()}`)).body).utxos
      t.same(
        friends.map(({ outref, value }: { outref: string; value: string }) => [outref, lovelaceOf(value)]),
        chain.slice(1).map((transfer) => [`825820${transfer.hash}00`, 10n * ada]),
        'oldest first',
      )
      t.match(await get(`/utxos?address=${newWallet().bech32}`), { status: 200, body: '{"utxos":[]}' })
      const ofBank = JSON.parse((await get(`/utxos?address=${bank.bech32}`)).body).utxos
      t.equal(ofBank.length, 20, 'confirmed ones together with the change')
      for (const [query, error] of wrongAddresses(own.bech32)) {
        t.match(await get(`/utxos${query}`), badRequest(error), query)
      }
    })

    await t.test('GET /txs', async (t) => {
      const page = (query: string) => get(`/txs?address=${own.bech32}${query}`)
      const answer = (txs: string[], limit: number, offset: number) => ({
        status: 200,
        body: JSON.stringify({ txs, limit, offset, hasMore: txs.length === limit }),
      })
      t.match(await page(''), answer(cbors, 100, 0))
      t.match(await page('&limit=3'), answer(cbors.slice(0, 3), 3, 0))
      t.match(await page('&limit=3&offset=3'), answer(cbors.slice(3), 3, 3))
      t.match(await page('&limit=2&offset=2'), answer(cbors.slice(2), 2, 2), 'a full last page says hasMore')
      t.match(await page('&limit=2&offset=4'), answer([], 2, 4))
      t.match(await page('&limit=500'), answer(cbors, 500, 0))
      t.match(await page('&limit=501'), answer(cbors, 500, 0))
      t.match(await page(`&limit=${'9'.repeat(30)}`), answer(cbors, 500, 0))
      t.match(await page(`&offset=${Number.MAX_SAFE_INTEGER}`), answer([], 100, Number.MAX_SAFE_INTEGER))
      t.match(await get(`/txs?address=${friend.bech32}`), answer(cbors.slice(1), 100, 0))
      t.match(await get(`/txs?address=${newWallet().bech32}`), answer([], 100, 0))

      for (const limit of ['0', '-1', '1.5', '1e2', 'ten', '', '%2B1', '0x10', '%201', '00'])
        t.match(
          await page(`&limit=${limit}`),
          badRequest(`Invalid limit: ${decodeURIComponent(limit)}`),
          limit,
        )
      for (const offset of ['-1', '0.5', 'x', '', `${2 ** 53}`, '9'.repeat(30)])
        t.match(await page(`&offset=${offset}`), badRequest(`Invalid offset: ${offset}`), offset)
      t.match(await page('&limit=1&limit=2'), badRequest('Invalid limit: 1,2'))
      t.match(await page('&limit=x&offset=y'), badRequest('Invalid limit: x'), 'limit before offset')
      t.match(
        await get('/txs?address=x&limit=y'),
        badRequest('Invalid address format: x'),
        'address before limit',
      )
      for (const [query, error] of wrongAddresses(own.bech32)) {
        t.match(await get(`/txs${query}`), badRequest(error), query)
      }
    })

    await t.test('GET /block', async (t) => {
      const header = 'cd'.repeat(28)
      t.match(await get(`/block?header_hash=${header}`), { status: 200, body: '{"hashes":[]}' })
      t.match(await get(`/block?header_hash=${header.toUpperCase()}`), { status: 200, body: '{"hashes":[]}' })
      for (const [query, shown] of [
        ['', 'undefined'],
        ['?header_hash=', ''],
        [`?header_hash=${hash}`, hash],
        [`?header_hash=${header.slice(2)}`, header.slice(2)],
        [`?header_hash=${header.slice(1)}g`, `${header.slice(1)}g`],
        [`?header_hash=${header}&header_hash=${header}`, `${header},${header}`],
      ] as const) {
        t.match(await get(`/block${query}`), badRequest(`Invalid block hash: ${shown}`), query)
      }
    })

    await t.test('HEAD answers like GET', async (t) => {
      for (const path of [
        `/tx?tx_hash=${chain[0]!.hash}`,
        `/tx?tx_hash=${hash}`,
        `/utxos?address=${own.bech32}`,
        '/txs',
        '/block',
      ]) {
        const expected = await askExact(`${url}${path}`)
        t.same(await askExact(`${url}${path}`, { method: 'HEAD' }), { ...expected, body: '' }, path)
      }
    })
  })
}

t.test('a mainnet node accepts only mainnet addresses and starts with an empty ledger', async (t) => {
  const { url } = await runNode(t, { ...(await anyPlacement(t)), ...publicNetwork('mainnet') })
  t.match(await ask(`${url}/utxos?address=${mainnetAddress}`), { status: 200, body: '{"utxos":[]}' })
  const testnet = Address.from_bech32(newWallet().bech32).to_bech32()
  t.match(await ask(`${url}/utxos?address=${testnet}`), badRequest(`Invalid address: ${testnet}`))
})
