import { BytesMap, CborWriter, toHex } from '@ratatosk/cbor'
import { decodeTransaction, encodeBech32Address, keyAddress } from '@ratatosk/ledger'
import { encodeBody, encodeTransaction, encodeWitnesses, toOutput } from '@ratatosk/ledger/builder'
import type { WithdrawalsPart } from '@ratatosk/state-queue/bridge'
import type { AcceptedPlace, Block } from '@ratatosk/store'
import { beforeAll, expect, test } from 'vitest'
import { loadContext } from '../context.js'
import { contractsOf } from '../layer1/settlement.js'
import { readSettings } from '../settings/read.js'
import { type BridgeContracts, type BridgeMoment, withBridge } from './moment.js'
import { openOverview, openWithdrawals, type WithdrawalSource } from './withdrawals.js'

let contracts: BridgeContracts
beforeAll(async () => {
  const opened = withBridge(contractsOf(await loadContext(readSettings({ LOG_LEVEL: 'silent' }), {})))
  if (opened === undefined) throw new Error('The devnet has no bridge')
  contracts = opened
})

const hash = (byte: number) => new Uint8Array(28).fill(byte)
const receiver = (byte: number) => keyAddress(hash(byte), 0)
const textOf = (byte: number) => encodeBech32Address(receiver(byte))

/** A transaction that pays 5 ada each to the bridge for these receivers; undefined: malformed. */
function withdrawing(number: number, receivers: readonly (number | undefined)[]): Uint8Array {
  const outputs = receivers.map((byte) => {
    const data = new CborWriter()
      .bytes(byte === undefined ? Uint8Array.of(1) : receiver(byte).bytes)
      .toBytes()
    const value = { lovelace: 5_000_000n, assets: new Map() }
    return toOutput({ address: contracts.bridge.place.address, value, datum: { kind: 'inline', data } }).bytes
  })
  const body = encodeBody({
    inputs: [{ transactionId: new Uint8Array(32), index: number }],
    outputs,
    fee: 1n,
    collateral: [],
    requiredSigners: [],
    referenceInputs: [],
  })
  const witnesses = encodeWitnesses({ keyWitnesses: [], scripts: [], datums: [], redeemers: [] })
  return encodeTransaction(body, witnesses)
}

const idOf = (cbor: Uint8Array) => toHex(decodeTransaction(cbor).id)

interface Scene {
  readonly transactions: readonly Uint8Array[]
  /** Of the transaction at the same place. */
  readonly places?: readonly Partial<AcceptedPlace>[]
  readonly moment?: Partial<BridgeMoment>
  readonly left?: readonly string[]
}

function sourceOf({ transactions, places = [], moment, left }: Scene): WithdrawalSource {
  const placeOf = (id: string): AcceptedPlace => ({
    acceptedAt: new Date(0),
    sequence: 1n,
    ...places[transactions.findIndex((cbor) => idOf(cbor) === id)],
  })
  return {
    contracts,
    store: {
      transaction: async (id) => transactions.find((cbor) => idOf(cbor) === toHex(id)),
      async *historyPages() {
        for (const cbor of transactions) yield [cbor]
      },
      placesOf: async (ids) => ids.map((id) => placeOf(toHex(id))),
      blocks: {
        byHashes: async (hashes) =>
          hashes.map((headerHash) => ({ headerHash, mergedAt: new Date(1000) }) as Block),
        transactionsOf: async (_hash, { offset = 0, limit = 0 } = {}) =>
          transactions
            .slice(offset, offset + limit)
            .map((cbor) => ({ sequence: 1n, id: decodeTransaction(cbor).id, cbor })),
      },
    },
    moment: async () => ({
      deposits: [],
      reserves: [],
      settlements: [],
      strays: [],
      readUntil: 2000n,
      unmerged: [],
      confirmed: undefined,
      ...moment,
    }),
    owed: { remaining: async () => left && new Set(left), payouts: async () => new BytesMap() },
  }
}

const all = { limit: 100, offset: 0 }

async function list(source: WithdrawalSource, part: Partial<WithdrawalsPart> = {}) {
  const page = await openWithdrawals(source).list({ ...all, ...part })
  if (typeof page === 'string') return page
  return { outrefs: page.withdrawals.map(({ outref }) => outref), hasMore: page.hasMore }
}

async function states(scene: Scene) {
  const page = await openWithdrawals(sourceOf(scene)).list(all)
  return typeof page === 'string' ? page : page.withdrawals.map(({ state }) => state)
}

const inBlock = (state: Block['state'], headerHash = hash(9)): Partial<AcceptedPlace> => ({
  block: { height: 1n, state: state as 'built', headerHash, endTime: 0n },
})

