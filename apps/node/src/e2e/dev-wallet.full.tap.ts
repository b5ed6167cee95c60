import { createRequire } from 'node:module'
import { PrivateKey, TransactionHash } from '@dcspark/cardano-multiplatform-lib-nodejs'
import { toHex } from '@ratatosk/cbor'
import { layer2 } from '@ratatosk/client/wallet'
import { testWallets } from '@ratatosk/devnet'
import { blake2b224, blake2b256, decodeBech32Address, decodeTransaction, keyAddress } from '@ratatosk/ledger'
import { signingKey } from '@ratatosk/ledger/builder'
import { freePort } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import type { Page } from 'playwright-core'
import t from 'tap'
import { anyPlacement } from '../test/backends.js'
import { noBrowser, openPages, type PageGlobals } from '../test/browser.js'
import { devnetServer } from '../test/forged-block.js'
import { runNode } from '../test/node.js'
import { publicNetwork } from '../test/transfer.js'

// Loaded as CommonJS: the ES modules of its libsodium lack a file.
const { verifyData } = createRequire(import.meta.url)('@lucid-evolution/lucid')

declare const window: PageGlobals

const wallet = (account: number) => {
  const found = testWallets.wallets[account]!
  return { ...found, hex: toHex(decodeBech32Address(found.address).bytes) }
}

const devnetPort = await freePort()
const node = await runNode(t, {
  ...(await anyPlacement(t)),
  CORS_ORIGIN: '*',
  DEVNET_PORT: devnetPort,
  AUTO_COMMIT: 'false',
  AUTO_MERGE: 'false',
})
const layer1 = `http://127.0.0.1:${devnetPort}`

t.test('the keys that the script offers belong to the addresses', async (t) => {
  for (const { address, signingKey: payment, stakeSigningKey: stake } of testWallets.wallets) {
    const hash = blake2b224(signingKey(stake).publicKey)
    const own = keyAddress(blake2b224(signingKey(payment).publicKey), 0, { kind: 'key', hash })
    t.same(own.bytes, decodeBech32Address(address).bytes)
  }
})

t.test('a node of another network does not serve the script', async (t) => {
  t.equal((await ask(`${node.url}/dev-wallet.js`)).status, 200)
  const other = await runNode(t, { ...(await anyPlacement(t)), ...publicNetwork('preprod', layer1) })
  t.match(JSON.parse((await ask(`${other.url}/network`)).body), { network: 'preprod' }, 'it serves layer 2')
  t.match(await ask(`${other.url}/dev-wallet.js`), {
    status: 404,
    body: '{"error":"Not Found","code":"DISABLED"}',
  })
})

t.test('a ledger that is asked too often is TxSendError 1', async (t) => {
  const { devnet, settings } = await devnetServer(t)
  const address = wallet(5).hex
  const api = layer2(
    {
      getNetworkId: async () => 0,
      getUsedAddresses: async () => [address],
      getChangeAddress: async () => address,
      getRewardAddresses: async () => [],
      signTx: async () => 'a0',
      signData: () => Promise.reject(new Error('not here')),
    },
    { url: settings.BLOCKFROST_URL ?? '' },
  )
  devnet.faults.inject({ kind: 'rate-limit', target: 'blockfrost', operation: 'submit' })
  await t.rejects(api.submitTx('80'), { name: 'TxSendError', code: 1 })
  await t.rejects(api.submitTx('80'), {
    name: 'TxSendError',
    code: 2,
    info: /DecoderErrorDeserialiseFailure/,
  })
})

