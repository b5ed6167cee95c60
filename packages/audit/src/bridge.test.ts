import { encodeBlockBody } from '@ratatosk/block'
import { compareBytes, concatBytes } from '@ratatosk/cbor'
import { encodeOutput, keyOf } from '@ratatosk/fixtures'
import { blake2b256, encodeOutputReference } from '@ratatosk/ledger'
import { createMemoryStore, createTrie } from '@ratatosk/trie'
import { expect, it, test } from 'vitest'
import { type AuditOptions, audit } from './index.js'
import { BridgedChain, bridge, bridgeAddress, credited, depositOf, paying } from './test/bridged-chain.js'

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
