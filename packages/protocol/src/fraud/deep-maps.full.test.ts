import type { ProvableRules } from '@ratatosk/contracts'
import type { Utxo } from '@ratatosk/ledger'
import { beforeAll, expect, it } from 'vitest'
import { openScene, otherKeys } from '../test/protocol-scene.js'
import { removeFraudulentBlock } from './remove-fraudulent-block.js'
import { lies } from './test/lies/index.js'
import { commitUnderAll, type Story, tellStory } from './test/lying-blocks.js'

let story: Story
let rules: ProvableRules
beforeAll(async () => {
  const { devnet, layer1, slots } = await openScene()
  rules = { parameters: await layer1.parameters(), networkId: 0, slots }
  story = await tellStory(rules.parameters, slots)
  await devnet.close()
})
/*
 * Every lie in a map with as many branches before each entry as a path has room for. Beside each is a branch
 * whose children are random: no one can show them.
 */

/** Ledger version 11 lets an input be read too. */
const told = lies.filter(({ fraud }) => fraud !== 'inputIsReferenceInput')

it.each(told)('the block of an operator who says $what is removed: $fraud', async ({ tell }) => {
  const { own, scene, wanted, judgement } = await commitUnderAll(rules, tell(story), true)
  const held: Utxo[] = []
  for (let stage = ''; stage !== 'removal'; ) {
    const given = { ...wanted, held, address: otherKeys.address.bytes }
    const removal = await removeFraudulentBlock(own, given, judgement)
    expect(removal).toBeDefined()
    stage = removal!.stage
    held.push(...(await scene.run(removal!.draft, scene.otherWallet)).produced)
  }
  expect((await scene.queue()).blocks).toEqual([])
  await scene.devnet.close()
})