t.test('in Chromium', { skip: noBrowser }, async (t) => {
  const open = await openPages(t)

  for (const [layer, script, api] of [
    ['layer 1', `${layer1}/dev-wallet.js`, `${layer1}/blockfrost/api/v0`],
    ['layer 2', `${node.url}/dev-wallet.js`, `${node.url}/l2/blockfrost/api/v0`],
    [
      'layer 2 by URL',
      `${layer1}/dev-wallet.js?account=4&url=${node.url}/l2/blockfrost/api/v0`,
      `${node.url}/l2/blockfrost/api/v0`,
    ],
  ] as const) {
    await t.test(`a page connects the wallet and pays on ${layer}`, async (t) => {
      const page = await open(script)
      const receiver = toHex(keyAddress(blake2b224(Buffer.from(layer)), 0).bytes)
      const result = await page.evaluate(async (to) => {
        const { ratatosk } = window.cardano
        const before = await ratatosk.isEnabled()
        const api = await ratatosk.enable()
        return {
          states: [before, await ratatosk.isEnabled()],
          network: await api.getNetworkId(),
          addresses: [await api.getUsedAddresses(), await api.getUnusedAddresses()],
          balance: await api.getBalance(),
          paid: await window.page.pay(api, to, 7_000_000n),
        }
      }, receiver)
      const account = layer === 'layer 2 by URL' ? 4 : 3
      t.same(result.states, [false, true])
      t.equal(result.network, 0)
      t.same(result.addresses, [[wallet(account).hex], []])
      t.match(result.balance, /^1b/, 'ada only')
      const [id, expected] = result.paid
      t.equal(id, expected)
      await until(async () => (await ask(`${api}/txs/${id}/utxos`)).status === 200, {
        what: `${layer} has it`,
      })
      t.match(JSON.parse((await ask(`${api}/txs/${id}/utxos`)).body).outputs[0].amount, [
        { quantity: '7000000' },
      ])
    })
  }

  await t.test('getUtxos, getCollateral and pages', async (t) => {
    const page = await open(`${node.url}/dev-wallet.js?account=6`)
    const { all, some, none, pages, collateral, rewards } = await page.evaluate(async () => {
      const api = await window.cardano.ratatosk.enable()
      return {
        all: await api.getUtxos(),
        some: await api.getUtxos('1a000f4240'),
        none: await api.getUtxos('1b00ffffffffffffff'),
        pages: [
          await api.getUtxos(undefined, { page: 0, limit: 2 }),
          await api.getUtxos(undefined, { page: 1, limit: 2 }),
        ],
        collateral: [await api.getCollateral(), await api.getCollateral({ amount: '1a001e8480' })],
        rewards: await api.getRewardAddresses(),
      }
    })
    t.ok(all !== null && all.length > 2)
    t.equal(some?.length, 1)
    t.equal(none, null, 'null if the wallet has less')
    t.same(pages.flat(), all?.slice(0, 4))
    for (const outputs of collateral) t.equal(outputs?.length, 1)
    const stake = decodeBech32Address(wallet(6).address)
    t.same(rewards, [`e0${'stake' in stake && stake.stake ? toHex(stake.stake.hash) : ''}`])
  })

  await t.test('data signatures verify in Lucid Evolution', async (t) => {
    const page = await open(`${node.url}/dev-wallet.js?account=6`)
    const payload = toHex(Buffer.from('hello'))
    const [byHex, byBech32] = await page.evaluate(
      async ([hex, bech32, payload]) => {
        const api = await window.cardano.ratatosk.enable()
        return [await api.signData(hex!, payload!), await api.signData(bech32!, payload!)]
      },
      [wallet(6).hex, wallet(6).address, payload],
    )
    const hash = toHex(blake2b224(signingKey(wallet(6).signingKey).publicKey))
    t.ok(verifyData(wallet(6).hex, hash, payload, byHex))
    t.notOk(verifyData(wallet(6).hex, hash, `${payload}00`, byHex))
    t.same(byBech32, byHex)
  })

  await t.test('errors have the types and codes of CIP-30', async (t) => {
    const page = await open(`${node.url}/dev-wallet.js?account=7`)
    const script = toHex(Uint8Array.of(0x70, ...new Uint8Array(28)))
    const found = await page.evaluate(
      async ([script, stranger, url]) => {
        const api = await window.cardano.ratatosk.enable()
        const own = await api.getChangeAddress()
        const { tx } = await window.page.draftPayment(api, own, 2_000_000n)
        // The owner of another wallet's output does not sign here.
        const other = await window.page.draftPayment({ ...api, getUtxos: strangersUtxos }, own, 2_000_000n)
        async function strangersUtxos() {
          const addresses = {
            getUsedAddresses: async () => [stranger!],
            getChangeAddress: async () => stranger!,
          }
          return window.page.layer2({ ...api, ...addresses }, { url: url! }).getUtxos('1a00989680')
        }
        const fails = async (attempt: () => Promise<unknown>) => {
          try {
            return await attempt()
          } catch (error) {
            const { name, code, info, maxSize } = error as Record<string, unknown>
            return { name, code, info, maxSize }
          }
        }
        return {
          badAmount: await fails(() => api.getUtxos('ff')),
          badHex: await fails(() => api.signTx('xyz')),
          badTx: await fails(() => api.signTx('80')),
          tooMuchCollateral: await fails(() => api.getCollateral({ amount: 6_000_000 })),
          page: await fails(() => api.getUtxos(undefined, { page: 9_999, limit: 2 })),
          missingKey: await fails(() => api.signTx(other.tx)),
          partial: await fails(() => api.signTx(other.tx, true)),
          notPk: await fails(() => api.signData(script!, '00')),
          notOurs: await fails(() => api.signData(stranger!, '00')),
          unsigned: await fails(() => api.submitTx(tx)),
        }
      },
      [script, wallet(8).hex, `${node.url}/l2/blockfrost/api/v0`],
    )
    t.match(found, {
      badAmount: { name: 'APIError', code: -1 },
      badHex: { name: 'APIError', code: -1, info: 'tx must be hex' },
      badTx: { name: 'APIError', code: -1 },
      tooMuchCollateral: { name: 'APIError', code: -1 },
      page: { name: 'PaginateError', maxSize: Number },
      missingKey: { name: 'TxSignError', code: 1, info: /does not have the keys/ },
      partial: 'a0',
      notPk: { name: 'DataSignError', code: 2 },
      notOurs: { name: 'DataSignError', code: 1 },
      unsigned: { name: 'TxSendError', code: 2, info: /MissingVKeyWitnessesUTXOW/ },
    })

    const refusing = await open(`${node.url}/dev-wallet.js?decline=enable`)
    const declining = await open(`${node.url}/dev-wallet.js?decline=sign`)
    const code = (tab: Page) =>
      tab.evaluate(async () => {
        try {
          const api = await window.cardano.ratatosk.enable()
          const { tx } = await window.page.draftPayment(api, await api.getChangeAddress(), 2_000_000n)
          return await api.signTx(tx)
        } catch (error) {
          const { name, code } = error as Record<string, unknown>
          return [name, code]
        }
      })
    t.same(await code(refusing), ['APIError', -3])
    t.same(await code(declining), ['TxSignError', 2])
    const declined = declining.evaluate(async () => {
      const api = await window.cardano.ratatosk.enable()
      return api.signData(await api.getChangeAddress(), '00').catch(({ name, code }) => [name, code])
    })
    t.same(await declined, ['DataSignError', 3])

    // Nothing listens there.
    const unreachable = await open(`${node.url}/dev-wallet.js?url=http://127.0.0.1:9/l2`)
    const lost = unreachable.evaluate(async () => {
      const api = await window.cardano.ratatosk.enable()
      return api.getUtxos().catch(({ name, code, info }) => ({ name, code, info }))
    })
    t.match(await lost, { name: 'APIError', code: -2, info: /cannot be reached.*CORS_ORIGIN/ })
  })

  await t.test('layer2() points a wallet that can only sign at layer 2', async (t) => {
    const page = await open()
    const { hex, signingKey: key } = wallet(5)
    await page.exposeFunction('signAs5', (tx: string) => {
      const { body } = decodeTransaction(Buffer.from(tx, 'hex'))
      const id = toHex(blake2b256(body.bytes))
      const owner = PrivateKey.from_bech32(key)
      const signature = owner.sign(TransactionHash.from_hex(id).to_raw_bytes()).to_raw_bytes()
      return `a10081825820${toHex(owner.to_public().to_raw_bytes())}5840${toHex(signature)}`
    })
    const { paid, missing } = await page.evaluate(
      async ([address, url, to]) => {
        const signOnly = {
          getNetworkId: async () => 0,
          getUsedAddresses: async () => [address!],
          getChangeAddress: async () => address!,
          getRewardAddresses: async () => [],
          signTx: (tx: string) => window.signAs5(tx),
          signData: () => Promise.reject(new Error('not here')),
        }
        const api = window.page.layer2(signOnly, { url: url! })
        const paid = await window.page.pay(api, to!, 3_000_000n)
        const silent = window.page.layer2({ ...signOnly, signTx: async () => 'a0' }, { url: url! })
        const { tx } = await window.page.draftPayment(silent, to!, 3_000_000n)
        const missing = await silent.signTx(tx).catch(({ name, code }) => [name, code])
        return { paid, missing }
      },
      [hex, `${node.url}/l2/blockfrost/api/v0`, wallet(9).hex],
    )
    t.equal(paid[0], paid[1])
    t.equal((await ask(`${node.url}/tx?tx_hash=${paid[0]}`)).status, 200)
    t.same(missing, ['TxSignError', 1], 'signatures that are missing are noticed')
  })
})
