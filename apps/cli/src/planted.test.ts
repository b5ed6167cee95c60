import { expect, test } from 'vitest'
import { inChain, inTransactions } from './test/planted/in-blocks.js'
import { inNode } from './test/planted/in-node.js'
import { audited, openScene, type Planted, payment } from './test/planted/scene.js'

test('an honest rollup is clean', async () => {
  const scene = await openScene()
  const child = payment(scene.coin(4))
  scene.mempool.push(child)
  expect(await audited(scene, true)).toMatchObject({ verdict: 'clean', findings: [], unchecked: [] })
})

async function expectFound([, code, plant]: Planted, withNode: boolean): Promise<void> {
  const scene = await openScene()
  const { accepted = [] } = (await plant(scene)) ?? {}
  const { verdict, findings, unchecked } = await audited(scene, withNode, [...accepted])
  const shown = JSON.stringify({ findings, unchecked })
  if (code === 'unchecked') {
    expect([verdict, findings], shown).toEqual(['incomplete', []])
    expect(unchecked, shown).not.toEqual([])
    return
  }
  expect(
    findings.map(({ kind }) => kind),
    shown,
  ).toContain(code)
  expect(verdict).toBe('defective')
}

test.for(inTransactions)('of transactions: %s', (planted) => expectFound(planted, false))
test.for(inChain)('of the chain: %s', (planted) => expectFound(planted, false))
test.for(inNode)('of a node: %s', (planted) => expectFound(planted, true))
