import { equalBytes } from '@ratatosk/cbor'
import { encodeOutput, keyOf } from '@ratatosk/fixtures'
import { encodeOutputReference } from '@ratatosk/ledger'
import { rootOf } from '@ratatosk/trie'
import { expect, test } from 'vitest'
import { type AuditOptions, audit, type BridgeReading } from './index.js'
import { BridgedChain, bridge, bridgeAddress, credited, depositOf, paying } from './test/bridged-chain.js'

const value = (lovelace: bigint) => ({ lovelace, assets: new Map<string, bigint>() })
const [first, second, third] = [1, 2, 3].map(depositOf) as [Deposit, Deposit, Deposit]
type Deposit = ReturnType<typeof depositOf>
const seven = 7_000_000n

/** A deposit as it is at the bridge. */
const held = ({ id, output }: Deposit, lovelace = seven) => ({ id, output, value: value(lovelace) })

const at = (lovelace: bigint) => encodeOutput({ address: bridgeAddress, lovelace })

/**
 * Three blocks, of which two are merged: 14 ada come, 3 and 2 leave by the second block and 11 by the third.
 */
async function history() {
  const chain = new BridgedChain()
  const [one, two, three] = chain.coins as [
    BridgedChain['coins'][0],
    BridgedChain['coins'][0],
    BridgedChain['coins'][0],
  ]
  await chain.commit({ deposits: [first] })
  const [small, smaller] = [
    paying([one, credited(first)], [8_900_000n, 3_000_000n, 100_000n]),
    paying([three], [3_000_000n, 2_000_000n]),
  ]
  await chain.commit({ deposits: [second], cbors: [small.cbor, smaller.cbor] })
  await chain.commit({ cbors: [paying([two, credited(second)], [1_000_000n, 11_000_000n]).cbor] })
  chain.merge(2)
  const left = [small, smaller].map(
    ({ id }, index) =>
      [
        encodeOutputReference({ transactionId: id, index: 1 }),
        at(index === 0 ? 3_000_000n : 2_000_000n),
      ] as const,
  )
  return { chain, left }
}

type History = Awaited<ReturnType<typeof history>>

async function auditOf(
  { chain }: History,
  reading: Partial<BridgeReading>,
  options: Partial<AuditOptions> = {},
) {
  const settled = chain.blocks.filter(({ state }) => state === 'merged')
  const merged = settled.at(-1)!
  return audit({
    layer1: {
      read: async () => ({
        confirmed: { ...merged, utxosRoot: merged.fields.utxosRoot, endTime: merged.fields.endTime },
        blocks: chain.blocks.slice(settled.length),
        bridge: { slot: 1n, bridged: [], reserves: value(0n), deposits: [], settlements: [], ...reading },
      }),
    },
    archivist: {
      header: async (id) => (typeof id === 'number' ? chain.blocks[id - 1] : chain.byHash(id)),
      body: async (hash) => chain.blocks.find(({ headerHash }) => equalBytes(headerHash, hash))?.bytes,
    },
    genesis: chain.genesis,
    bridge,
    readings: 1,
    settleMs: 1,
    ...options,
  })
}

/** The settlement of the second block. */
const owing = async ({ chain, left }: History, entries = left) => ({
  headerHash: chain.blocks[1]!.headerHash,
  root: await rootOf(entries),
})

test('right sums pass: before, between and after payouts', async () => {
  const all = await history()
  const [, two] = all.left
  const waiting = held(third, 7_000_000n)
  const before = await auditOf(all, {
    deposits: [held(first), held(second), waiting],
    settlements: [await owing(all)],
  })
  expect(before).toMatchObject({
    verdict: 'clean',
    treasury: {
      held: 14_000_000n,
      claims: 14_000_000n,
      owed: 16_000_000n,
      waiting: seven,
      waitingDeposits: 1,
    },
  })
  const between = await auditOf(all, {
    deposits: [held(second)],
    reserves: value(seven - 3_000_000n),
    settlements: [await owing(all, [two!])],
  })
  expect(between).toMatchObject({ verdict: 'clean', treasury: { owed: 13_000_000n } })
  const after = await auditOf(all, { reserves: value(9_000_000n) })
  expect(after).toMatchObject({ verdict: 'clean', treasury: { held: 9_000_000n, owed: 11_000_000n } })
})

