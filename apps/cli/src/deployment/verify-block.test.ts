import type { BlockSource } from '@ratatosk/audit'
import {
  type BlockRules,
  bodyOf,
  deriveBlock,
  encodeBlockBody,
  encodedHeader,
  transactionsRoot,
} from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import { encodeOutputReference } from '@ratatosk/ledger'
import { freeOfCharge, keyOf, SourceChain, signed, slots } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import {
  BridgedChain,
  bridge,
  credited,
  depositOf,
  paying,
} from '../../../../packages/audit/dist/test/bridged-chain.js'
import { movedParts } from '../../../../packages/protocol/dist/fraud/index.js'
import { theft, undecodedOf } from '../../../../packages/protocol/dist/fraud/test/theft.js'
import { testLayer1 } from '../test/nodes.js'
import { run } from '../test/run.js'
import { expectQueue } from './absent-queue.js'
import { findBlock, parseBlock, verifyBlock } from './verify-block.js'

const rules = { parameters: freeOfCharge, networkId: 0, slots }
const junk = new Uint8Array(32).fill(0xee)
const lovelace = 5_000_000n

const archiveOf = (chain: SourceChain): BlockSource => ({
  header: async (id) => (typeof id === 'number' ? chain.blocks[id - 1] : chain.byHash(id)),
  body: async (hash) => encodeBlockBody(bodyOf((await chain.byHash(hash))!.cbors)),
})

function queueOf(chain: SourceChain) {
  const merged = chain.blocks.filter(({ state }) => state === 'merged').at(-1)
  const { headerHash = new Uint8Array(28), fields } = merged ?? {}
  const confirmed = { headerHash, utxosRoot: fields?.utxosRoot ?? junk, endTime: fields?.endTime ?? 0n }
  return { confirmed, blocks: chain.blocks.filter(({ state }) => state === 'committed') }
}

async function verified(chain: SourceChain, wanted: string, lies: Partial<BlockSource> = {}) {
  const archivist = { ...archiveOf(chain), ...lies }
  const heights: number[] = []
  const block = await findBlock(parseBlock(wanted), queueOf(chain), archivist, (height) =>
    heights.push(height),
  )
  expect(heights).toEqual(chain.blocks.map((_, index) => index + 1))
  const { genesis } = chain
  const sources = { archivist, genesis: genesis.map((entry) => ({ ...entry, address: new Uint8Array() })) }
  return { block, verdict: await verifyBlock(block, sources, rules, () => undefined) }
}

async function honest(): Promise<SourceChain> {
  const chain = new SourceChain()
  await chain.commit(3)
  await chain.commit(2)
  chain.merge(1)
  return chain
}

test('an honest block is valid, by height or hash, merged or not', async () => {
  const chain = await honest()
  await chain.commit(25)
  for (const [index, { headerHash, cbors }] of chain.blocks.entries()) {
    const byHeight = await verified(chain, String(index + 1))
    expect(byHeight.verdict).toEqual({ verdict: 'valid', transactions: cbors.length })
    expect(byHeight.block).toMatchObject({ height: index + 1, isMerged: index === 0 })
    expect(await verified(chain, toHex(headerHash).toUpperCase())).toEqual(byHeight)
  }
})

type Breach = readonly [name: string, reason: string, commit: (chain: SourceChain) => Promise<unknown>]

const breaches: readonly Breach[] = [
  ['a false utxos root', 'does not lead to the utxos_root', (chain) => chain.commit(1, { utxosRoot: junk })],
  [
    'another start',
    'does not begin where the block before it ends',
    (chain) => chain.commit(1, { startTime: 1n }),
  ],
  [
    'no length',
    'does not end after it begins',
    (chain) => chain.commit(1, { endTime: chain.tip!.fields.endTime }),
  ],
  [
    'other outputs before it',
    'does not begin with the state after the previous block',
    (chain) => chain.commit(1, { prevUtxosRoot: junk }),
  ],
  ['deposits', 'deposits or withdrawals', (chain) => chain.commit(1, { depositsRoot: junk })],
  [
    'the signature of another key',
    'MissingVKeyWitnessesUTXOW',
    (chain) =>
      chain.commitAny([signed(keyOf(77), { inputs: [chain.coins[9]!.reference], outputs: [lovelace] }).cbor]),
  ],
  [
    'an input that does not exist',
    'BadInputsUTxO',
    (chain) => {
      const reference = { transactionId: junk, index: 0 }
      const { cbor } = signed(chain.coins[9]!.key, { inputs: [reference], outputs: [lovelace] })
      return chain.commitAny([cbor], [encodeOutputReference(reference)])
    },
  ],
]

test.for(breaches)('a block with %s is invalid', async ([, reason, commit]) => {
  const chain = await honest()
  await commit(chain)
  const { verdict } = await verified(chain, '3')
  expect(verdict).toMatchObject({ verdict: 'invalid', reason: expect.stringContaining(reason) })
})

test('a block with a transaction that does not decode is invalid in either reading', async () => {
  const transaction = theft(undecodedOf(1n)['an inline datum']!)
  for (const read of [movedParts, undefined]) {
    const chain = await honest()
    const map = deriveBlock([transaction], chain.genesisHash.bind(chain), { read })
    await chain.commitAny([transaction], [], { transactionsRoot: await transactionsRoot(map) })
    const { verdict } = await verified(chain, '3')
    expect(verdict).toMatchObject({ verdict: 'invalid', reason: expect.stringContaining('does not decode') })
  }
})

