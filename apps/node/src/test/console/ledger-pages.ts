import { createRequire } from 'node:module'
import { testWallets } from '@ratatosk/devnet'
import type { Test } from 'tap'
import type { ConsoleNode } from './console-node.js'

// Loaded as CommonJS: the ES modules of its libsodium lack a file.
const { Blockfrost, fromText, Lucid, mintingPolicyToId, paymentCredentialOf, scriptFromNative } =
  createRequire(import.meta.url)('@lucid-evolution/lucid') as typeof import('@lucid-evolution/lucid')
const wallet = (account: number) => testWallets.wallets[account]!.address

/** Address, asset, output and Prove it. */
export async function ledgerPages(
  t: Test,
  { url, get, committed, page, shows, visit, looksRight }: ConsoleNode,
): Promise<void> {
  const lucid = await Lucid(new Blockfrost(`${url}/l2/blockfrost/api/v0`), 'Custom')
  lucid.selectWallet.fromSeed(testWallets.mnemonic, { accountIndex: 5 })
  const key = paymentCredentialOf(await lucid.wallet().address()).hash
  const policy = scriptFromNative({ type: 'sig', keyHash: key })
  const hostile = '<img src=x onerror=alert(1)>'
  const unit = mintingPolicyToId(policy) + fromText(hostile)
  const builder = lucid
    .newTx()
    .pay.ToAddress(wallet(8), { lovelace: 5_000_000n, [unit]: 3n })
    .mintAssets({ [unit]: 3n })
    .attach.MintingPolicy(policy)
    .addSignerKey(key)
    .attachMetadata(674, { msg: [hostile] })
  const hash = await (await (await builder.complete()).sign.withWallet().complete()).submit()

  await visit(`asset/${unit}`)
  await shows('#name', hostile)
  await shows('#quantity', '3')
  await page.waitForSelector(`#holders [data-holder="${wallet(8)}"]`)
  await looksRight(t, 'asset')

  await page.click(`#holders [data-holder="${wallet(8)}"] a`)
  await page.waitForSelector(`#history [data-tx="${hash}"] .gain`)
  const { amount } = await get(`/l2/blockfrost/api/v0/addresses/${wallet(8)}`)
  await shows('#balance', String(Number(amount[0].quantity) / 1e6).replace(/(?=(\d{3})+$)\B/g, '\u202f'))
  t.match(await page.locator(`#history [data-tx="${hash}"]`).textContent(), /\+5 ₳.*\+3/)
  await looksRight(t, 'address')
  await visit('address/nonsense')
  const { message } = await get('/l2/blockfrost/api/v0/addresses/nonsense')
  await shows('main section:has(h2:has-text("Address"))', message)

  const headerHash = Buffer.from((await committed(hash)).headerHash).toString('hex')
  await visit(`tx/${hash}`)
  await page.click('summary:has-text("674")')
  await shows('details pre', hostile)
  await page.click('#prove')
  await page.waitForSelector(`#proof [title="${headerHash}"]`)
  const { position } = await get(`/proofs/transaction?tx_hash=${hash}`)
  await shows('#proof', `it is at position ${position}`)
  await looksRight(t, 'proof')
  const [{ outref }] = (await get(`/explorer/tx/${hash}`)).outputs
  await page.click(`main a[href="#/output/${encodeURIComponent(outref)}"]`)
  await page.waitForSelector('#spent')
  await page.waitForSelector(`#before [title="${(await get(`/explorer/tx/${hash}`)).inputs[0].outref}"]`)
  await page.click('#prove')
  await shows('#proof', 'it is unspent')
  await looksRight(t, 'output')

  const changed = async (fields: Record<string, number>) => {
    await page.route('**/proofs/transaction*', async (route) => {
      const answer = await route.fetch()
      await route.fulfill({ response: answer, json: { ...(await answer.json()), ...fields } })
    })
    await visit('')
    await visit(`tx/${hash}`)
    await page.click('#prove')
  }
  await changed({ position: 77 })
  await shows('main', 'The proof is not valid')
  await page.unroute('**/proofs/transaction*')
  await changed({ height: 77_777 })
  await shows('#proof', `it is at position ${position}`)
  t.notMatch(await page.textContent('#proof'), /77.?777/, 'the proof says nothing about the height')
  await page.unroute('**/proofs/transaction*')
}
