import { blockVersion } from '@ratatosk/block'
import { concatBytes, equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { createDevnet, type Devnet, testWallets } from '@ratatosk/devnet'
import { createDevnetLayer1, type Layer1, type SharedReads, shareReads } from '@ratatosk/layer1'
import {
  blake2b256,
  decodeTransaction,
  decodeTransactionOutput,
  encodeBech32Address,
  encodeUtxo,
  scriptAddress,
} from '@ratatosk/ledger'
import { keysFromSeedPhrase, keysFromSigningKey, signed, toOutput } from '@ratatosk/ledger/builder'
import { createEvaluator, type Evaluator } from '@ratatosk/ledger/plutus'
import type { DepositList, DepositRequest, Draft, Drafter } from '@ratatosk/state-queue/bridge'
import type { Block } from '@ratatosk/store'
import { openTurns } from '@ratatosk/workers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { loadContext } from '../context.js'
import { contractsOf } from '../layer1/settlement.js'
import { readSettings } from '../settings/read.js'
import { openDeposits } from './deposits.js'
import { openDrafter, openSubmitter } from './drafter.js'
import { type BridgeContracts, openMoments, withBridge } from './moment.js'

const policy = 'ab'.repeat(28)
const slotMs = 100
const validityMs = 60_000

let contracts: BridgeContracts
let evaluator: Evaluator
let devnet: Devnet
let layer1: Layer1
let reads: SharedReads
let drafter: Drafter

const wallet = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 5 })
const receiver = keysFromSigningKey('07'.repeat(32), { networkId: 0 })

beforeAll(async () => {
  const settings = readSettings({ LOG_LEVEL: 'silent', BRIDGED_POLICIES: policy })
  const opened = withBridge(contractsOf(await loadContext(settings, {})))
  if (opened === undefined) throw new Error('The devnet has no bridge')
  contracts = opened
  evaluator = createEvaluator({ threads: 1 })
})
afterAll(() => evaluator.close())

beforeEach(async ({ onTestFinished }) => {
  devnet = await createDevnet({ slotLengthMs: slotMs, blockEveryMs: slotMs })
  onTestFinished(() => devnet.close())
  layer1 = createDevnetLayer1(devnet)
  reads = shareReads(layer1, { freshForMs: 0, callsPerSecond: 100 })
  const scripts = { evaluator, turns: openTurns() }
  const payouts = {
    draft: async () => ({ kind: 'not owed', reason: 'Nothing is owed' }) as const,
  }
  const block = { headerHash: new Uint8Array(28), height: 1n, state: 'merged', endTime: 0n } as const
  const store = { placeOf: async () => ({ acceptedAt: new Date(0), sequence: 1n, block }) }
  drafter = openDrafter({ settlement: { reads, layer1 }, contracts, scripts, payouts, store, validityMs })
})

const fundsOf = (address: string) =>
  devnet
    .utxos({ address })
    .map(({ transactionHash, index, output }) =>
      encodeUtxo({ reference: { transactionId: fromHex(transactionHash), index }, output }),
    )

const request = (changes: Partial<DepositRequest> = {}): DepositRequest => ({
  utxos: fundsOf(wallet.addressText),
  changeAddress: wallet.addressText,
  to: receiver.addressText,
  lovelace: 100_000_000n,
  assets: new Map(),
  ...changes,
})

async function drafted(changes: Partial<DepositRequest> = {}): Promise<Draft> {
  const outcome = await drafter.deposit(request(changes))
  if (outcome.kind !== 'drafted') throw new Error(JSON.stringify(outcome))
  return outcome
}

const momentsWith = (unmerged: readonly Block[] = [], confirmed?: Block) =>
  openMoments({
    reads,
    layer1,
    contracts,
    blocks: { unmerged: async () => [...unmerged], confirmed: async () => confirmed },
  })

const submitterOf = () => openSubmitter({ layer1 }, contracts, momentsWith())

async function deposited(): Promise<Draft> {
  const draft = await drafted()
  const transaction = signed(decodeTransaction(draft.transaction), [wallet.payment])
  expect(await submitterOf().submit(transaction)).toEqual({
    kind: 'sent',
    transactionId: draft.transactionId,
  })
  await layer1.await(draft.transactionId)
  return draft
}

test('a deposit is drafted without a signature, signed by its wallet, and taken by layer 1', async () => {
  const began = BigInt(Date.now())
  const { transaction, transactionId, fee, id, creditedFrom = 0n } = await deposited()
  const { body, witnesses } = decodeTransaction(transaction)
  expect(witnesses.keyWitnesses).toEqual([])
  expect(fee).toBeLessThan(600_000n)
  expect(creditedFrom - began).toBeGreaterThan(contracts.bridge.terms.eventWait)
  expect(creditedFrom - began).toBeLessThan(contracts.bridge.terms.eventWait + 120_000n)
  expect(encodeBech32Address(body.outputs[0]?.address as never)).toBe(contracts.bridge.place.addressText)
  const moment = await momentsWith()()
  expect(moment.deposits).toHaveLength(1)
  expect(moment.deposits[0]).toMatchObject({ id, time: creditedFrom, address: receiver.address.bytes })
  const output = decodeTransactionOutput(moment.deposits[0]?.output ?? new Uint8Array())
  expect(output.value.lovelace).toBe(100_000_000n)
  expect(moment.deposits[0]?.utxo.reference).toEqual({ transactionId, index: 0 })
})

