import { partsOf } from '@ratatosk/block'
import { fromHex, toHex } from '@ratatosk/cbor'
import type { SourceBlock } from '@ratatosk/test-kit'
import { expect, type TestContext } from 'vitest'
import { lovelace, nodeOf, openScene, type Scene, spending } from './scene.js'

/** Of the asset that is minted, in hex. */
export const name = '746f6b656e'

/** Five blocks: transfers, a mint, a burn, fees, references, a removal and two merges. */
export async function honest(context: TestContext): Promise<Scene> {
  const scene = await openScene(context)
  const { chain } = scene
  await chain.commit(3)
  const [a, b, c] = chain.coins
  const minting = spending([a!], {
    outputs: [lovelace - 200_000n],
    fee: 200_000n,
    mint: [[name, 7n]],
    assets: [[name, 7n]],
    auxiliaryData: fromHex('a10163616263'),
  })
  const holder = { key: a!.key, reference: { transactionId: minting.id, index: 0 } }
  const burning = spending([holder], {
    outputs: [1_000_000n, lovelace - 1_500_000n],
    fee: 300_000n,
    mint: [[name, -3n]],
    assets: [[name, 4n]],
    reads: [b!.reference, c!.reference],
  })
  await chain.commitAny([minting.cbor, burning.cbor])
  await chain.commit(0)
  const removed = await chain.commitAny([spending([c!], { outputs: [1_000_000n, 4_000_000n] }).cbor])
  chain.remove(1)
  expect(toHex((await chain.commitAny([spending([b!]).cbor])).headerHash)).not.toBe(toHex(removed.headerHash))
  await chain.commitAny([spending([c!], { outputs: [2_000_000n, 3_000_000n] }).cbor])
  chain.merge(2)
  return scene
}

export const idsOf = ({ cbors }: SourceBlock) => cbors.map((cbor) => toHex(partsOf(cbor).id))
export const honestNode = ({ chain }: Scene) => nodeOf(chain, idsOf)
