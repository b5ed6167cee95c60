// Runs clients that are no dApps: what a wallet on cardano-js-sdk reads and sends, on layer 2 of a node.
// Those of Blockfrost and Ogmios run with the tests of their APIs.
import t from 'tap'
import { record } from './record.mjs'
import { install, linesOf } from './run-client.mjs'

const skip = process.env.RATATOSK_SDKS === 'all' ? false : 'RATATOSK_SDKS=all installs the SDKs'

t.setTimeout(600_000)

t.test('cardano-js-sdk', { skip }, async (t) => {
  const { embedded } = await import('../apps/node/dist/test/backends.js')
  const { devnetFunds } = await import('../apps/node/dist/test/transfer.js')
  const { initialised, runNode } = await import('../apps/node/dist/test/node.js')
  const { builderConfig, devnetParameters, signedTransfer } = await import(
    '../apps/node/dist/test/transfer.js'
  )
  const { decodeAddress, decodeBech32Address, encodeBech32Address } = await import(
    '../packages/ledger/dist/index.js'
  )
  const node = await runNode(t, await embedded(t))
  await initialised(node.url)
  const { wallet, utxo } = devnetFunds(6, 0)
  const config = builderConfig(await devnetParameters())
  const [payment, conflicting] = [5_000_000n, 6_000_000n].map((lovelace) =>
    signedTransfer(config, wallet, utxo, devnetFunds(7, 0).wallet.address, lovelace),
  )
  const { stake } = decodeBech32Address(wallet.bech32)
  const folder = await install(t, 'client-cardano-js')
  const lines = await linesOf(folder, 'scenario.js', {
    CARDANO_API: `${node.url}/l2/blockfrost/api/v0`,
    ADDRESS: wallet.bech32,
    STAKE_ADDRESS: encodeBech32Address(decodeAddress(Uint8Array.from([0xe0, ...stake.hash]))),
    PAYMENT: payment.cborHex,
    CONFLICTING: conflicting.cborHex,
  })
  for (const line of lines) t.comment(line)
  const printed = Object.fromEntries(
    lines.map((line) => [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)]),
  )
  t.match(printed, {
    tip: /^[0-9a-f]{64}$/,
    parameters: '11',
    eras: '1',
    supply: 'true',
    stake: '0',
    rewards: '0',
    outputs: '20',
    paid: payment.hash,
    block: /^[0-9a-f]{64}$/,
    change: 'true',
  })
  t.match(printed.refused, new RegExp(`BadInputsUTxO.* was spent by transaction ${payment.hash}`))
  const run = { provider: 'Blockfrost', layers: ['layer 2'], steps: Object.keys(printed), without: [] }
  record('client-cardano-js', folder, [{ ...run, passed: t.passing() }])
})