test('the fee pays for the signatures of several keys', async () => {
  const other = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 6 })
  const utxos = [...fundsOf(wallet.addressText), ...fundsOf(other.addressText)]
  // More than the outputs of one key hold.
  const { transaction } = await drafted({ utxos, lovelace: 60_000_000_000n })
  const both = signed(decodeTransaction(transaction), [wallet.payment, other.payment])
  expect(await submitterOf().submit(both)).toMatchObject({ kind: 'sent' })
})

test('a deposit that layer 1 would refuse is not drafted', { timeout: 60_000 }, async () => {
  const token = (unit: string) => new Map([[unit, 1n]])
  const many = new Map(Array.from({ length: 100 }, (_, n) => [policy + n.toString(16).padStart(4, '0'), 1n]))
  const { place } = contracts.bridge
  const foreign = { ...wallet.address, bytes: place.address }
  const script = toOutput({
    address: place.address,
    value: { lovelace: 5n, assets: new Map() },
    datum: { kind: 'none' },
  })
  const reference = { transactionId: new Uint8Array(32), index: 0 }
  for (const [changes, reason] of [
    [{ assets: token(`${'cd'.repeat(28)}00`) }, /^A deposit holds assets that are not bridged/],
    [{ assets: many }, /^A deposit holds 101 policies and assets, over 100/],
    [{ to: place.addressText }, 'to is the address of the bridge, and not of a wallet'],
    [
      { to: encodeBech32Address(scriptAddress(place.script.hash, 0, wallet.address.stake)) },
      /address of the bridge/,
    ],
    [{ to: 'addr_test1nonsense' }, 'to is not a payment address'],
    [
      { to: 'stake_test1uqfu74w3wh4gfzu8m6e7j987h4lq9r3t7ef5gaw497uu85qsqfy27' },
      'to is not a payment address',
    ],
    [
      { to: keysFromSigningKey('07'.repeat(32), { networkId: 1 }).addressText },
      'to is an address of another network',
    ],
    [{ changeAddress: place.addressText }, 'changeAddress is the address of the bridge, and not of a wallet'],
    [{ changeAddress: '00' }, 'changeAddress is not a payment address'],
    [{ lovelace: 900_000n }, /^A deposit like this has at least [0-9]{7} lovelace/],
    [{ lovelace: 1_000_000_000_000n }, /^The wallet lacks [0-9]+ lovelace/],
    [
      { datum: { kind: 'inline', data: Uint8Array.of(0xf6) } },
      /^The inline datum is not the CBOR of Plutus data/,
    ],
    [{ utxos: [Uint8Array.of(0x80)] }, /^An entry of utxos is not the CBOR of a pair/],
    [
      { utxos: [encodeUtxo({ reference, output: script })] },
      /^None of the outputs in utxos is locked by a key/,
    ],
  ] as const) {
    const outcome = await drafter.deposit(request(changes))
    expect(outcome, String(reason)).toMatchObject({
      kind: 'refused',
      reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
    })
  }
  expect(foreign.bytes).toEqual(place.address)
  const { utxos, changeAddress } = request()
  const payout = await drafter.payout({ utxos, changeAddress, outrefs: [`${'ab'.repeat(32)}#0`] })
  expect(payout).toEqual({ kind: 'not owed', reason: 'Nothing is owed' })
})

test('only transactions of the bridge are sent, and a spent input is named', async () => {
  const submitter = submitterOf()
  expect(await submitter.submit(Uint8Array.of(0x80))).toMatchObject({ kind: 'refused' })
  const draft = await drafted()
  expect(await submitter.submit(draft.transaction)).toMatchObject({
    kind: 'refused',
    reason: expect.stringMatching(/^Layer 1 refuses the transaction: .*MissingVKeyWitnesses/),
  })
  // The same inputs, in a payment elsewhere.
  const { body } = decodeTransaction(draft.transaction)
  const elsewhere = await paymentOf(body.inputs.length)
  expect(await submitter.submit(elsewhere)).toEqual({ kind: 'foreign' })
  await layer1.submit(elsewhere)
  const { id } = decodeTransaction(elsewhere)
  await layer1.await(id)
  const late = signed(decodeTransaction(draft.transaction), [wallet.payment])
  expect(await submitter.submit(late)).toEqual({ kind: 'spent' })
})

