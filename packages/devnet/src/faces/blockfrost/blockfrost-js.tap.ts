import { BlockFrostAPI, BlockfrostServerError } from '@blockfrost/blockfrost-js'
import { toHex } from '@ratatosk/ledger'
import { type Test, test } from 'tap'
import { draft, unitDatum } from '../../test/draft.js'
import { alice, aliceGenesis, bob, first, lock, payment, unlock } from '../../test/scenes.js'
import { failing, failingHash, succeeding, succeedingHash } from '../../test/scripts.js'
import { serveDevnet } from '../../test/served-devnet.js'

async function open(t: Test) {
  const { blockfrost, devnet, close } = await serveDevnet({ genesis: aliceGenesis, blockEveryMs: 0 })
  t.teardown(close)
  const api = new BlockFrostAPI({ customBackend: blockfrost, rateLimiter: false })
  return { api, devnet }
}

async function refusal(work: Promise<unknown>): Promise<BlockfrostServerError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof BlockfrostServerError) return error
  throw error ?? new Error('there was no error')
}

test('the chain', async (t) => {
  const { api, devnet } = await open(t)
  t.match(await api.genesis(), { network_magic: 42, slot_length: 1, epoch_length: 432_000 })
  t.match(await api.blocksLatest(), { height: 0, hash: devnet.genesisHash })
  const block = await devnet.produceBlock()
  t.match(await api.blocksLatest(), { height: 1, hash: block.hash, previous_block: devnet.genesisHash })
  t.match(await api.blocks(1), { hash: block.hash, slot: Number(block.slot), confirmations: 0, tx_count: 0 })
  t.match(await api.blocks(devnet.genesisHash), { height: 0, next_block: block.hash })
  t.match(await refusal(api.blocks(7)), {
    status_code: 404,
    error: 'Not Found',
    message: 'The requested component has not been found.',
  })
})

test('protocol parameters', async (t) => {
  const { api, devnet } = await open(t)
  const parameters = await api.epochsLatestParameters()
  t.match(parameters, {
    min_fee_a: 44,
    min_fee_b: 155_381,
    max_tx_size: 16_384,
    coins_per_utxo_size: '4310',
    price_mem: 0.0577,
    price_step: 0.0000721,
    protocol_major_ver: 10,
  })
  t.same(parameters.cost_models_raw?.PlutusV3, devnet.parameters.costModels.PlutusV3?.map(Number))
})

test('a payment, from the question for outputs to its confirmation', async (t) => {
  const { api, devnet } = await open(t)
  const [funds] = await api.addressesUtxos(alice.address)
  t.match(funds, {
    tx_hash: '11'.repeat(32),
    output_index: 0,
    amount: [{ unit: 'lovelace', quantity: '100000000' }],
    block: devnet.genesisHash,
    inline_datum: null,
  })
  t.match(await refusal(api.addressesUtxos(bob.address)), { status_code: 404 })

  const { cbor, hash } = payment()
  t.equal(await api.txSubmit(cbor), hash)
  t.same(await api.mempool(), [{ tx_hash: hash }])
  t.match(await refusal(api.txs(hash)), { status_code: 404 })
  const block = await devnet.produceBlock()

  t.match(await api.txs(hash), {
    hash,
    block: block.hash,
    block_height: 1,
    fees: '200000',
    size: cbor.length,
    valid_contract: true,
    output_amount: [{ unit: 'lovelace', quantity: '99800000' }],
  })
  const { inputs, outputs } = await api.txsUtxos(hash)
  t.match(inputs, [{ tx_hash: '11'.repeat(32), output_index: 0, address: alice.address, collateral: false }])
  t.match(outputs, [{ address: bob.address, output_index: 0 }, { address: alice.address }])
  t.equal((await api.addressesUtxos(bob.address)).length, 1)
  t.same(
    (await api.addressesTransactions(alice.address)).map(({ tx_hash }) => tx_hash),
    ['11'.repeat(32), hash],
  )
  t.match(await api.addresses(alice.address), { amount: [{ unit: 'lovelace', quantity: '189800000' }] })
  t.same(await api.blocksTxs(block.hash), [hash])
})

test('genesis, as if it were a transaction', async (t) => {
  const { api, devnet } = await open(t)
  t.match(await api.txs('11'.repeat(32)), {
    block: devnet.genesisHash,
    output_amount: [{ unit: 'lovelace', quantity: '200000000' }],
  })
  const { inputs, outputs } = await api.txsUtxos('11'.repeat(32))
  t.same(inputs, [])
  t.equal(outputs.length, 2)
})