test('another body is not held against the operator', async () => {
  const chain = await honest()
  const last = toHex(chain.tip!.headerHash)
  const { body } = archiveOf(chain)
  const serving =
    (lie: (bytes: Uint8Array) => Uint8Array): BlockSource['body'] =>
    async (hash, signal) => {
      const bytes = (await body(hash, signal))!
      return toHex(hash) === last ? lie(bytes) : bytes
    }
  const changed = serving((bytes) => bytes.with(60, bytes[60]! ^ 1))
  expect((await verified(chain, '2', { body: changed })).verdict.verdict).toBe('another body')
  const cut = serving((bytes) => bytes.slice(0, -1))
  expect((await verified(chain, '2', { body: cut })).verdict.verdict).toBe('another body')
})

test('headers that an archivist makes without an end are not followed', async () => {
  const chain = await honest()
  let asked = 0
  /** A chain that begins long before the newest block, by whatever is asked for. */
  const endless: BlockSource['header'] = async () => {
    asked++
    const prevHeaderHash = new Uint8Array(28).fill(asked)
    const { bytes, hash } = encodedHeader({ ...chain.tip!.fields, prevHeaderHash })
    return { headerHash: hash, header: bytes }
  }
  await expect(verified(chain, '1', { header: endless })).rejects.toThrow('it has another header for')
  expect(asked).toBe(1)
})

test('what does not lead to the block is refused, with what to do', async () => {
  const chain = await honest()
  await expect(verified(chain, '7')).rejects.toThrow('Layer 1 has no block 7')
  expect(() => parseBlock('0')).toThrow('"0" is no block')
  expect(() => parseBlock('ab')).toThrow('a header hash of 56 hex digits')
  const first = toHex(chain.blocks[0]!.headerHash)
  const withoutFirst: BlockSource['header'] = async (id) =>
    toHex(id as Uint8Array) === first ? undefined : chain.byHash(id as Uint8Array)
  await expect(verified(chain, '1', { header: withoutFirst })).rejects.toThrow(
    `it does not have the block ${first}. Name another one`,
  )
  const swapped: BlockSource['header'] = async (id) =>
    chain.blocks.find(({ headerHash }) => toHex(headerHash) !== toHex(id as Uint8Array))
  await expect(verified(chain, '1', { header: swapped })).rejects.toThrow('it has another header for')
  const empty: BlockSource['body'] = async () => encodeBlockBody(bodyOf([]))
  await expect(verified(chain, '2', { body: empty })).rejects.toThrow('do not lead to its prev_utxos_root')
})

test('a block with deposits and withdrawals is valid with its bridge, and invalid without', async () => {
  const chain = new BridgedChain()
  const [coin] = chain.coins as [BridgedChain['coins'][0]]
  await chain.commit({ deposits: [depositOf(1)] })
  const cbors = [paying([coin, credited(depositOf(1))], [9_000_000n, 3_000_000n]).cbor]
  await chain.commit({ deposits: [depositOf(2)], cbors })
  const archivist: BlockSource = {
    header: async (id) => (typeof id === 'number' ? chain.byHeight(BigInt(id)) : chain.byHash(id)),
    body: async (hash) => chain.blocks.find(({ headerHash }) => toHex(headerHash) === toHex(hash))?.bytes,
  }
  const queue = {
    confirmed: { headerHash: new Uint8Array(28), utxosRoot: junk, endTime: 0n },
    blocks: chain.blocks,
  }
  const block = await findBlock(parseBlock('2'), queue, archivist, () => undefined)
  const genesis = chain.genesis.map((entry) => ({ ...entry, address: new Uint8Array() }))
  const judged = (given: BlockRules) => verifyBlock(block, { archivist, genesis }, given, () => undefined)
  expect(await judged({ ...rules, bridge })).toEqual({ verdict: 'valid', transactions: 1 })
  expect((await judged(rules)).verdict).not.toBe('valid')
})

const confirmed = { headerHash: new Uint8Array(28), utxosRoot: new Uint8Array(32), endTime: 0n }
const absent = { fault: '0 roots instead of 1', blocks: [] }

test('a queue that was never there is a matter of settings, one that is gone is not', () => {
  const expected = expectQueue('a devnet')
  expect(() => expected(absent)).toThrow(
    /^Layer 1 \(a devnet\) has no state queue for these contract settings: take PROTOCOL, .*_POLICIES/,
  )
  const sound = { confirmed, blocks: [] }
  expect(expected(sound)).toBe(sound)
  expect(expected(absent)).toBe(absent)
  const broken = { fault: 'The datum is not a root', blocks: [] }
  expect(expectQueue('a devnet')(broken)).toBe(broken)
  // As `openDeployment` reads it.
  const rootless = { fault: `${absent.fault}, and 2 of its elements are left`, blocks: [] }
  expect(expectQueue('a devnet')(rootless)).toBe(rootless)
})

test('audit and verify are incomplete on a layer 1 without a queue of these settings', {
  timeout: 300_000,
}, async (context) => {
  const layer1 = await testLayer1()
  context.onTestFinished(() => layer1.close())
  const environment = { ...layer1.settings, BRIDGED_POLICIES: 'ab'.repeat(28) }
  const archivist = ['--archivist', 'http://127.0.0.1:1/archivist']
  const message = /has no state queue for these contract settings: take PROTOCOL, .* from the operator\.$/m
  const verified = await run(['verify', '1', ...archivist], environment)
  expect(verified).toMatchObject({ status: 3, out: '', error: expect.stringMatching(message) })
  const audited = await run(['audit', ...archivist], environment)
  expect(audited.out).toMatch(/^incomplete: 0 findings\n/)
  expect(audited).toMatchObject({ status: 3, out: expect.stringMatching(message), error: '' })
})
