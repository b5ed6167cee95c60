import { type ProvableRules, verdictPolicies } from '@ratatosk/contracts'
import { openContracts, publishScripts, referenceScriptsOf } from '@ratatosk/protocol'
import { begin, commit, contracts, evaluator, openScene } from '../../../protocol/dist/test/protocol-scene.js'
import { accuse } from '../accused-block.js'
import { accusation, type Committed } from './lying-blocks.js'

/** A devnet with a block in its queue, under contracts that name all policies. */
export async function commitUnderAll(rules: ProvableRules, block: Committed) {
  const policies = Object.values(verdictPolicies).map(({ script }) => script(rules))
  const own = openContracts({ ...contracts.parameters, verdictPolicies: policies }, 0)
  const scene = await openScene(own)
  const { devnet, slots, queue, registry, run } = scene
  const scripts = [...(await begin(scene, true, block.roots.prevUtxosRoot))]
  for (const policy of policies) scripts.push(...(await run(publishScripts(own, [policy]))).produced)
  const referenceScripts = referenceScriptsOf(own, scripts)
  const { header } = await commit(scene, referenceScripts, block.roots)
  const wanted = {
    queue: await queue(),
    registry: await registry(),
    referenceScripts,
    block: await accuse(accusation(block, header)),
    rules,
  }
  const judgement = { parameters: rules.parameters, slots, slot: devnet.currentSlot(), evaluator }
  return { own, scene, wanted, judgement }
}
