import { BlockFrostAPI, BlockfrostServerError } from '@blockfrost/blockfrost-js'
import { CborWriter, toHex } from '@ratatosk/cbor'
import { decodeAddress, encodeBech32Address } from '@ratatosk/ledger'
import type { Test } from 'tap'
import {
  alice,
  bob,
  draft,
  failing,
  failingHash,
  first,
  lock,
  type OpenLedger,
  payment,
  type RunTest,
  type ServedLedger,
  second,
  succeeding,
  succeedingHash,
  unitDatum,
  unlock,
} from './scenes.js'

interface Scene {
  readonly t: Test
  readonly api: BlockFrostAPI
  readonly ledger: ServedLedger
}

type Scenes = Readonly<Record<string, (scene: Scene) => Promise<void>>>

/**
 * The view of a ledger by the client `@blockfrost/blockfrost-js`.
 *
 * @param served opens the ledger
 */
export function blockfrostSuite(test: RunTest, served: OpenLedger): void {
  for (const [name, run] of Object.entries({ ...scenes, ...supplyScenes }))
    test(name, async (t) => {
      const ledger = await served(t)
      await run({
        t,
        ledger,
        api: new BlockFrostAPI({ customBackend: ledger.blockfrost, rateLimiter: false }),
      })
    })
}

