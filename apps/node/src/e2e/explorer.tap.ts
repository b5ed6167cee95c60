import { toHex } from '@ratatosk/cbor'
import type { OverviewAnswer } from '@ratatosk/explorer'
import { type Answer, ask, until } from '@ratatosk/test-kit/http'
import t from 'tap'
import { anyPlacement, backends } from '../test/backends.js'
import { devnetServer } from '../test/forged-block.js'
import { initialised, runNode, submit } from '../test/node.js'
import { transferFrom } from '../test/transfer.js'

const json = ({ status, body }: Answer) => ({ status, body: JSON.parse(body) })

/** Settings under which only the endpoints trigger operations. */
const byHand = {
  AUTO_INIT: 'false',
  AUTO_COMMIT: 'false',
  AUTO_MERGE: 'false',
  MATURITY_WINDOW_MS: '500',
  BLOCK_VALIDITY_MS: '10000',
}

for (const backend of await backends()) {
  t.test(`init, commit, mature, merge, reset on ${backend.name}`, { skip: backend.skip }, async (t) => {
    const layer1 = await devnetServer(t)
    const node = await runNode(t, { ...(await backend.place(t)), ...layer1.settings, ...byHand })
    const get = async (path: string) => json(await ask(`${node.url}${path}`))

    const before = await get('/stateQueue/root-unit-diagnostics')
    t.match(before, {
      status: 200,
      body: { status: 'invalid', resetInProgress: false, count: 0, outRefs: [] },
    })
    const { rootUnit, stateQueueAddress } = before.body
    t.match(rootUnit, /^[0-9a-f]{56}/)
    t.equal(Buffer.from(rootUnit.slice(56), 'hex').toString(), 'RATATOSK_CONFIRMED_STATE')
    t.equal(stateQueueAddress, node.stateQueueAddress)
    t.same(await get('/stateQueue'), { status: 200, body: { headers: [] } })
    t.match(
      await get('/commit'),
      { status: 409, body: { error: /initialise/ } },
      'there is nothing to commit to yet',
    )

    const initiated = await get('/init')
    t.equal(initiated.status, 200)
    const { txHash } = initiated.body
    t.match(txHash, /^[0-9a-f]{64}$/)
    t.same(initiated.body, { message: `Initiation successful: ${txHash}`, txHash, rootUnit })
    const ok = await get('/stateQueue/root-unit-diagnostics')
    t.match(ok.body, { status: 'ok', count: 1, outRefs: [/^[0-9a-f]{64}#\d+$/] })
    const again = await get('/init')
    t.equal(again.status, 409)
    t.match(again.body, { error: String, rootUnit, stateQueueAddress, count: 1, outRefs: ok.body.outRefs })

    t.same(await get('/commit'), { status: 200, body: { message: 'Nothing to commit', transactions: 0 } })
    t.same(await get('/merge'), { status: 200, body: { message: 'Nothing to merge' } })

    const made = await Promise.all([transferFrom(3, 0), transferFrom(3, 1)])
    const hashes = made.map(({ transfer }) => transfer.hash)
    for (const { transfer } of made) t.equal((await submit(node.url, transfer.cborHex)).status, 200)
    const found = async () => {
      const answers = await Promise.all(hashes.map((hash) => ask(`${node.url}/tx?tx_hash=${hash}`)))
      return answers.every(({ status }) => status === 200)
    }
    await until(found)
    const reads = () =>
      Promise.all(
        made.flatMap(({ receiver }) => [get(`/txs?address=${receiver}`), get(`/utxos?address=${receiver}`)]),
      )
    const asMempool = await reads()

    const committed = await get('/commit')
    t.equal(committed.status, 200)
    const { headerHash } = committed.body
    t.match(headerHash, /^[0-9a-f]{56}$/)
    t.same(committed.body, {
      message: `Block commitment successful: ${headerHash}`,
      headerHash,
      txHash: committed.body.txHash,
      transactions: 2,
    })
    t.same(await get('/stateQueue'), { status: 200, body: { headers: [headerHash] } })
    const block = await get(`/block?header_hash=${headerHash}`)
    t.same([...block.body.hashes].sort(), [...hashes].sort())
    t.ok(await found())
    t.same(await reads(), asMempool)

    let merged = await get('/merge')
    await until(
      async () => {
        if (merged.body.message !== 'Nothing to merge') return true
        merged = await get('/merge')
        return false
      },
      { what: 'the block is merged' },
    )
    t.equal(merged.status, 200)
    t.same(merged.body, {
      message: `Merging confirmed state successful: ${headerHash}`,
      headerHash,
      txHash: merged.body.txHash,
    })
    t.same(await get('/stateQueue'), { status: 200, body: { headers: [] } })
    t.same(await get(`/block?header_hash=${headerHash}`), block, '/block still lists them')
    t.ok(await found(), '/tx still finds every transaction')
    t.same(await reads(), asMempool, '/txs and /utxos are unchanged')

    const balance = await get('/commitment-wallet/balance')
    t.equal(balance.status, 200)
    t.match(balance.body.lovelaceBalance, /^[1-9][0-9]*$/)
    t.same(await get('/logBlocksTxsDB'), {
      status: 200,
      body: { message: 'BlocksTxsDB drawn in server logs!' },
    })
    t.same(await get('/logGlobals'), { status: 200, body: { message: 'Global variables logged!' } })

    t.same(await get('/reset'), { status: 200, body: { message: 'Collected all UTxOs successfully!' } })
    t.match((await get('/stateQueue/root-unit-diagnostics')).body, { status: 'invalid', count: 0 })
    t.equal((await ask(`${node.url}/tx?tx_hash=${hashes[0]}`)).status, 404, 'the ledger is empty')
    t.equal((await get('/init')).status, 200, 'and can begin anew, without a restart')
    const anew = await transferFrom(3, 0)
    t.equal((await submit(node.url, anew.transfer.cborHex)).status, 200)
    await until(async () => (await ask(`${node.url}/tx?tx_hash=${anew.transfer.hash}`)).status === 200)
    t.match(await get('/commit'), { status: 200, body: { transactions: 1 } })
  })
}

t.test('a node with default settings initialises, commits and merges automatically', async (t) => {
  const node = await runNode(t, {
    ...(await anyPlacement(t)),
    MATURITY_WINDOW_MS: '500',
    BLOCK_VALIDITY_MS: '10000',
    MERGE_INTERVAL_MS: '500',
  })
  const get = async (path: string) => json(await ask(`${node.url}${path}`))
  await initialised(node.url)
  const { transfer } = await transferFrom(4, 0)
  t.equal((await submit(node.url, transfer.cborHex)).status, 200)
  const headers = new Set<string>()
  await until(async () => {
    for (const header of (await get('/stateQueue')).body.headers) headers.add(header)
    return headers.size > 0
  })
  await until(async () => (await node.store.blocks.byHeight(1n))?.state === 'merged')
  t.same((await get('/stateQueue')).body, { headers: [] })
  const [header] = headers
  t.same((await get(`/block?header_hash=${header}`)).body, { hashes: [transfer.hash] })
  t.match(await node.store.blocks.byHeight(1n), { state: 'merged', transactions: 1 })
})

const settings = {
  AUTO_INIT: 'false',
  AUTO_COMMIT: 'false',
  AUTO_MERGE: 'false',
  MATURITY_WINDOW_MS: '500',
  BLOCK_VALIDITY_MS: '10000',
}

for (const backend of await backends()) {
  t.test(`/explorer equals the store on ${backend.name}`, { skip: backend.skip }, async (t) => {
    const layer1 = await devnetServer(t)
    const node = await runNode(t, { ...(await backend.place(t)), ...layer1.settings, ...settings })
    const { store } = node
    const get = async (path: string) => {
      const { status, body } = await ask(`${node.url}${path}`)
      return { status, body: JSON.parse(body) }
    }
    const explore = async (path: string) => (await get(`/explorer/${path}`)).body
    /** The answer of `/explorer/overview` once readers no longer share the last answer. */
    const overview = async (isNew: (body: OverviewAnswer) => boolean) => {
      let body = await explore('overview')
      await until(
        async () => {
          body = await explore('overview')
          return isNew(body)
        },
        { what: 'the overview is new' },
      )
      return body
    }

    // Parts that take more than a second to read are absent.
    t.match(await overview(({ layer1, queue, wallet }) => [layer1, queue, wallet].every(Boolean)), {
      role: 'all',
      network: 'devnet',
      maturityWindowMs: 500,
      queue: { transactions: 0, bytes: 0 },
      mempool: { transactions: 0, bytes: 0, more: false },
      layer1: { height: Number, slot: /^[0-9]+$/ },
      wallet: { address: /^addr_test1/, lovelace: /^[1-9][0-9]*$/ },
      sequencer: { holder: /^[0-9a-f]{6}$/ },
    })
    t.same(await explore('blocks'), { blocks: [] })
    t.equal((await get('/explorer/block/1')).status, 404)

    await get('/init')
    const made = await Promise.all([transferFrom(3, 0), transferFrom(3, 1)])
    for (const { transfer } of made) t.equal((await submit(node.url, transfer.cborHex)).status, 200)
    t.equal((await submit(node.url, '84a0a0f5f6')).status, 200, 'one that is rejected')
    const sizes = made.reduce((sum, { transfer }) => sum + transfer.size, 0)
    const inMempool = await overview(({ mempool }) => mempool.transactions === 2)
    t.equal(inMempool.mempool.bytes, sizes)

    const { transfer, receiver } = made[0]!
    const id = Buffer.from(transfer.hash, 'hex')
    const accepted = await explore(`tx/${transfer.hash}`)
    t.equal(accepted.block, undefined)
    t.equal(accepted.acceptedAt, (await store.placeOf(id))?.acceptedAt.toISOString())
    t.match(accepted, {
      fee: String(transfer.fee),
      bytes: transfer.size,
      cbor: transfer.cborHex,
      valid: true,
    })
    t.ok(accepted.inputs[0].output.amount[0].quantity, 'the input is resolved')
    t.equal(accepted.inputs[0].output.spentBy.txHash, transfer.hash)
    const fee = accepted.fields.find(({ name }: { name: string }) => name === 'body.fee')
    const encoded = transfer.cborHex.slice(2 * fee.offset, 2 * (fee.offset + fee.length))
    t.equal(BigInt(`0x${encoded.slice(2)}`), transfer.fee, 'the offset of the fee is that of its CBOR')

    const { headerHash, txHash } = (await get('/commit')).body
    await until(async () => (await get('/merge')).body.headerHash === headerHash, { what: 'it is merged' })
    const merged = await overview(({ blocks }) => blocks.merged.blocks === 1)
    t.same(merged.blocks, {
      built: { blocks: 0, transactions: 0 },
      submitted: { blocks: 0, transactions: 0 },
      committed: { blocks: 0, transactions: 0 },
      mature: { blocks: 0, transactions: 0 },
      merged: { blocks: 1, transactions: 2 },
    })
    const block = (await store.explorer.block(1n))!
    t.equal(merged.lastCommitAt, block.committedAt?.toISOString())
    t.equal(merged.lastMergeAt, block.mergedAt?.toISOString())

    const { blocks } = await explore('blocks')
    t.match(blocks, [
      {
        height: 1,
        headerHash,
        state: 'merged',
        transactions: 2,
        bytes: sizes,
        fees: String(made.reduce((sum, each) => sum + each.transfer.fee, 0n)),
        commitTxHash: txHash,
        commitFee: /^[1-9][0-9]*$/,
        mergeTxHash: toHex(block.mergeTransactionId!),
        times: {
          built: block.builtAt.toISOString(),
          submitted: block.submittedAt?.toISOString(),
          committed: block.committedAt?.toISOString(),
          merged: block.mergedAt?.toISOString(),
        },
      },
    ])
    const details = await explore(`block/${headerHash}?offset=1`)
    t.same(details.block, blocks[0])
    t.same(await explore('block/1?offset=1'), details)
    const second = (await store.blocks.transactionsOf(block.headerHash))[1]!
    t.match(details.transactions, [
      { hash: toHex(second.id), bytes: second.cbor.length, inputs: 1, redeemers: 0 },
    ])
    const archived = (await get(`/archivist/block/${headerHash}/header`)).body.header
    t.equal(details.header.utxosRootBefore, archived.prev_utxos_root)
    t.equal(details.header.utxosRootAfter, archived.utxos_root)
    t.equal(details.header.operator, archived.operator_vkey)

    const settled = await explore(`tx/${transfer.hash}`)
    t.equal(settled.block.headerHash, headerHash)
    t.equal(settled.position, (await store.placeOf(id))?.position)

    const made0 = encodeURIComponent(`${transfer.hash}#0`)
    t.same(await explore(`output/${made0}`), { output: settled.outputs[0], madeBy: transfer.hash })
    const genesis = await explore(`output/${encodeURIComponent(settled.inputs[0].outref)}`)
    t.same(genesis.output.spentBy, { txHash: transfer.hash, valid: true })
    t.equal(genesis.madeBy, undefined, 'no transaction made an output of the genesis')
    t.equal(settled.inputs[0].madeBy, undefined)

    const found = async (text: string) => {
      const { matches } = await explore(`search?q=${encodeURIComponent(text)}`)
      for (const { path } of matches) t.equal((await ask(`${node.url}${path}`)).status, 200, path)
      return matches.map(({ kind }: { kind: string }) => kind)
    }
    t.same(await found('1'), ['block'])
    t.same(await found(headerHash), ['block'])
    t.same(await found(transfer.hash.toUpperCase()), ['transaction'])
    t.same(await found(`${transfer.hash}#1`), ['output'])
    t.same(await found(receiver), ['address'])
    t.same(await found('ab'.repeat(32)), [])
    t.same(await found('<script>'), [])
    t.same((await explore('search?q=<script>')).couldBe, ['submission'])
    // Well formed, and never issued.
    for (const id of ['AAAAAAAAAAAA.0.1.1.0', `AAAAAAAAAAAA.0.1.1.0.${'A'.repeat(43)}`])
      t.same(await found(id), [], id)

    let rates = await explore('rates')
    const sum = (name: string) =>
      rates.minutes.reduce((total: number, minute: Record<string, number>) => total + (minute[name] ?? 0), 0)
    await until(async () => {
      rates = await explore('rates')
      return sum('rejected') === 1
    })
    t.equal(rates.minutes.length, 60)
    t.same([sum('accepted'), sum('committed'), sum('merged')], [2, 2, 2])
    const since = new Date(0)
    t.same(rates.acceptedToCommitted, await store.explorer.delay('committed', since, 100))
    t.same(rates.committedToMerged, await store.explorer.delay('merged', since, 100))

    const { answers } = await explore('trust')
    t.equal(answers.length, 5)
    const facts = answers.flatMap((each: { facts: { name: string; value: string }[] }) => each.facts)
    t.ok(
      facts.some(
        ({ name, value }: { name: string; value: string }) => /maturity/.test(name) && value === '500',
      ),
    )
  })
}
