import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import { verdictPolicies } from '@ratatosk/contracts'
import { blake2b256, encodeOutputReference } from '@ratatosk/ledger'
import { openContracts, publishScripts, referenceScriptsOf } from '@ratatosk/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  begin,
  bond,
  commit,
  contracts,
  evaluator,
  openScene,
  otherKeys,
} from '../../protocol/dist/test/protocol-scene.js'
import { accuse } from './accused-block.js'
import { removeFraudulentBlock } from './remove-fraudulent-block.js'
import { accusation, blockOf, type Committed, type Story, tellStory } from './test/lying-blocks.js'

/*
 * Blocks that take money, whose bodies and maps everybody has. No node accepts one of them; each would be
 * merged if no policy convicted it.
 */

afterAll(() => evaluator.close())

const eight = (number: bigint): Uint8Array => fromHex(number.toString(16).padStart(16, '0'))
const addressOfThief = concatBytes(Uint8Array.of(0x60), otherKeys.payment.hash)
/** A billion ada for the thief. */
const loot = concatBytes(fromHex('a200581d'), addressOfThief, fromHex('011b00038d7ea4c68000'))
const coin = (index: number) => encodeOutputReference({ transactionId: new Uint8Array(32).fill(0xaa), index })
const hashOfDeposit = new Uint8Array(32).fill(0xdd)
const outputOfDeposit = encodeOutputReference({ transactionId: hashOfDeposit, index: 0 })
const bystander = coin(35)

const thefts: readonly {
  readonly what: string
  readonly fraud: string
  readonly commit: (story: Story) => Committed
}[] = [
  {
    what: 'the record of a deposit that never was pays a billion ada',
    fraud: 'strangeEntry',
    commit: ({ transactions }) =>
      blockOf(transactions, {
        entries(map) {
          const position = BigInt(transactions.length)
          const kind = Uint8Array.of(0)
          const rest = [new Uint8Array(32), blake2b256(new Uint8Array()), eight(0n)]
          map.set(toHex(eight(position)), concatBytes(kind, hashOfDeposit, ...rest))
          map.set(toHex(outputOfDeposit), concatBytes(eight(position + 1n), eight(0n), blake2b256(loot)))
        },
        after: (outputs) => outputs.set(toHex(outputOfDeposit), loot),
      }),
  },
  {
    what: 'an output of a bystander leaves through a bridge that there is not',
    fraud: 'spentWithoutInput',
    commit({ transactions }) {
      const hash = blockOf(transactions).before.valueHash(bystander)!
      return blockOf(transactions, {
        entries: (map) => map.set(toHex(bystander), concatBytes(eight(0n), eight(2n ** 63n), hash)),
        after: (outputs) => outputs.delete(toHex(bystander)),
      })
    },
  },
]

describe('a theft', () => {
  let story: Story
  let rules: Parameters<(typeof verdictPolicies)['transaction']['script']>[0]
  beforeAll(async () => {
    const { devnet, layer1, slots } = await openScene()
    rules = { parameters: await layer1.parameters(), networkId: 0, slots }
    story = await tellStory(rules.parameters, slots)
    await devnet.close()
  })

  it.each(thefts)('costs the bond: $what', async ({ commit: theft, fraud }) => {
    const policies = Object.values(verdictPolicies).map(({ script }) => script(rules))
    const own = openContracts({ ...contracts.parameters, verdictPolicies: policies }, 0)
    const scene = await openScene(own)
    const { devnet, slots, queue, registry, run, otherWallet } = scene
    const block = theft(story)
    const scripts = [...(await begin(scene, true, block.roots.prevUtxosRoot))]
    for (const policy of policies) scripts.push(...(await run(publishScripts(own, [policy]))).produced)
    const referenceScripts = referenceScriptsOf(own, scripts)
    const { header } = await commit(scene, referenceScripts, block.roots)
    const element = (await queue()).blocks[0]!.utxo
    const judgement = { parameters: rules.parameters, slots, slot: devnet.currentSlot(), evaluator }
    const wanted = {
      queue: await queue(),
      registry: await registry(),
      referenceScripts,
      block: await accuse(accusation(block, header)),
      rules,
    }
    const removal = await removeFraudulentBlock(own, wanted, judgement)
    expect(removal?.fraud).toBe(fraud)

    const before = (await otherWallet.balance()).lovelace
    const built = await run(removal!.draft, otherWallet)
    const gain = (await otherWallet.balance()).lovelace - before + built.fee
    expect(gain).toBe(bond + element.output.value.lovelace)
    expect((await queue()).blocks).toEqual([])
    await devnet.close()
  })
})
