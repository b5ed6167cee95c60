import { request } from 'node:http'
import { createRequire } from 'node:module'
import { fromHex, toHex } from '@ratatosk/cbor'
import { addressText } from '@ratatosk/chain-apis'
import { testWallets } from '@ratatosk/devnet'
import { decodeTransaction } from '@ratatosk/ledger'
import { ask, until } from '@ratatosk/test-kit/http'
import { alice, bob, genesisOf } from '@ratatosk/test-kit/ledger-apis'
import t, { type Test } from 'tap'
import { backends, onServices } from '../test/backends.js'
import { devnetServer } from '../test/forged-block.js'
import { askExact, runNode } from '../test/node.js'
import { manyTransfers, transferFrom } from '../test/transfer.js'

/** Enough for several pages, the last of which is not full. */
const held = 1_000
/** One more than Blockfrost's sums may be made of. */
const tooMany = 10_001

for (const backend of await backends()) {
  t.test(`outputs of a busy address: ${backend.name}`, { skip: backend.skip }, async (t) => {
    const { utxos } = genesisOf(Array(held).fill(bob.addressBytes), 2_000_000n)
    const { genesisFile, transfers } = await manyTransfers(t, tooMany, utxos)
    const node = await runNode(t, {
      ...(await backend.place(t)),
      GENESIS_FILE: genesisFile,
      AUTO_COMMIT: 'false',
    })
    const get = async (path: string) => {
      const { status, headers, body } = await ask(`${node.url}/l2${path}`)
      return { status, headers, body: JSON.parse(body) }
    }
    const referencesOf = (outputs: { transaction_id: string; output_index: number }[]) =>
      outputs.map(({ transaction_id, output_index }) => `${transaction_id}#${output_index}`)
    const outrefs = utxos.map(({ outref }) => outref)

    await t.test('Kupo sends them all, in both orders, also by payment credential', async (t) => {
      for (const pattern of [bob.address, `${toHex(bob.hash)}/*`]) {
        const oldest = await get(`/kupo/matches/${pattern}?unspent&order=oldest_first`)
        t.equal(oldest.status, 200)
        t.equal(oldest.headers['content-type'], 'application/json;charset=utf-8')
        t.same(referencesOf(oldest.body), outrefs)
        const newest = await get(`/kupo/matches/${pattern}`)
        t.same(referencesOf(newest.body), [...outrefs].reverse())
      }
      t.same((await get(`/kupo/matches/${bob.address}?spent`)).body, [])
      t.same((await get(`/kupo/matches/${alice.address}`)).body, [])
    })

    await t.test('Blockfrost adds them up, and sends them by pages', async (t) => {
      const { body } = await get(`/blockfrost/api/v0/addresses/${bob.address}`)
      t.same(body.amount, [{ unit: 'lovelace', quantity: String(held * 2_000_000) }])
      const { body: last } = await get(`/blockfrost/api/v0/addresses/${bob.address}/utxos?page=10`)
      t.same(
        last.map(
          ({ tx_hash, output_index }: { tx_hash: string; output_index: number }) =>
            `${tx_hash}#${output_index}`,
        ),
        outrefs.slice(900),
      )
    })

    await t.test('those of an address that has more than 10,000 are sent, but not added up', async (t) => {
      const { body } = decodeTransaction(fromHex(transfers[0]?.cborHex ?? ''))
      const holder = addressText(body.outputs[0]!.address)
      t.equal((await get(`/kupo/matches/${holder}`)).body.length, tooMany)
      const params = { addresses: [holder] }
      const { status: answered, body: answer } = await ask(`${node.url}/l2/ogmios`, {
        method: 'POST',
        body: JSON.stringify({ jsonrpc: '2.0', method: 'queryLedgerState/utxo', params }),
      })
      t.equal(answered, 200)
      t.equal(JSON.parse(answer).result.length, tooMany)
      const { status, body: refusal } = await get(`/blockfrost/api/v0/addresses/${holder}`)
      t.equal(status, 400)
      t.match(refusal.message, /More than 10000 outputs match/)
    })
  })
}

// Loaded as CommonJS: the ES modules of its libsodium lack a file.
const {
  Blockfrost,
  fromText,
  Lucid,
  mintingPolicyToId,
  paymentCredentialOf,
  SLOT_CONFIG_NETWORK,
  scriptFromNative,
} = createRequire(import.meta.url)('@lucid-evolution/lucid') as typeof import('@lucid-evolution/lucid')

const cbor = { 'content-type': 'application/cbor' }
const paths = ['/blockfrost/api/v0/health', '/kupo/health', '/ogmios/health']
const all = ['/l2', '/l2/committed', '/l2/merged'].flatMap((prefix) => paths.map((path) => prefix + path))

const services = await onServices()

