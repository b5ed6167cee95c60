import { bodyOf, encodeBlockBody } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import type { SourceBlock } from '@ratatosk/test-kit'
import { expect, test } from 'vitest'
import type { Finding } from './index.js'
import { chunkDefects, grammarDefects } from './test/chunk-defects.js'
import { defects } from './test/defects.js'
import { honest, honestNode, idsOf } from './test/honest.js'
import { lovelace, openScene } from './test/scene.js'

const kindsOf = (findings: readonly Finding[]) => [...new Set(findings.map(({ kind }) => kind))].sort()

test('an honest history is clean', async (context) => {
  const scene = await honest(context)
  const { chain } = scene
  const waiting = 'ab'.repeat(32)
  const accepted = [...chain.blocks.flatMap(idsOf), waiting]
  const heights: number[] = []
  const report = await scene.audit({
    node: honestNode(scene),
    accepted,
    onProgress: ({ height }) => heights.push(height),
  })
  expect(report).toEqual({
    verdict: 'clean',
    findings: [],
    omittedFindings: 0,
    unchecked: [],
    counts: {
      blocks: 5,
      merged: 2,
      transactions: 7,
      waiting: 1,
      unspentOutputs: 22,
      bodyBytes: chain.blocks.reduce((sum, { cbors }) => sum + encodeBlockBody(bodyOf(cbors)).length, 0),
    },
    lovelace: { genesis: 20n * lovelace, fees: 500_000n, unspent: 20n * lovelace - 500_000n },
    mintedAssets: 1,
    utxosRoot: toHex(chain.tip!.fields.utxosRoot),
  })
  expect(heights).toEqual([1, 2, 3, 4, 5])
  // Without a node, what is in no block may wait or be lost.
  const alone = await scene.audit({ accepted })
  expect(alone).toMatchObject({ verdict: 'incomplete', findings: [], counts: { waiting: 1 } })
  expect(alone.unchecked).toEqual([{ what: '1 accepted transactions', why: expect.any(String) }])
})

test('a block of several chunks is clean', async (context) => {
  const { audit, chain } = await openScene(context)
  const { cbors } = await chain.commit(200)
  expect(encodeBlockBody(bodyOf(cbors)).length).toBeGreaterThan(2 * 12_288)
  expect(await audit()).toMatchObject({ verdict: 'clean', counts: { transactions: 200 } })
})

test('a chain without a block is clean', async (context) => {
  const { audit, chain, lies } = await openScene(context, 3)
  await chain.commit(0)
  const [{ fields }] = chain.blocks as [SourceBlock]
  chain.remove(1)
  const confirmed = { headerHash: new Uint8Array(28), utxosRoot: fields.prevUtxosRoot, endTime: 0n }
  lies.layer1 = () => ({ confirmed, blocks: [] })
  expect(await audit()).toMatchObject({ verdict: 'clean', counts: { blocks: 0, unspentOutputs: 3 } })
})

test.for([...defects, ...chunkDefects, ...grammarDefects])('finds %s', async ([, kinds, plant], context) => {
  const scene = await honest(context)
  const more = await plant(scene)
  const report = await scene.audit(more ?? {})
  expect(kindsOf(report.findings), JSON.stringify(report.findings)).toEqual(kinds)
  expect(report.verdict).toBe('defective')
})