test('a gift is no defect, and a genesis that is backed has a claim', async () => {
  const all = await history()
  const gift = { reserves: value(9_000_001n) }
  expect((await auditOf(all, gift)).verdict).toBe('clean')
  const backed = { reserves: value(34_000_000n) }
  expect((await auditOf(all, backed, { backed: 25_000_000n })).verdict).toBe('clean')
  const { findings } = await auditOf(all, { reserves: value(33_999_999n) }, { backed: 25_000_000n })
  expect(findings).toHaveLength(2)
})

test('a treasury short by a lovelace is found, with both sums', async () => {
  const all = await history()
  const settlements = [await owing(all)]
  const { findings } = await auditOf(all, { reserves: value(13_999_999n), settlements })
  expect(findings).toEqual(
    ['at the confirmed state', 'at the newest block'].map((when) => ({
      kind: 'treasury',
      message: `The treasury holds less than layer 2 has a claim on ${when}`,
      expected: 'at least 14000000 lovelace',
      found: '13999999 lovelace',
    })),
  )
})

test('a deposit that waits is not part of the sum', async () => {
  const all = await history()
  const settlements = [await owing(all)]
  const { findings } = await auditOf(all, { deposits: [held(second), held(third)], settlements })
  expect(findings).toMatchObject([{ kind: 'treasury' }, { kind: 'treasury' }])
})

test('a deposit that is credited with another amount is found, and one more than layer 1 has', async () => {
  const all = await history()
  const less = { ...second, output: at(6_999_999n) }
  const settlements = [await owing(all)]
  const { findings } = await auditOf(all, {
    deposits: [held(first), held(less, 6_999_999n)],
    settlements,
  })
  expect(findings).toMatchObject([
    {
      kind: 'treasury',
      message: expect.stringContaining('is credited with another output'),
      expected: expect.stringContaining('6999999 lovelace'),
      block: { height: 2 },
    },
    { kind: 'treasury', found: '13999999 lovelace' },
    { kind: 'treasury', found: '13999999 lovelace' },
  ])
  const more = { ...second, output: at(7_000_001n) }
  const report = await auditOf(all, { deposits: [held(first), held(more, 7_000_001n)], settlements })
  expect(report.findings).toMatchObject([{ message: expect.stringContaining('another output') }])
})

test('a withdrawal that is paid but still on layer 2, or not merged, is found', async () => {
  const all = await history()
  const [, two] = all.left
  const kept = await auditOf(all, { reserves: value(6_000_000n), settlements: [await owing(all, [two!])] })
  expect(kept.findings).toMatchObject([{ kind: 'treasury' }, { kind: 'treasury' }])
  const early = { ...(await owing(all)), headerHash: all.chain.blocks[2]!.headerHash }
  const { findings } = await auditOf(all, { reserves: value(9_000_000n), settlements: [early] })
  expect(findings).toMatchObject([{ message: expect.stringContaining('of a block that is not merged') }])
})

test('a settlement whose rest is not known is not checked', async () => {
  const all = await history()
  const root = new Uint8Array(32).fill(9)
  const settlements = [{ ...(await owing(all)), root }]
  const report = await auditOf(all, { reserves: value(14_000_000n), settlements })
  expect(report).toMatchObject({ verdict: 'incomplete', findings: [] })
  expect(report.unchecked).toMatchObject([{ what: expect.stringContaining('settlement of block 2') }])
  expect(report.treasury).toBeUndefined()
})

test('bridged assets are compared, others are not', async () => {
  const all = await history()
  const unit = `${'ab'.repeat(28)}00`
  const assets = new Map([[unit, 5n]])
  const gift = { reserves: { lovelace: 9_000_000n, assets }, bridged: ['ab'.repeat(28)] }
  expect((await auditOf(all, gift)).verdict).toBe('clean')
  const output = encodeOutput({
    address: keyOf(1).address,
    lovelace: 2_000_000n,
    assets: [[new Uint8Array(28).fill(0xab), '00', 5n]],
  })
  const fourth = { id: new Uint8Array(32).fill(4), output }
  await all.chain.commit({ deposits: [fourth] })
  const reading = { ...gift, deposits: [{ ...fourth, value: { lovelace: 2_000_000n, assets } }] }
  expect((await auditOf(all, { ...reading, reserves: value(9_000_000n) })).verdict).toBe('clean')
  const short = { lovelace: 2_000_000n, assets: new Map([[unit, 4n]]) }
  const bad = { ...gift, reserves: value(9_000_000n), deposits: [{ ...fourth, value: short }] }
  expect((await auditOf(all, bad)).findings).toMatchObject([
    { kind: 'treasury', found: `11000000 lovelace, 4 ${unit}` },
  ])
})