t.test('layer 2 is served with three finalities', { skip: services.skip }, async (t) => {
  const layer1 = await devnetServer(t)
  const node = await runNode(t, {
    ...(await services.place(t)),
    ...layer1.settings,
    AUTO_INIT: 'false',
    AUTO_COMMIT: 'false',
    AUTO_MERGE: 'false',
    MATURITY_WINDOW_MS: '500',
    BLOCK_VALIDITY_MS: '10000',
  })
  const get = async (path: string) => {
    const { status, body } = await ask(`${node.url}${path}`)
    return { status, body: JSON.parse(body) }
  }
  /** Whether a transaction is on the chain of each finality. */
  const onChain = async (hash: string) => {
    const found: boolean[] = []
    for (const prefix of ['/l2', '/l2/committed', '/l2/merged']) {
      const { status } = await get(`${prefix}/blockfrost/api/v0/txs/${hash}`)
      found.push(status === 200)
    }
    return found
  }

  await t.test('GET /network says where and how', async (t) => {
    const { status, body } = await get('/network')
    t.equal(status, 200)
    t.match(body, {
      network: 'devnet',
      networkId: 0,
      networkMagic: 42,
      slotClock: { zeroTime: Date.UTC(2025, 0, 1), zeroSlot: 0, slotLength: 1000 },
      protocolParameters: { min_fee_a: 44, min_fee_b: 155_381, coins_per_utxo_size: '4310' },
      limits: { inputs: 60, outputs: 100, bodyItems: 600 },
      maturityWindow: 500,
      versions: { node: /^\d+\.\d+\.\d+/, protocol: 4 },
    })
    for (const api of Object.values<Record<string, string>>(body.apis)) {
      // Kupo answers 202 until the index of outputs has followed the genesis.
      for (const path of Object.values(api))
        await until(async () => (await ask(`${node.url}${path}/health`)).status === 200, { what: path })
    }
  })

  const { transfer, receiver } = await transferFrom(3, 0)
  const bytes = Buffer.from(transfer.cborHex, 'hex')
  const submit = (path: string, body: Buffer) =>
    ask(`${node.url}${path}/blockfrost/api/v0/tx/submit`, { method: 'POST', headers: cbor, body })

  await t.test('a submission answers with the id once the transaction is accepted', async (t) => {
    t.same(JSON.parse((await submit('/l2', bytes)).body), transfer.hash)
    t.equal((await ask(`${node.url}/tx?tx_hash=${transfer.hash}`)).status, 200, 'found at once')
    t.same(await onChain(transfer.hash), [true, false, false])
    const { body } = await get(`/l2/blockfrost/api/v0/addresses/${receiver}/utxos`)
    t.match(body, [{ tx_hash: transfer.hash, amount: [{ unit: 'lovelace', quantity: '5000000' }] }])
    t.same((await get('/l2/committed/blockfrost/api/v0/mempool')).body, [{ tx_hash: transfer.hash }])
    t.equal((await submit('/l2', bytes)).status, 200, 'again, without a second effect')
    t.equal((await ask(`${node.url}/l2//blockfrost/api/v0//health`)).status, 200, 'duplicate slashes')
    t.equal((await askExact(`${node.url}//tx`)).status, 404, 'but only below /l2')
  })

  await t.test('and 400 with the failed predicate', async (t) => {
    const { status, body } = await submit('/l2', Buffer.from(withOtherOutput(transfer.cborHex), 'hex'))
    t.equal(status, 400)
    t.match(JSON.parse(body).message, /TxValidationErrorInCardanoMode/)
    t.match(JSON.parse(body).message, /InvalidWitnessesUTXOW/)
    t.equal((await submit('/l2', Buffer.from('80', 'hex'))).status, 400)
  })

  await t.test(
    'pages of other origins cannot open a WebSocket, which no preflight request protects',
    async (t) => {
      const { host } = new URL(node.url)
      t.equal(await socketStatus(node.url), 101, 'no browser')
      t.equal(await socketStatus(node.url, `http://${host}`), 101, 'a page of the node itself')
      t.equal(
        await socketStatus(`${node.url}/health/live?`),
        200,
        'any other route answers as ever, and closes',
      )
      for (const origin of ['https://elsewhere.example', 'null', `https://${host}.example`]) {
        t.equal(await socketStatus(node.url, origin), 403, origin)
      }
    },
  )

  const commit = async (hash: string) =>
    until(
      async () => {
        await get('/commit')
        return (await onChain(hash))[1] === true
      },
      { what: 'committed' },
    )

  await t.test('commit and merge reach the other finalities', async (t) => {
    t.equal((await get('/init')).status, 200)
    await commit(transfer.hash)
    t.equal((await get(`/l2/committed/kupo/matches/*@${transfer.hash}`)).body.length, 2)
    await until(
      async () => {
        await get('/merge')
        return (await onChain(transfer.hash))[2] === true
      },
      { what: 'merged' },
    )
    t.equal((await get(`/l2/merged/kupo/matches/*@${transfer.hash}`)).body.length, 2)
  })

  await t.test('a roll-back of layer 1 takes a commit back', async (t) => {
    const { transfer: next } = await transferFrom(3, 1)
    t.equal((await submit('/l2', Buffer.from(next.cborHex, 'hex'))).status, 200)
    const { height } = layer1.devnet.tip()
    await commit(next.hash)
    t.same(await onChain(next.hash), [true, true, false])
    // The node would send it again, sometimes before the checks.
    const allowSubmit = layer1.devnet.faults.inject({ kind: 'failure', operation: 'submit', times: Infinity })
    await layer1.devnet.rollBack(layer1.devnet.tip().height - height)
    await until(async () => (await onChain(next.hash))[1] === false, { what: 'no longer committed' })
    t.same(await onChain(next.hash), [true, false, false], 'still accepted')
    t.match((await get('/l2/committed/blockfrost/api/v0/mempool')).body, [{ tx_hash: next.hash }])
    t.same(await onChain(transfer.hash), [true, true, true], 'what is merged stays')
    allowSubmit()
  })

  await t.test('the same payment by Lucid Evolution on both layers, one URL apart', async (t) => {
    const ledgers = {
      'layer 1': { url: layer1.settings.BLOCKFROST_URL ?? '', slots: layer1.devnet.slots },
      'layer 2': { url: `${node.url}/l2/blockfrost/api/v0`, slots: (await get('/network')).body.slotClock },
    }
    for (const [name, { url, slots }] of Object.entries(ledgers)) {
      const { zeroTime, zeroSlot, slotLength } = slots
      SLOT_CONFIG_NETWORK.Custom = { zeroTime: Number(zeroTime), zeroSlot: Number(zeroSlot), slotLength }
      const { hash, received, policyId, metadata, asset } = await pay(url)
      t.match(hash, /^[0-9a-f]{64}$/, name)
      t.same(received, [hash], `${name}: the payment is found at its address`)
      const acorn = { name: 'An acorn', image: 'ipfs://acorn', size: 5 }
      t.same(metadata, [{ label: '721', json_metadata: { [policyId]: { Acorn: acorn } } }], name)
      t.match(asset, {
        policy_id: policyId,
        asset_name: Buffer.from('Acorn').toString('hex'),
        quantity: '3',
        initial_mint_tx_hash: hash,
        mint_or_burn_count: 1,
        onchain_metadata: acorn,
        onchain_metadata_standard: 'CIP25v1',
      })
    }
  })
})