test('withdrawals are listed in order, page by page, and filtered', async () => {
  const transactions = [withdrawing(1, [1, 2]), withdrawing(2, [undefined]), withdrawing(3, [1])]
  const places = [inBlock('committed'), inBlock('built', hash(8))]
  const source = sourceOf({ transactions, places })
  const [one = '', two = '', three = ''] = transactions.map(idOf)
  const refs = [`${one}#0`, `${one}#1`, `${two}#0`, `${three}#0`]
  expect(await list(source)).toEqual({ outrefs: refs, hasMore: false })
  expect(await list(source, { limit: 1, offset: 1 })).toEqual({ outrefs: [refs[1]], hasMore: true })
  expect(await list(source, { limit: 2, offset: 2 })).toEqual({ outrefs: refs.slice(2), hasMore: false })
  expect(await list(source, { offset: 4 })).toEqual({ outrefs: [], hasMore: false })
  expect(await list(source, { address: textOf(1) })).toEqual({ outrefs: [refs[0], refs[3]], hasMore: false })
  expect(await list(source, { address: textOf(1), limit: 1 })).toEqual({ outrefs: [refs[0]], hasMore: true })
  expect(await list(source, { address: textOf(7) })).toEqual({ outrefs: [], hasMore: false })
  expect(await list(source, { address: 'addr1' })).toBe('not an address')
  expect(await list(source, { outref: `${one}#1` })).toEqual({ outrefs: [refs[1]], hasMore: false })
  expect(await list(source, { outref: `${one}#2` })).toEqual({ outrefs: [], hasMore: false })
  expect(await list(source, { outref: `${'00'.repeat(32)}#0` })).toEqual({ outrefs: [], hasMore: false })
  expect(await list(source, { headerHash: hash(8) })).toEqual({ outrefs: [refs[2]], hasMore: false })
  expect(await list(source, { state: 'committed', limit: 1 })).toEqual({ outrefs: [refs[0]], hasMore: true })
  expect(await list(source, { state: 'accepted', offset: 1 })).toEqual({ outrefs: [refs[3]], hasMore: false })
  const page = await openWithdrawals(source).list(all)
  expect(page).toMatchObject({
    withdrawals: [
      { payTo: textOf(1), headerHash: hash(9) },
      { payTo: textOf(2) },
      { headerHash: hash(8) },
      {},
    ],
  })
  expect(typeof page === 'object' && 'payTo' in (page.withdrawals[2] ?? {})).toBe(false)
})

test('a withdrawal is owed while a settlement holds it, or may hold it', async () => {
  const cbor = withdrawing(1, [1, 2])
  const transactions = [cbor]
  const id = idOf(cbor)
  expect(await states({ transactions })).toEqual(['accepted', 'accepted'])
  for (const [state, shown] of [
    ['submitted', 'accepted'],
    ['committed', 'committed'],
    ['mature', 'mature'],
    ['merged', 'paid'],
  ] as const)
    expect(await states({ transactions, places: [inBlock(state)] }), state).toEqual([shown, shown])
  const places = [inBlock('merged')]
  // Layer 1 was read before the merge.
  expect(await states({ transactions, places, moment: { readUntil: 999n } })).toEqual(['owed', 'owed'])
  const settlement = { headerHash: hash(9), root: new Uint8Array(32), time: 1n, utxo: undefined as never }
  const moment = { settlements: [settlement] }
  expect(await states({ transactions, places, moment })).toEqual(['owed', 'owed'])
  expect(await states({ transactions, places, moment, left: [`${id}#1`] })).toEqual(['paid', 'owed'])
  const other = { settlements: [{ ...settlement, headerHash: hash(7) }] }
  expect(await states({ transactions, places, moment: other })).toEqual(['paid', 'paid'])
})

test('lists wait for each other, and too many are refused', async () => {
  const source = sourceOf({ transactions: [withdrawing(1, [1])] })
  const withdrawals = openWithdrawals(source)
  const pages = await Promise.all(Array.from({ length: 30 }, () => withdrawals.list(all)))
  expect(pages.filter((page) => page === 'busy')).toHaveLength(10)
  expect(await withdrawals.list(all)).toMatchObject({ hasMore: false })
  const aborted = AbortSignal.abort(new Error('gone'))
  await expect(withdrawals.list(all, aborted)).rejects.toThrow('gone')
  expect(await withdrawals.list(all)).toMatchObject({ hasMore: false })
})

test('the overview says what is owed, and whether the treasury has it', async () => {
  const cbor = withdrawing(1, [1, 2])
  const utxo = (index: number, lovelace: bigint) => ({
    reference: { transactionId: new Uint8Array(32), index },
    output: toOutput({
      address: contracts.bridge.place.address,
      value: { lovelace, assets: new Map() },
      datum: { kind: 'none' },
    }),
  })
  const settlements = [{ headerHash: hash(9), root: new Uint8Array(32), time: 1n, utxo: utxo(3, 1_500_000n) }]
  const scene = { transactions: [cbor], moment: { settlements, reserves: [utxo(1, 6_000_000n)] } }
  const left = [`${idOf(cbor)}#1`]
  const outref = `${'00'.repeat(32)}#3`
  // 5 ada each.
  const counting = (keys: readonly string[] | undefined) => ({
    count: async () => keys && { outref, remaining: keys.length, lovelace: 5_000_000n * BigInt(keys.length) },
  })
  const viewOf = (keys?: readonly string[]) => openOverview(sourceOf(scene), counting(keys)).read()
  const view = await viewOf(left)
  expect(view).toMatchObject({
    address: contracts.bridge.place.addressText,
    treasury: { lovelace: 6_000_000n, outputs: 1, owed: 5_000_000n, backed: true },
    settlements: [{ headerHash: hash(9), outref, remaining: 1, lovelace: 5_000_000n }],
  })
  expect(view.treasury.assets).toEqual([])
  const both = [`${idOf(cbor)}#0`, `${idOf(cbor)}#1`]
  expect((await viewOf(both)).treasury).toMatchObject({
    owed: 10_000_000n,
    backed: false,
  })
  const unknown = await viewOf()
  expect(unknown.settlements).toEqual([{ headerHash: hash(9), outref }])
  expect('owed' in unknown.treasury).toBe(false)
})