const scenes: Scenes = {
  async 'genesis and blocks'({ t, api, ledger }) {
    t.match(await api.genesis(), { network_magic: 42, slot_length: 1, epoch_length: 432_000 })
    // The newest block of layer 2 is open, so there is always one more.
    const [ahead, count] = ledger.layer === 1 ? [0, 0] : [1, 1]
    t.match(
      await api.blocksLatest(),
      ledger.layer === 1 ? { height: 0, hash: ledger.genesisHash } : { height: 1, tx_count: 0 },
    )
    const block = await ledger.produceBlock()
    t.match(
      await api.blocksLatest(),
      ledger.layer === 1
        ? { height: 1, hash: block.hash, previous_block: ledger.genesisHash }
        : { height: 2, previous_block: block.hash },
    )
    t.match(await api.blocks(1), {
      hash: block.hash,
      slot: Number(block.slot),
      previous_block: ledger.genesisHash,
      confirmations: ahead,
      tx_count: count,
    })
    t.match(await api.blocks(ledger.genesisHash), { height: 0, next_block: block.hash })
    t.match(block.hash, /^[0-9a-f]{64}$/)
    if (ledger.layer === 2) {
      // Also by header hash.
      t.match(await api.blocks(block.hash.slice(0, 56)), { height: 1, hash: block.hash })
      t.match(await api.blocks(ledger.genesisHash.slice(0, 56)), { height: 0 })
    }
    t.match(await errorOf(api.blocks(7)), {
      status_code: 404,
      error: 'Not Found',
      message: 'The requested component has not been found.',
    })
  },

  async 'protocol parameters'({ t, api, ledger }) {
    const parameters = await api.epochsLatestParameters()
    t.match(parameters, {
      min_fee_a: 44,
      min_fee_b: 155_381,
      max_tx_size: 16_384,
      coins_per_utxo_size: '4310',
      price_mem: 0.0577,
      price_step: 0.0000721,
      protocol_major_ver: 11,
    })
    t.same(parameters.cost_models_raw?.PlutusV3, ledger.parameters.costModels.PlutusV3?.map(Number))
  },

  async 'a payment from its inputs to its confirmation'({ t, api, ledger }) {
    const [funds] = await api.addressesUtxos(alice.address)
    t.match(funds, {
      tx_hash: '11'.repeat(32),
      output_index: 0,
      amount: [{ unit: 'lovelace', quantity: '100000000' }],
      block: ledger.genesisHash,
      inline_datum: null,
    })
    t.match(await errorOf(api.addressesUtxos(bob.address)), { status_code: 404 })

    const { cbor, hash } = payment()
    t.equal(await api.txSubmit(cbor), hash)
    t.same(await api.mempool(), [{ tx_hash: hash }])
    for (const { address } of [alice, bob])
      t.same(await api.mempoolByAddress(address), [{ tx_hash: hash }], 'pays or is paid')
    t.match(await errorOf(api.txs(hash)), { status_code: 404 })
    const block = await ledger.produceBlock()

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
    t.match(inputs, [
      { tx_hash: '11'.repeat(32), output_index: 0, address: alice.address, collateral: false },
    ])
    t.match(outputs, [{ address: bob.address, output_index: 0 }, { address: alice.address }])
    t.equal((await api.addressesUtxos(bob.address)).length, 1)
    t.same(
      (await api.addressesTransactions(alice.address)).map(({ tx_hash }) => tx_hash),
      // Layer 2 does not list its genesis as a transaction.
      ledger.layer === 1 ? ['11'.repeat(32), hash] : [hash],
    )
    t.match(await api.addresses(alice.address), { amount: [{ unit: 'lovelace', quantity: '189800000' }] })
    t.same(await api.blocksTxs(block.hash), [hash])
    t.same(await api.mempoolByAddress(bob.address), [])
    t.same(
      await api.blocksAddresses(block.hash),
      [alice.address, bob.address].sort().map((address) => ({ address, transactions: [{ tx_hash: hash }] })),
    )
    const { epoch } = await api.epochsLatest()
    t.match(await api.epochsPrevious(epoch, { count: 1 }), [{ epoch: epoch - 1, tx_count: 0 }])
    t.same(await api.epochsNext(epoch), [])
  },

  async 'transactions within blocks, and sums over blocks and an epoch'({ t, api, ledger }) {
    const { cbor, hash } = payment()
    await api.txSubmit(cbor)
    await ledger.produceBlock()
    const next = payment(`${hash}#1`, 79_600_000n)
    await api.txSubmit(next.cbor)
    const newest = await ledger.produceBlock()
    const within = async (from?: string, to?: string) =>
      (await api.addressesTransactions(alice.address, {}, { from, to })).map(({ tx_hash }) => tx_hash)
    t.same(await within('1', '1'), [hash])
    t.same(await within('2'), [next.hash])
    t.same(await within('1:1'), [next.hash])
    t.same(await within('1:0', '2:0'), [hash, next.hash])
    t.same(await within('3'), [])
    t.same(await within(undefined, '9'), await within())
    t.match(await api.addressesTransactions(alice.address, {}, { from: '2' }), [
      { block_height: 2, tx_index: 0 },
    ])
    t.match(await errorOf(within('9', '3')), {
      status_code: 400,
      message: 'Invalid (malformed or out of range) from/to parameter(s).',
    })
    t.match(await api.blocks(1), { output: '99800000', fees: '200000', tx_count: 1 })
    const sums = { tx_count: 2, output: '189400000', fees: '400000', active_stake: null }
    const epoch = await api.epochsLatest()
    // With the open block of layer 2.
    t.match(epoch, { ...sums, block_count: ledger.layer === 1 ? 2 : 3 })
    t.match(await api.epochs(epoch.epoch), sums)
    t.match(await errorOf(api.epochs(epoch.epoch + 1)), { status_code: 404 })
    t.match(await api.blocksBySlot(Number(newest.slot)), { slot: Number(newest.slot) })
    t.match(await api.blocksNext(1), [{ height: 2 }])
    t.match(await api.blocksPrevious(2), [{ height: 1 }])
  },

  async 'genesis outputs are shown as the outputs of a transaction'({ t, api, ledger }) {
    t.match(await api.txs('11'.repeat(32)), {
      block: ledger.genesisHash,
      output_amount: [{ unit: 'lovelace', quantity: '200000000' }],
    })
    const { inputs, outputs } = await api.txsUtxos('11'.repeat(32))
    t.same(inputs, [])
    t.equal(outputs.length, 2)
  },

  async 'duplicate slashes in a path'({ t, ledger }) {
    t.equal((await fetch(`${ledger.blockfrost}//blocks/latest`)).status, 200)
  },

  async paging({ t, api }) {
    const page = await api.addressesUtxos(alice.address, { count: 1, page: 2 })
    t.same(
      page.map(({ output_index }) => output_index),
      [1],
    )
    t.same(await api.addressesUtxos(alice.address, { page: 3 }), [])
    const [newest] = await api.addressesUtxos(alice.address, { order: 'desc' })
    t.equal(newest?.output_index, 1)
    t.match(await errorOf(api.addressesUtxos(alice.address, { count: 101 })), { status_code: 400 })
  },

  async 'scripts and datums by hash'({ t, api, ledger }) {
    const output = await lock(ledger, succeedingHash)
    const { cbor, hash } = unlock(output, succeeding)
    await ledger.submit(cbor)
    await ledger.produceBlock()
    const script = toHex(succeedingHash)
    t.same(await api.scripts(), [{ script_hash: script }])
    t.match(await api.scriptsRedeemers(script), [
      { tx_hash: hash, tx_index: 0, purpose: 'spend', fee: '1298' },
    ])
    t.same(await api.scriptsRedeemers(script, { page: 2 }), [])
    t.match(await api.scriptsByHash(script), { type: 'plutusV3', serialised_size: succeeding.length })
    t.same(await api.scriptsCbor(script), { cbor: toHex(succeeding) })
    const { outputs } = await api.txsUtxos(output.slice(0, 64))
    t.match(outputs[0], { inline_datum: toHex(unitDatum), consumed_by_tx: /^[0-9a-f]{64}$/ })
    const datum = outputs[0]?.data_hash ?? ''
    t.same(await api.scriptsDatum(datum), { json_value: { constructor: 0, fields: [] } })
    t.same(await api.scriptsDatumCbor(datum), { cbor: toHex(unitDatum) })
  },

  async 'a registered stake key'({ t, api, ledger }) {
    const { cbor, hash } = draft({
      inputs: [first],
      outputs: [{ address: alice.addressBytes, lovelace: 97_800_000n }],
      fee: 200_000n,
      signers: [alice],
      certificates: [{ registers: true, keyHash: alice.hash }],
    })
    if (ledger.layer === 2) {
      t.match(await errorOf(api.txSubmit(cbor)), { status_code: 400, message: /CertificatesNotSupported/ })
      return
    }
    t.equal(await api.txSubmit(cbor), hash)
    await ledger.produceBlock()
    t.match(await api.txs(hash), { deposit: '2000000', stake_cert_count: 1 })
    const [{ address } = { address: '' }] = await api.txsStakes(hash)
    t.match(await api.accounts(address), { stake_address: address, withdrawable_amount: '0', pool_id: null })
    const registered = { tx_hash: hash, action: 'registered', deposit: '2000000', block_height: 1 }
    t.match(await api.accountsRegistrations(address), [registered])
    const end = draft({
      inputs: [`${hash}#0`],
      outputs: [{ address: alice.addressBytes, lovelace: 99_600_000n }],
      fee: 200_000n,
      signers: [alice],
      certificates: [{ registers: false, keyHash: alice.hash }],
    })
    t.equal(await api.txSubmit(end.cbor), end.hash)
    const { slot } = await ledger.produceBlock()
    const ended = { tx_hash: end.hash, action: 'deregistered', deposit: null, tx_slot: Number(slot) }
    t.match(await api.accountsRegistrations(address), [registered, ended])
    t.match(await api.accountsRegistrations(address, { order: 'desc', count: 1 }), [ended])
    t.match(await api.accounts(address), { stake_address: address, registered: false })
    await ledger.rollBack(2)
    t.match(await errorOf(api.accounts(address)), { status_code: 404 })
    t.match(await errorOf(api.accounts('stake_test1')), { status_code: 400 })
  },

  async 'a script that withdraws zero lovelace'({ t, api, ledger }) {
    const account = Uint8Array.from([0xf0, ...succeedingHash])
    const stake = bech32Of(account)
    t.match(await errorOf(api.accountsWithdrawals(stake)), { status_code: 404 })
    let funds = { input: first, lovelace: 100_000_000n }
    if (ledger.layer === 1) {
      const lovelace = 97_800_000n
      const registration = draft({
        inputs: [first],
        outputs: [{ address: alice.addressBytes, lovelace }],
        fee: 200_000n,
        signers: [alice],
        certificates: [{ registers: true, keyHash: succeedingHash, isScript: true }],
      })
      t.equal(await api.txSubmit(registration.cbor), registration.hash)
      await ledger.produceBlock()
      funds = { input: `${registration.hash}#0`, lovelace }
    }
    const { cbor, hash } = draft({
      inputs: [funds.input],
      outputs: [{ address: alice.addressBytes, lovelace: funds.lovelace - 300_000n }],
      fee: 300_000n,
      signers: [alice],
      withdrawals: [[account, 0n]],
      collateral: [second],
      scripts: [succeeding],
      redeemers: [{ tag: 3, index: 0, memory: 10_000n, steps: 10_000_000n }],
    })
    t.equal(await api.txSubmit(cbor), hash)
    const { slot } = await ledger.produceBlock()
    const height = ledger.layer === 1 ? 2 : 1
    const withdrawal = { tx_hash: hash, amount: '0', tx_slot: Number(slot), block_height: height }
    t.match(await api.accountsWithdrawals(stake), [withdrawal])
    t.same(await api.accountsWithdrawals(stake, { page: 2 }), [])
    t.match(await api.accounts(stake), { stake_address: stake, withdrawals_sum: '0' })
    t.equal((await api.accountsRegistrations(stake)).length, ledger.layer === 1 ? 1 : 0)
    t.match(await api.scriptsRedeemers(toHex(succeedingHash)), [{ tx_hash: hash, purpose: 'reward' }])
    t.match(await api.txsRedeemers(hash), [{ script_hash: toHex(succeedingHash), purpose: 'reward' }])
  },

  async 'an account that holds outputs, registered or not'({ t, api, ledger }) {
    const base = Uint8Array.from([0x00, ...alice.hash, ...bob.hash])
    const stake = bech32Of(Uint8Array.from([0xe0, ...bob.hash]))
    t.match(await errorOf(api.accountsAddresses(stake)), { status_code: 404 })
    const { cbor, hash } = draft({
      inputs: [first],
      outputs: [
        { address: base, lovelace: 60_000_000n },
        { address: base, lovelace: 39_800_000n },
      ],
      fee: 200_000n,
      signers: [alice],
    })
    t.equal(await api.txSubmit(cbor), hash)
    await ledger.produceBlock()
    const address = bech32Of(base)
    t.match(await api.accounts(stake), { stake_address: stake, controlled_amount: '99800000' })
    t.same(await api.accountsAddresses(stake), [{ address }])
    t.same(await api.accountsAddresses(stake, { page: 2 }), [])
    t.same(await api.accountsAddressesAssets(stake), [])
    const read = async (path: string) => (await fetch(`${ledger.blockfrost}${path}`)).json()
    t.match(await read(`/accounts/${stake}/utxos?count=1&order=desc`), [
      { address, tx_hash: hash, output_index: 1, amount: [{ unit: 'lovelace', quantity: '39800000' }] },
    ])
    t.same(await api.addressesTotal(alice.address), {
      address: alice.address,
      received_sum: [{ unit: 'lovelace', quantity: '200000000' }],
      sent_sum: [{ unit: 'lovelace', quantity: '100000000' }],
      tx_count: 2,
    })
    t.match(await errorOf(api.addressesTotal(bob.address)), { status_code: 404 })
  },

  async 'submission and evaluation as clients of Yaci expect them: hex, answered with 202'({
    t,
    api,
    ledger,
  }) {
    const { cbor, hash } = unlock(await lock(ledger, succeedingHash), succeeding)
    const yaci = ledger.blockfrost.replace('/blockfrost/api/v0', '/yaci/api/v1')
    const post = async (path: string, type: string) => {
      const headers = { 'content-type': type }
      const answer = await fetch(yaci + path, { method: 'POST', headers, body: toHex(cbor) })
      return { status: answer.status, body: await answer.json() }
    }
    t.match(await post('/utils/txs/evaluate', 'application/cbor'), {
      status: 202,
      body: { result: { EvaluationResult: { 'spend:0': { memory: 500, steps: 64_100 } } } },
    })
    t.same(await post('/tx/submit', 'text/plain'), { status: 202, body: hash })
    await ledger.produceBlock()
    t.match(await api.txsRedeemers(hash), [
      { tx_index: 0, purpose: 'spend', script_hash: toHex(succeedingHash), unit_mem: '10000', fee: '1298' },
    ])
  },

  async 'a rejection names the violated predicates in the format of cardano-submit-api'({ t, api }) {
    const error = await errorOf(api.txSubmit(payment(`${'22'.repeat(32)}#0`).cbor))
    t.match(error, { status_code: 400, error: 'Bad Request' })
    const { tag, contents } = JSON.parse(error.message)
    t.equal(tag, 'TxSubmitFail')
    t.match(contents.contents.contents.error, [/^ConwayUtxowFailure \(UtxoFailure \(BadInputsUTxO/])
  },

  async 'a double spend is refused; layer 2 names the spender'({ t, api, ledger }) {
    const { cbor, hash } = payment()
    t.equal(await api.txSubmit(cbor), hash)
    await ledger.produceBlock()
    const begun = performance.now()
    const { message } = await errorOf(api.txSubmit(payment(first, 89_700_000n).cbor))
    t.comment(`refused after ${Math.round(performance.now() - begun)} ms`)
    t.match(message, /BadInputsUTxO/)
    if (ledger.layer === 2) t.match(message, new RegExp(`was spent by transaction ${hash}`))
  },

  async 'malformed bytes are rejected'({ t, api }) {
    const error = await errorOf(api.txSubmit(Uint8Array.of(0x80)))
    t.match(error, { status_code: 400, message: /DecoderErrorDeserialiseFailure.*TxReadError/ })
  },

  async 'a failing script is reported by submission and evaluation'({ t, api, ledger }) {
    const { cbor } = unlock(await lock(ledger, failingHash), failing)
    t.match(await errorOf(api.txSubmit(cbor)), { status_code: 400, message: /ValidationTagMismatch/ })
    t.match(await api.utilsTxsEvaluate(toHex(cbor)), {
      type: 'jsonwsp/response',
      result: { EvaluationFailure: { ScriptFailures: { 'spend:0': [{ validatorFailed: { traces: [] } }] } } },
    })
  },

  async 'evaluation reports execution units'({ t, api, ledger }) {
    const { cbor } = unlock(await lock(ledger, succeedingHash), succeeding)
    const used = { result: { EvaluationResult: { 'spend:0': { memory: 500, steps: 64_100 } } } }
    t.match(await api.utilsTxsEvaluate(toHex(cbor)), used)
    t.match(await api.utilsTxsEvaluate(cbor), used)
    t.match(await api.utilsTxsEvaluateUtxos(toHex(cbor), []), used)
  },
}

export async function errorOf(work: Promise<unknown>): Promise<BlockfrostServerError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof BlockfrostServerError) return error
  throw error ?? new Error('expected an error')
}