/** Pays all that the wallet has to another one. */
async function paymentOf(atLeast: number): Promise<Uint8Array> {
  const { buildTransaction } = await import('@ratatosk/ledger/builder')
  const funds = devnet.utxos({ address: wallet.addressText }).map(({ transactionHash, index, output }) => ({
    reference: { transactionId: fromHex(transactionHash), index },
    output,
  }))
  expect(funds.length).toBeGreaterThanOrEqual(atLeast)
  const { bytes } = await buildTransaction(
    {
      inputs: funds.map((utxo) => ({ utxo })),
      outputs: [{ address: receiver.addressText, lovelace: 2_000_000n }],
    },
    {
      funds: [],
      changeAddress: receiver.address.bytes,
      signers: [wallet.payment],
      parameters: devnet.parameters,
      slots: devnet.slots,
      slot: devnet.currentSlot(),
      networkId: 0,
    },
  )
  return bytes
}

test('deposits are listed with their states, also after their output at the bridge is spent', async () => {
  const { id = new Uint8Array(), creditedFrom = 0n, transactionId } = await deposited()
  const block = (state: Block['state'], startTime: bigint, endTime: bigint): Block => ({
    headerHash: new Uint8Array(28).fill(9),
    header: new Uint8Array([blockVersion === 4n ? 4 : 0]),
    previousHeaderHash: new Uint8Array(28),
    utxosRoot: new Uint8Array(32),
    startTime,
    endTime,
    firstSequence: 1n,
    lastSequence: 1n,
    transactions: 0,
    height: 3n,
    state,
    builtAt: new Date(),
  })
  const output = Uint8Array.of(0xa2)
  const [block9, previousHeaderHash] = [9, 8].map((byte) => new Uint8Array(28).fill(byte)) as [
    Uint8Array,
    Uint8Array,
  ]
  const feeId = blake2b256(concatBytes(previousHeaderHash, output))
  const listOf = (unmerged: readonly Block[], confirmed?: Block): DepositList =>
    openDeposits(
      momentsWith(unmerged, confirmed),
      {
        deposit: async (wanted) =>
          [new Uint8Array(32), feeId].some((each) => equalBytes(each, wanted)) || confirmed
            ? { headerHash: block9, previousHeaderHash, height: 3n, state: 'merged' }
            : undefined,
        blocks: {
          depositsOf: async () =>
            [new Uint8Array(32), feeId].map((each) => ({
              ...{ id: each, output },
              address: receiver.address.bytes,
            })),
        },
      },
      0,
    )
  const all = { limit: 100, offset: 0 }
  const found = { id, time: creditedFrom, layer1Outref: `${toHex(transactionId)}#0` }
  const state = async (list: DepositList) => {
    const page = await list.list(all)
    return page === 'not an address' ? page : page.deposits[0]
  }
  expect(await state(listOf([]))).toMatchObject({ ...found, state: 'waiting' })
  const [before, after] = [creditedFrom, creditedFrom + 1n]
  expect(await state(listOf([block('committed', 0n, before)]))).toMatchObject({ state: 'waiting' })
  const credited = { ...found, height: 3n, headerHash: new Uint8Array(28).fill(9) }
  expect(await state(listOf([block('built', before, after)]))).toMatchObject({
    ...credited,
    state: 'credited',
  })
  expect(await state(listOf([block('mature', before, after)]))).toMatchObject({
    ...credited,
    state: 'committed',
  })
  const merged = listOf([], block('merged', 0n, after))
  expect(await state(merged)).toMatchObject({ ...credited, state: 'merged' })

  const list = listOf([])
  const wanted = async (part: object) => {
    const page = await list.list({ ...all, ...part })
    return page === 'not an address' ? page : page.deposits.map((each) => toHex(each.id))
  }
  const own = [toHex(id)]
  expect(await wanted({ id })).toEqual(own)
  expect(await wanted({ outref: `${toHex(id)}#0` })).toEqual(own)
  expect(await wanted({ outref: `${toHex(transactionId)}#0` })).toEqual(own)
  expect(await wanted({ outref: `${toHex(transactionId)}#1` })).toEqual([])
  expect(await wanted({ address: receiver.addressText })).toEqual(own)
  expect(await wanted({ address: wallet.addressText })).toEqual([])
  expect(await wanted({ address: 'addr1nonsense' })).toBe('not an address')
  expect(await wanted({ state: 'waiting' })).toEqual(own)
  expect(await wanted({ state: 'merged' })).toEqual([])
  expect(await wanted({ offset: 1 })).toEqual([])
  // One that layer 1 does not show any more.
  const used = ['00'.repeat(32)]
  expect(await wanted({ id: new Uint8Array(32) })).toEqual(used)
  expect(await wanted({ outref: `${'00'.repeat(32)}#0`, state: 'merged' })).toEqual(used)
  expect(await wanted({ id: new Uint8Array(32), state: 'waiting' })).toEqual([])
  expect(await wanted({ id: new Uint8Array(32), address: wallet.addressText })).toEqual([])
  expect(await wanted({ id: new Uint8Array(32).fill(1) })).toEqual([])
  // The fee output of that block is no deposit.
  expect(await wanted({ id: feeId })).toEqual([])
})
