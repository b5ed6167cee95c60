import type { Header } from '@ratatosk/block'
import { type ProvableRules, verdictPolicies } from '@ratatosk/contracts'
import { blake2b256 } from '@ratatosk/ledger'
import { openContracts, publishScripts, referenceScriptsOf } from '@ratatosk/protocol'
import { begin, commit, contracts, evaluator, openScene } from '../../../protocol/dist/test/protocol-scene.js'
import { accuse } from '../accused-block.js'
import { deepened, freeMap, nodeOf } from './free-map.js'
import { accusation, type Committed } from './lying-blocks.js'

/**
 * A devnet with a block in its queue, under contracts that name all policies. `isDeep`: the transactions map
 * is committed with as many branches before each entry as a path has room for.
 */
export async function commitUnderAll(rules: ProvableRules, block: Committed, isDeep = false) {
  const policies = Object.values(verdictPolicies).map(({ script }) => script(rules))
  const own = openContracts({ ...contracts.parameters, verdictPolicies: policies }, 0)
  const scene = await openScene(own)
  const { devnet, slots, queue, registry, run } = scene
  const scripts = [...(await begin(scene, true, block.roots.prevUtxosRoot))]
  for (const policy of policies) scripts.push(...(await run(publishScripts(own, [policy]))).produced)
  const referenceScripts = referenceScriptsOf(own, scripts)
  const accused = await accuse(accusation(block, block.roots as Header))
  const leaves = Array.from(isDeep ? accused.entriesOfMap() : [], ([key, value]) => ({
    kind: 'leaf' as const,
    path: blake2b256(key),
    valueHash: blake2b256(value),
  }))
  const deep = isDeep ? freeMap(deepened(nodeOf(leaves))) : undefined
  const { header } = await commit(scene, referenceScripts, {
    ...block.roots,
    ...(deep && { transactionsRoot: deep.root }),
  })
  const prove = (key: Uint8Array) => (deep ?? accused.map).openPath(blake2b256(key)).proof
  const wanted = {
    queue: await queue(),
    registry: await registry(),
    referenceScripts,
    block: {
      ...accused,
      header,
      ...(deep && { map: { prove, proveAbsence: prove, openPath: deep.openPath } }),
    },
    rules,
  }
  const judgement = { parameters: rules.parameters, slots, slot: devnet.currentSlot(), evaluator }
  return { own, scene, wanted, judgement }
}