function bech32Of(bytes: Uint8Array): string {
  const address = decodeAddress(bytes)
  if (address.kind === 'byron') throw new Error('Byron addresses are in base58')
  return encodeBech32Address(address)
}

/** Assets, metadata and supply. */
const supplyScenes: Scenes = {
  async 'minted assets and their metadata'({ t, api, ledger }) {
    const policy = toHex(succeedingHash)
    const [named, plain] = [`${policy}6161`, `${policy}6262`]
    const base = Uint8Array.from([0x00, ...bob.hash, ...alice.hash])
    const held = { [named]: 1n, [plain]: 7n }
    const tokens = new CborWriter().map(1).text('aa').map(1).text('name').text('first')
    const metadata = new CborWriter().map(2).uint(1990).array(0)
    const { cbor, hash } = draft({
      inputs: [first],
      outputs: [{ address: base, lovelace: 99_500_000n, assets: held }],
      fee: 500_000n,
      signers: [alice],
      mint: held,
      collateral: [second],
      scripts: [succeeding],
      redeemers: [{ tag: 1, index: 0, memory: 10_000n, steps: 10_000_000n }],
      auxiliaryData: metadata.uint(721).map(1).text(policy).raw(tokens.toBytes()).toBytes(),
    })
    t.equal(await api.txSubmit(cbor), hash)
    await ledger.produceBlock()
    const address = bech32Of(base)
    const json = { [policy]: { aa: { name: 'first' } } }
    t.same(await api.metadataTxsLabel('721'), [{ tx_hash: hash, json_metadata: json }])
    t.same(await api.metadataTxsLabelCbor('1990'), [
      { tx_hash: hash, cbor_metadata: '\\x80', metadata: '80' },
    ])
    t.match(await api.metadataTxsLabels(), [
      { label: '721', count: '1' },
      { label: '1990', cip10: null, count: '1' },
    ])
    t.same(await api.metadataTxsLabel('721', { order: 'desc', count: 1 }), await api.metadataTxsLabel('721'))
    t.match(await errorOf(api.metadataTxsLabel('721', { page: 2 })), { status_code: 404 })
    t.match(await errorOf(api.metadataTxsLabel('1x')), { status_code: 400 })
    t.same(await api.assets(), [
      { asset: named, quantity: '1' },
      { asset: plain, quantity: '7' },
    ])
    t.same(await api.assets({ count: 1, order: 'desc' }), [{ asset: plain, quantity: '7' }])
    t.same(await api.assetsPolicyById(policy), await api.assets())
    const extended = { decimals: null, has_nft_onchain_metadata: false }
    t.same(await api.addressesExtended(address), {
      address,
      amount: [
        { unit: 'lovelace', quantity: '99500000', decimals: 6, has_nft_onchain_metadata: false },
        { unit: named, quantity: '1', ...extended, has_nft_onchain_metadata: true },
        { unit: plain, quantity: '7', ...extended },
      ],
      stake_address: bech32Of(Uint8Array.from([0xe0, ...alice.hash])),
      type: 'shelley',
      script: false,
    })
    t.match(await errorOf(api.addressesExtended(bob.address)), { status_code: 404 })
  },

  async 'the supply is what unspent outputs hold'({ t, api, ledger }) {
    const before = BigInt((await api.network()).supply.circulating)
    await lock(ledger, succeedingHash)
    const { supply, stake } = await api.network()
    const left = before - 200_000n
    t.same(supply, {
      max: '45000000000000000',
      total: String(left),
      circulating: String(left),
      locked: '20000000',
      treasury: '0',
      reserves: String(45_000_000_000_000_000n - left),
    })
    t.same(stake, { live: '0', active: '0' })
  },
}
