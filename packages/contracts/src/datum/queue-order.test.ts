import { describe, expect, it } from 'vitest'
import { BrokenQueue, MalformedData } from '../errors.js'
import { genesisHeaderHash, type Header, headerHash } from './header.js'
import { orderQueue, type QueueOutput, surveyQueue } from './queue-order.js'
import { blockTokenName, encodeBlockDatum, encodeRootDatum, rootTokenName } from './state-queue.js'

const rootName = rootTokenName('RATATOSK')
const state = {
  headerHash: genesisHeaderHash(),
  prevHeaderHash: genesisHeaderHash(),
  utxoRoot: new Uint8Array(32),
  startTime: 0n,
  endTime: 0n,
  protocolVersion: 1n,
}

function headerAt(place: number): Header {
  return {
    prevUtxosRoot: new Uint8Array(32),
    utxosRoot: new Uint8Array(32),
    transactionsRoot: new Uint8Array(32),
    depositsRoot: new Uint8Array(32),
    withdrawalsRoot: new Uint8Array(32),
    startTime: BigInt(place),
    endTime: BigInt(place + 1),
    prevHeaderHash: genesisHeaderHash(),
    operatorVkey: new Uint8Array(28),
    protocolVersion: 1n,
  }
}

const hashAt = (place: number) => headerHash(headerAt(place))
const linkTo = (place: number, length: number) => (place < length ? { link: hashAt(place) } : {})

/** The root, then the blocks in their order. */
const queueOf = (length: number): QueueOutput[] => [
  { tokenName: rootName, datum: encodeRootDatum({ state, ...linkTo(0, length) }) },
  ...Array.from({ length }, (_, place) => ({
    tokenName: blockTokenName(hashAt(place)),
    datum: encodeBlockDatum({ header: headerAt(place), ...linkTo(place + 1, length) }),
  })),
]

describe('orderQueue', () => {
  it.each([0, 1, 5])('follows the links of %s blocks, in whatever order they come', (length) => {
    const outputs = queueOf(length)
    for (const given of [outputs, outputs.toReversed()]) {
      const { root, blocks } = orderQueue(given, rootName)
      expect(root.output).toBe(outputs[0])
      expect(root.datum.state).toEqual(state)
      expect(blocks.map(({ output }) => output)).toEqual(outputs.slice(1))
      expect(blocks.map(({ datum }) => datum.header)).toEqual(blocks.map((_, place) => headerAt(place)))
      expect(blocks.map((block) => block.headerHash)).toEqual(blocks.map((_, place) => hashAt(place)))
    }
  })

  const [root, first, second, third] = queueOf(3) as [QueueOutput, QueueOutput, QueueOutput, QueueOutput]
  it.each([
    ['no root', [first, second, third], '0 roots'],
    ['two roots', [root, root, first, second, third], '2 roots'],
    ['a missing block', [root, first, third], 'not there'],
    ['blocks of another queue', [...queueOf(0), first], '1 blocks that no link leads to'],
    ['a block twice', [root, first, first, second, third], 'twice'],
    ['a token of no kind', [root, { ...first, tokenName: Uint8Array.of(1) }], 'no kind'],
    ['a circle', [root, first, second, { ...third, datum: first.datum }], 'not there'],
  ])('refuses %s', (_, outputs, message) => {
    expect(() => orderQueue(outputs, rootName)).toThrow(BrokenQueue)
    expect(() => orderQueue(outputs, rootName)).toThrow(message)
  })

  it.each([
    ['a block with the datum of a root', [root, { ...first, datum: root.datum }]],
    ['a block without a datum', [root, { tokenName: first.tokenName }]],
    ['a root without a datum', [{ tokenName: rootName }]],
  ])('refuses %s', (_, outputs) => {
    expect(() => orderQueue(outputs, rootName)).toThrow(MalformedData)
  })

  it.each([
    ['a sound queue', [root, first, second, third], 1, [first, second, third], undefined],
    ['two roots', [root, root, first], 2, [], 'broken-queue'],
    [
      'two blocks of one name',
      [root, first, { ...first }, second, third],
      1,
      [first, second, third],
      'broken-queue',
    ],
    ['a missing block', [root, first, third], 1, [first], 'broken-queue'],
    ['a circle', [root, first, second, { ...third, datum: first.datum }], 1, 3, 'broken-queue'],
    ['a block that no link leads to', [...queueOf(0), first], 1, [], 'broken-queue'],
    ['a block that cannot be read', [...queueOf(0), { tokenName: first.tokenName }], 1, [], 'malformed-data'],
  ] as const)('describes %s, and every output is in one list', (_, outputs, rootCount, inOrder, code) => {
    const { roots, blocks, strays, fault } = surveyQueue<QueueOutput>(outputs, rootName)
    expect(roots).toHaveLength(rootCount)
    if (typeof inOrder === 'number') expect(blocks).toHaveLength(inOrder)
    else expect(blocks.map(({ output }) => output)).toEqual(inOrder)
    expect(fault?.code).toBe(code)
    expect(roots.length + blocks.length + strays.length).toBe(outputs.length)
  })
})
