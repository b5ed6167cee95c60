import { genesisHeaderHash, type Header, headerHash } from '@ratatosk/block'
import { describe, expect, it } from 'vitest'
import { isContractsError } from '../errors.js'
import { blockTokenName, encodeBlockDatum, encodeRootDatum, rootTokenName } from './state-queue.js'
import { type QueueOutput, surveyQueue } from './survey-queue.js'

const rootName = rootTokenName('RATATOSK')
const state = {
  headerHash: genesisHeaderHash(),
  prevHeaderHash: genesisHeaderHash(),
  utxoRoot: new Uint8Array(32),
  startTime: 0n,
  endTime: 0n,
  blockVersion: 1n,
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
    blockVersion: 1n,
  }
}

const hashAt = (place: number) => headerHash(headerAt(place))
const linkTo = (place: number, length: number) => (place < length ? { link: hashAt(place) } : {})

/** A sound queue: the root, then the blocks in list order. */
const queueOf = (length: number): QueueOutput[] => [
  { tokenName: rootName, datum: encodeRootDatum({ state, ...linkTo(0, length) }) },
  ...Array.from({ length }, (_, place) => ({
    tokenName: blockTokenName(hashAt(place)),
    datum: encodeBlockDatum({ header: headerAt(place), ...linkTo(place + 1, length) }),
  })),
]

describe('surveyQueue', () => {
  it.each([0, 1, 5])('follows the links of %s blocks, for outputs in any order', (length) => {
    const outputs = queueOf(length)
    for (const given of [outputs, outputs.toReversed()]) {
      const { roots, blocks, strays, fault } = surveyQueue(given, rootName)
      expect(fault).toBeUndefined()
      expect(strays).toEqual([])
      expect(roots).toEqual([{ output: outputs[0], datum: expect.objectContaining({ state }) }])
      expect(blocks.map(({ output }) => output)).toEqual(outputs.slice(1))
      expect(blocks.map(({ datum }) => datum.header)).toEqual(blocks.map((_, place) => headerAt(place)))
      expect(blocks.map((block) => block.headerHash)).toEqual(blocks.map((_, place) => hashAt(place)))
    }
  })

  const [root, first, second, third] = queueOf(3) as [QueueOutput, QueueOutput, QueueOutput, QueueOutput]
  const copy = { ...first }
  const loop = { ...third, datum: first.datum }
  const unnamed = { ...first, tokenName: Uint8Array.of(1) }

  it.each([
    ['no root', [first, second, third], [], [first, second, third], '0 roots instead of 1'],
    ['two roots', [root, root, first], [], [first], '2 roots instead of 1'],
    ['a missing block', [root, first, third], [first], [third], 'linked to but missing'],
    ['a loop', [root, first, second, loop], [first, second, loop], [], 'linked to but missing'],
    ['a block of another queue', [...queueOf(0), first], [], [first], 'no link leads to 1 of the blocks'],
    ['a block twice', [root, first, copy, second, third], [first, second, third], [copy], 'exists twice'],
    ['a token with an unknown name', [...queueOf(0), unnamed], [], [unnamed], 'neither the root nor a block'],
  ])('reports %s as CONTRACTS_BROKEN_QUEUE', (_, outputs, blocks, strays, message) => {
    const survey = surveyQueue<QueueOutput>(outputs, rootName)
    expect(survey.blocks.map(({ output }) => output)).toEqual(blocks)
    expect(survey.strays).toEqual(strays)
    expect(isContractsError(survey.fault)).toBe(true)
    expect(survey.fault).toMatchObject({
      code: 'CONTRACTS_BROKEN_QUEUE',
      message: expect.stringContaining(message),
    })
  })

  it.each([
    ['a block with the datum of a root', [...queueOf(0), { ...first, datum: root.datum }]],
    ['a block without a datum', [...queueOf(0), { tokenName: first.tokenName }]],
    ['a root without a datum', [{ tokenName: rootName }]],
  ])('reports %s as PLUTUS_DATA_MALFORMED', (_, outputs: readonly QueueOutput[]) => {
    const { blocks, strays, fault } = surveyQueue(outputs, rootName)
    expect(blocks).toEqual([])
    expect(strays).toEqual([outputs.at(-1)])
    expect(fault).toMatchObject({ code: 'PLUTUS_DATA_MALFORMED' })
  })
})