t.test(
  'what is switched off or not of the role answers as an unknown path does',
  { skip: services.skip },
  async (t) => {
    const off = await runNode(t, { ...(await services.place(t)), SERVE_LAYER2_APIS: 'false' })
    await answersUniform404(t, off.url)
    const api = await runNode(t, { ...(await services.place(t)), NODE_ROLE: 'api' })
    await answersUniform404(t, api.url)
  },
)

async function answersUniform404(t: Test, url: string): Promise<void> {
  const unknown = await askExact(`${url}/nothing`)
  t.equal(unknown.status, 404)
  for (const path of ['/network', '/l2', ...all]) t.same(await askExact(`${url}${path}`), unknown, path)
}

/** The scenario. The ledgers differ only in their URL. */
async function pay(url: string) {
  const lucid = await Lucid(new Blockfrost(url), 'Custom')
  lucid.selectWallet.fromSeed(testWallets.mnemonic, { accountIndex: 5 })
  const to = testWallets.wallets[6]?.address ?? ''
  const before = new Set((await lucid.utxosAt(to)).map(({ txHash }) => txHash))
  const key = paymentCredentialOf(await lucid.wallet().address()).hash
  const policy = scriptFromNative({ type: 'sig', keyHash: key })
  const policyId = mintingPolicyToId(policy)
  const builder = lucid
    .newTx()
    .pay.ToAddress(to, { lovelace: 5_000_000n })
    .mintAssets({ [policyId + fromText('Acorn')]: 3n })
    .attach.MintingPolicy(policy)
    .addSignerKey(key)
    .attachMetadata(721, { [policyId]: { Acorn: { name: 'An acorn', image: 'ipfs://acorn', size: 5 } } })
  const signed = await (await builder.complete()).sign.withWallet().complete()
  const hash = await signed.submit()
  await lucid.awaitTx(hash, 200)
  const received = (await lucid.utxosAt(to)).map(({ txHash }) => txHash)
  const read = async (path: string) => JSON.parse((await ask(url + path)).body)
  return {
    hash,
    received: received.filter((each) => !before.has(each)),
    policyId,
    metadata: await read(`/txs/${hash}/metadata`),
    asset: await read(`/assets/${policyId}${fromText('Acorn')}`),
  }
}

/** The status of a request to open a WebSocket: 101 if it is opened. */
async function socketStatus(url: string, origin?: string): Promise<number | undefined> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
    ...(origin !== undefined && { origin }),
  }
  return new Promise((resolve, reject) => {
    const attempt = request(`${url}/l2/ogmios`, { headers, agent: false })
    attempt.on('upgrade', ({ statusCode }, socket) => {
      socket.destroy()
      resolve(statusCode)
    })
    attempt.on('response', (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    attempt.on('error', reject)
    attempt.end()
  })
}

/** Another body under the same signature. */
function withOtherOutput(cborHex: string): string {
  // 5 ada in the output, as CBOR.
  return cborHex.replace('1a004c4b40', '1a004c4b3f')
}