test('a path with a slash too many', async (t) => {
  const { blockfrost, close } = await serveDevnet({ blockEveryMs: 0 })
  t.teardown(close)
  t.equal((await fetch(`${blockfrost}//blocks/latest`)).status, 200)
})

test('lists in pages', async (t) => {
  const { api } = await open(t)
  const page = await api.addressesUtxos(alice.address, { count: 1, page: 2 })
  t.same(
    page.map(({ output_index }) => output_index),
    [1],
  )
  t.same(await api.addressesUtxos(alice.address, { page: 3 }), [])
  const [newest] = await api.addressesUtxos(alice.address, { order: 'desc' })
  t.equal(newest?.output_index, 1)
  t.match(await refusal(api.addressesUtxos(alice.address, { count: 101 })), { status_code: 400 })
})

test('scripts and datums by their hashes', async (t) => {
  const { api, devnet } = await open(t)
  const output = await lock(devnet, succeedingHash)
  await devnet.submit(unlock(output, succeeding).cbor)
  await devnet.produceBlock()
  const script = toHex(succeedingHash)
  t.match(await api.scriptsByHash(script), { type: 'plutusV3', serialised_size: succeeding.length })
  t.same(await api.scriptsCbor(script), { cbor: toHex(succeeding) })
  const { outputs } = await api.txsUtxos(output.slice(0, 64))
  t.match(outputs[0], { inline_datum: toHex(unitDatum), consumed_by_tx: /^[0-9a-f]{64}$/ })
  const datum = outputs[0]?.data_hash ?? ''
  t.same(await api.scriptsDatum(datum), { json_value: { constructor: 0, fields: [] } })
  t.same(await api.scriptsDatumCbor(datum), { cbor: toHex(unitDatum) })
})

test('a registered stake key', async (t) => {
  const { api, devnet } = await open(t)
  const { cbor, hash } = draft({
    inputs: [first],
    outputs: [{ address: alice.addressBytes, lovelace: 97_800_000n }],
    fee: 200_000n,
    signers: [alice],
    certificates: [{ registers: true, keyHash: alice.hash }],
  })
  t.equal(await api.txSubmit(cbor), hash)
  await devnet.produceBlock()
  t.match(await api.txs(hash), { deposit: '2000000', stake_cert_count: 1 })
  const [{ address } = { address: '' }] = await api.txsStakes(hash)
  t.match(await api.accounts(address), { stake_address: address, withdrawable_amount: '0', pool_id: null })
  await devnet.rollBack(1)
  t.match(await refusal(api.accounts(address)), { status_code: 404 })
  t.match(await refusal(api.accounts('stake_test1')), { status_code: 400 })
})

test('a refused transaction names the rules that it breaks, as cardano-submit-api does', async (t) => {
  const { api } = await open(t)
  const error = await refusal(api.txSubmit(payment(`${'22'.repeat(32)}#0`).cbor))
  t.match(error, { status_code: 400, error: 'Bad Request' })
  const { tag, contents } = JSON.parse(error.message)
  t.equal(tag, 'TxSubmitFail')
  t.match(contents.contents.contents.error, [/^ConwayUtxowFailure \(UtxoFailure \(BadInputsUTxO/])
})

test('bytes that are no transaction', async (t) => {
  const { api } = await open(t)
  const error = await refusal(api.txSubmit(Uint8Array.of(0x80)))
  t.match(error, { status_code: 400, message: /DecoderErrorDeserialiseFailure.*TxReadError/ })
})

test('a transaction whose script fails', async (t) => {
  const { api, devnet } = await open(t)
  const { cbor } = unlock(await lock(devnet, failingHash), failing)
  t.match(await refusal(api.txSubmit(cbor)), { status_code: 400, message: /ValidationTagMismatch/ })
  t.match(await api.utilsTxsEvaluate(toHex(cbor)), {
    type: 'jsonwsp/response',
    result: { EvaluationFailure: { ScriptFailures: { 'spend:0': [{ validatorFailed: { traces: [] } }] } } },
  })
})

test('what a script uses', async (t) => {
  const { api, devnet } = await open(t)
  const { cbor } = unlock(await lock(devnet, succeedingHash), succeeding)
  const used = { result: { EvaluationResult: { 'spend:0': { memory: 500, steps: 64_100 } } } }
  t.match(await api.utilsTxsEvaluate(toHex(cbor)), used)
  t.match(await api.utilsTxsEvaluate(cbor), used)
  t.match(await api.utilsTxsEvaluateUtxos(toHex(cbor), []), used)
})
