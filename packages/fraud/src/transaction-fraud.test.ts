import { CborWriter } from '@ratatosk/cbor'
import { transactionFraudScript } from '@ratatosk/contracts'
import { openContracts, publishScripts, referenceScriptsOf } from '@ratatosk/protocol'
import { expect, it } from 'vitest'
import {
  begin,
  bond,
  commit,
  contracts,
  evaluator,
  keys,
  openScene,
} from '../../protocol/dist/test/protocol-scene.js'
import { accuse } from './accused-block.js'
import { removeFraudulentBlock } from './remove-fraudulent-block.js'
import { accusation, blockOf, tellStory } from './test/lying-blocks.js'

/** Spends an output of 5 ada and pays another amount. */
function payment(index: number, lovelace: bigint): Uint8Array {
  const writer = new CborWriter(512).array(4).map(3)
  writer.uint(0).array(1).array(2).bytes(new Uint8Array(32).fill(0xaa)).uint(index)
  writer.uint(1).array(1).map(2).uint(0).bytes(keys.address.bytes).uint(1).uint(lovelace)
  return writer.uint(2).uint(300_000n).map(0).boolean(true).null().toBytes()
}

it('takes the bond of an operator whose block makes lovelace, in one transaction', async () => {
  const first = await openScene()
  const rules = { parameters: await first.layer1.parameters(), networkId: 0, slots: first.slots }
  const story = await tellStory(rules.parameters, first.slots)
  await first.devnet.close()
  const policy = transactionFraudScript(rules)
  const own = openContracts({ ...contracts.parameters, verdictPolicies: [policy] }, 0)
  const scene = await openScene(own)
  const { devnet, slots, queue, registry, run, otherWallet } = scene
  const block = blockOf([...story.transactions, payment(30, 50_000_000n)])
  const scripts = await begin(scene, true, block.roots.prevUtxosRoot)
  const { produced } = await run(publishScripts(own, [policy]))
  const referenceScripts = referenceScriptsOf(own, [...scripts, ...produced])
  const { header } = await commit(scene, referenceScripts, block.roots)
  const element = (await queue()).blocks[0]!.utxo

  const judgement = { parameters: rules.parameters, slots, slot: devnet.currentSlot(), evaluator }
  const wanted = {
    queue: await queue(),
    registry: await registry(),
    referenceScripts,
    block: await accuse(accusation(block, header)),
  }
  expect(await removeFraudulentBlock(own, wanted, judgement)).toBeUndefined()
  const removal = await removeFraudulentBlock(own, { ...wanted, rules }, judgement)
  expect(removal).toMatchObject({ policy: 'transaction', fraud: 'valueNotPreserved' })

  const before = (await otherWallet.balance()).lovelace
  const built = await run(removal!.draft, otherWallet)
  expect((await otherWallet.balance()).lovelace - before + built.fee).toBe(
    bond + element.output.value.lovelace,
  )
  expect((await registry()).datum.operators).toEqual([])
  expect((await queue()).blocks).toEqual([])
  await devnet.close()
})
