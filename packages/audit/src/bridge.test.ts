import { encodeBlockBody } from '@ratatosk/block'
import { compareBytes, concatBytes, equalBytes } from '@ratatosk/cbor'
import { encodeOutput, keyOf } from '@ratatosk/fixtures'
import { blake2b256, encodeOutputReference } from '@ratatosk/ledger'
import { createMemoryStore, createTrie, rootOf } from '@ratatosk/trie'
import { describe, expect, it, test } from 'vitest'
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

describe('bridge', () => {
  const junk = new Uint8Array(32).fill(0xee)
  const [first, second] = [depositOf(1), depositOf(2)]

  /** A chain whose last block is empty, for lies about it. */
  async function honest() {
    const chain = new BridgedChain()
    const [one, two] = chain.coins as [BridgedChain['coins'][0], BridgedChain['coins'][0]]
    await chain.commit({ deposits: [first] })
    await chain.commit({
      deposits: [second],
      cbors: [paying([one, credited(first)], [8_500_000n, 3_000_000n, 500_000n]).cbor],
    })
    await chain.commit({ cbors: [paying([two, credited(second)], [1_000_000n, 11_000_000n]).cbor] })
    chain.merge(1)
    return chain
  }

  /** @param bodies by height, in the place of the true ones */
  function auditOf(
    chain: BridgedChain,
    bodies: ReadonlyMap<number, Uint8Array> = new Map(),
    options: Partial<AuditOptions> = {},
  ) {
    const [, , third] = chain.blocks
    const merged = chain.blocks[0]!
    return audit({
      layer1: {
        read: async () => ({
          confirmed: { ...merged, utxosRoot: merged.fields.utxosRoot, endTime: merged.fields.endTime },
          blocks: chain.blocks.slice(1),
        }),
      },
      archivist: {
        header: async (id) => (typeof id === 'number' ? chain.blocks[id - 1] : chain.byHash(id)),
        async body(hash) {
          const { height } = (await chain.byHash(hash))!
          return bodies.get(Number(height)) ?? chain.blocks[Number(height) - 1]!.bytes
        },
      },
      genesis: chain.genesis,
      bridge,
      readings: 1,
      settleMs: 1,
      ...(third === undefined && { readings: 2 }),
      ...options,
    })
  }

  const kindsOf = async (report: ReturnType<typeof audit>) =>
    [...new Set((await report).findings.map(({ kind }) => kind))].toSorted()

  it.each([['its hash', bridge] as const, ['its address', bridgeAddress] as const])(
    'a history with deposits and withdrawals is clean, with the bridge by %s',
    async (_, given) => {
      const report = await auditOf(await honest(), new Map(), { bridge: given })
      expect(report.findings).toEqual([])
      expect(report).toMatchObject({
        verdict: 'clean',
        counts: { blocks: 3, transactions: 2, unspentOutputs: 6 },
        lovelace: {
          genesis: 25_000_000n,
          fees: 500_000n,
          paid: 500_000n,
          deposited: 14_000_000n,
          withdrawn: 14_000_000n,
          unspent: 25_000_000n,
        },
      })
    },
  )

  test('a bridge is a script', async () => {
    await expect(auditOf(await honest(), new Map(), { bridge: Uint8Array.of(1) })).rejects.toThrow(TypeError)
  })

  test('without a bridge, deposits and withdrawals are defects', async () => {
    const report = auditOf(await honest(), new Map(), { bridge: undefined })
    expect(await kindsOf(report)).toEqual(expect.arrayContaining(['deposits-root', 'withdrawals-root']))
  })

  test('the judge gets the deposits', async () => {
    const seen: unknown[] = []
    const judge: AuditOptions['judge'] = async ({ deposits }) => void seen.push(deposits)
    expect((await auditOf(await honest(), new Map(), { judge })).verdict).toBe('clean')
    expect(seen).toEqual([[first], [second, expect.anything()], []])
  })

  test.each([
    ['not paid', {}],
    ['paid to another', { wrong: { operatorVkey: new Uint8Array(28) } }],
  ] as const)('fees that are %s are found', async (_, draft) => {
    const chain = new BridgedChain()
    const cbors = [paying([chain.coins[0]!], [1_000_000n, 3_900_000n, 100_000n]).cbor]
    await chain.commit({ cbors, paysFees: 'wrong' in draft, ...draft })
    expect(await kindsOf(auditOf(chain))).toEqual(['fees'])
  })

  test.each([
    ['before', -1],
    ['behind', 1],
  ] as const)('a second fee output is found %s the right one', async (_, order) => {
    const chain = new BridgedChain()
    const cbors = [paying([chain.coins[0]!], [1_000_000n, 3_900_000n, 100_000n]).cbor]
    const feeOf = (lovelace: bigint) => {
      const output = encodeOutput({ address: keyOf(99).address, lovelace })
      return { id: blake2b256(concatBytes(new Uint8Array(28), output)), output }
    }
    const right = feeOf(100_000n)
    let lovelace = 1n
    while (compareBytes(feeOf(lovelace).id, right.id) !== order) lovelace++
    await chain.commit({ cbors, deposits: [feeOf(lovelace)] })
    expect(chain.blocks[0]!.body.deposits).toContainEqual(right)
    expect(await kindsOf(auditOf(chain))).toEqual(['fees'])
  })

  test('a fee output without fees is found', async () => {
    const chain = await honest()
    const { headerHash } = chain.blocks[2]!
    const id = blake2b256(concatBytes(headerHash, first.output))
    await chain.commit({ deposits: [{ ...first, id }] })
    expect(await kindsOf(auditOf(chain))).toEqual(['fees'])
  })

  test.each([
    ['a wrong deposits root', ['deposits-root'], { depositsRoot: junk }],
    ['a wrong withdrawals root', ['withdrawals-root'], { withdrawalsRoot: junk }],
    ['no withdrawals root', ['withdrawals-root'], { withdrawalsRoot: new Uint8Array(32) }],
  ] as const)('%s is found', async (_, kinds, wrong) => {
    const chain = new BridgedChain()
    const [coin] = chain.coins as [BridgedChain['coins'][0]]
    const cbors = [paying([coin], [1_000_000n, 4_000_000n]).cbor]
    await chain.commit({ deposits: [first], cbors, wrong })
    expect(await kindsOf(auditOf(chain))).toEqual(kinds)
  })

  test('a deposit that the maps lack is found', async () => {
    const chain = await honest()
    const { transactions, spent, produced, deposits = [] } = chain.blocks[1]!.body
    const more = encodeBlockBody({ transactions, spent, produced, deposits: [...deposits, depositOf(3)] })
    expect(await kindsOf(auditOf(chain, new Map([[2, more]])))).toEqual(
      expect.arrayContaining(['deposits-root', 'transactions-root']),
    )
  })

  test('a deposit that the body lacks is found', async () => {
    const chain = await honest()
    const { transactions, spent, produced } = chain.blocks[1]!.body
    const less = encodeBlockBody({ transactions, spent, produced })
    expect(await kindsOf(auditOf(chain, new Map([[2, less]])))).toEqual(
      expect.arrayContaining(['deposits-root', 'transactions-root']),
    )
  })

  test('an output of the bridge that stays is found', async () => {
    const chain = await honest()
    const [, , coin] = chain.coins as BridgedChain['coins']
    const { cbor, id } = paying([coin!], [1_000_000n, 4_000_000n])
    const before = createTrie({ store: createMemoryStore(), history: 0 })
    before.update([
      { type: 'insert', key: encodeOutputReference({ transactionId: id, index: 1 }), value: junk },
    ])
    await chain.commit({
      cbors: [cbor],
      wrong: { utxosRoot: before.root, withdrawalsRoot: new Uint8Array(32) },
    })
    expect(await kindsOf(auditOf(chain))).toEqual(['utxos-root', 'withdrawals-root'])
  })

  test('a deposit that is credited twice is found, and one that is no output', async () => {
    const chain = await honest()
    await chain.commit({ deposits: [second] })
    await chain.commit({ deposits: [{ id: junk, output: Uint8Array.of(0xff) }] })
    const { findings } = await auditOf(chain)
    expect(findings.filter(({ kind }) => kind === 'deposit').map(({ message }) => message)).toEqual([
      expect.stringContaining('is credited twice'),
      expect.stringContaining('is not an output'),
    ])
  })

  test('an input that has left is spent', async () => {
    const chain = await honest()
    const [, , three, four] = chain.coins as BridgedChain['coins']
    const leaving = paying([three!], [1_000_000n, 4_000_000n])
    const again = paying([four!, { transactionId: leaving.id, index: 1 }], [9_000_000n, 0n])
    await chain.commit({ cbors: [leaving.cbor, again.cbor] })
    expect(await kindsOf(auditOf(chain))).toEqual(expect.arrayContaining(['double-spend']))
  })
})
