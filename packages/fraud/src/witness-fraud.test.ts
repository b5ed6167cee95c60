import { concatBytes } from '@ratatosk/cbor'
import { ledgerFraudScript, witnessFraudScript } from '@ratatosk/contracts'
import { decodeTransaction } from '@ratatosk/ledger'
import { openContracts, publishScripts, referenceScriptsOf } from '@ratatosk/protocol'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  begin,
  bond,
  commit,
  contracts,
  evaluator,
  openScene,
} from '../../protocol/dist/test/protocol-scene.js'
import { accuse } from './accused-block.js'
import { removeFraudulentBlock } from './remove-fraudulent-block.js'
import { accusation, blockOf, type Story, tellStory } from './test/lying-blocks.js'

/** A transaction with one bit of its first signature changed. */
function forged(bytes: Uint8Array): Uint8Array {
  const { signature } = decodeTransaction(bytes).witnesses.keyWitnesses[0]!
  const place = signature.byteOffset - bytes.byteOffset
  return bytes.with(place, bytes[place]! ^ 1)
}

function unsigned(bytes: Uint8Array): Uint8Array {
  const { body } = decodeTransaction(bytes)
  return concatBytes(Uint8Array.of(0x84), body.bytes, Uint8Array.of(0xa0, 0xf5, 0xf6))
}

describe('removeFraudulentBlock, by the witness policy', () => {
  let story: Story
  let parameters: Parameters<typeof witnessFraudScript>[0]
  beforeAll(async () => {
    const { devnet, layer1, slots } = await openScene()
    const found = await layer1.parameters()
    parameters = found
    story = await tellStory(found, slots)
    await devnet.close()
  })

  it.each([
    ['a signature is forged', 'invalidSignature', forged],
    ['no one has signed for what the block makes', 'missingSignature', unsigned],
  ] as const)('takes the bond where %s, in one transaction', async (_what, fraud, change) => {
    const policies = [ledgerFraudScript(), witnessFraudScript(parameters)]
    const own = openContracts({ ...contracts.parameters, verdictPolicies: policies }, 0)
    const scene = await openScene(own)
    const { devnet, layer1, slots, queue, registry, run, otherWallet } = scene
    const [first, second] = story.transactions as [Uint8Array, Uint8Array]
    const block = blockOf([first, change(second)])
    const scripts = await begin(scene, true, block.roots.prevUtxosRoot)
    // Both policies do not fit into one transaction.
    const { produced } = await run(publishScripts(own, policies.slice(1)))
    const referenceScripts = referenceScriptsOf(own, [...scripts, ...produced])
    const { header } = await commit(scene, referenceScripts, block.roots)
    const element = (await queue()).blocks[0]!.utxo

    const judgement = {
      parameters: await layer1.parameters(),
      slots,
      slot: devnet.currentSlot(),
      evaluator,
    }
    const wanted = {
      queue: await queue(),
      registry: await registry(),
      referenceScripts,
      block: await accuse(accusation(block, header)),
    }
    const rules = { parameters: judgement.parameters, networkId: 0, slots }
    expect(await removeFraudulentBlock(own, wanted, judgement)).toBeUndefined()
    const removal = await removeFraudulentBlock(own, { ...wanted, rules }, judgement)
    expect(removal).toMatchObject({ policy: 'witness', fraud })

    const before = (await otherWallet.balance()).lovelace
    const built = await run(removal!.draft, otherWallet)
    expect((await otherWallet.balance()).lovelace - before + built.fee).toBe(
      bond + element.output.value.lovelace,
    )
    expect((await registry()).datum.operators).toEqual([])
    expect((await queue()).blocks).toEqual([])
    await devnet.close()
  })
})
