import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import type { ProvableRules } from '@ratatosk/contracts'
import { beforeAll, describe, expect, it } from 'vitest'
import { bond, openScene } from '../../protocol/dist/test/protocol-scene.js'
import { removeFraudulentBlock } from './remove-fraudulent-block.js'
import { movedParts } from './shapes/moved-parts.js'
import { commitUnderAll } from './test/all-policies.js'
import { lieOf } from './test/lies/index.js'
import { blockOf, type Committed, type Story, tellStory } from './test/lying-blocks.js'
import { eight, signedTheft, theft } from './test/theft.js'

/*
 * Blocks that take money, whose bodies and maps are published. No node accepts one of them; each would be
 * merged if no policy convicted it.
 */

/** A key witness whose key lacks a byte. */
const shortKey = concatBytes(fromHex('a10081'), fromHex(`82581f${'05'.repeat(31)}5840${'06'.repeat(64)}`))

/** A witness set that the ledger does not decode, of more items than layer 1 reads. */
const hugeWitnesses = concatBytes(fromHex('a11863994e20'), new Uint8Array(20_000))

const thefts: readonly {
  readonly what: string
  readonly fraud: string
  readonly commit: (story: Story) => Committed
}[] = [
  ...['strangeEntry', 'spentWithoutInput'].map(lieOf).map(({ what, fraud, tell }) => ({
    what: `an operator says ${what}`,
    fraud,
    commit: tell,
  })),
  {
    what: 'nobody knows what the inputs of a transaction that makes 45 ada stand for',
    fraud: 'wrongResolvedHash',
    commit: ({ transactions }) =>
      blockOf([...transactions, signedTheft({ lovelace: 50_000_000n })], {
        entries(map) {
          const key = toHex(eight(BigInt(transactions.length)))
          map.set(
            key,
            concatBytes(
              map.get(key)!.subarray(0, 65),
              new Uint8Array(32).fill(9),
              map.get(key)!.subarray(97),
            ),
          )
        },
      }),
  },
  {
    what: 'a transaction of 180 outputs makes 1,795 ada out of 5',
    fraud: 'unreadablePart',
    commit: ({ transactions }) =>
      blockOf([...transactions, signedTheft({ lovelace: 10_000_000n, outputs: 180 })]),
  },
  {
    what: 'a transaction of the most outputs makes money',
    fraud: 'valueNotPreserved',
    commit: ({ transactions }) =>
      blockOf([...transactions, signedTheft({ lovelace: 10_000_000n, outputs: 44 })]),
  },
  {
    what: 'a transaction that makes 45 ada is before a witness set that fits into no proof',
    fraud: 'valueNotPreserved',
    commit: ({ transactions }) =>
      blockOf([...transactions, theft({ witnesses: hugeWitnesses, lovelace: 50_000_000n })], {
        entries(map) {
          const key = toHex(eight(BigInt(transactions.length)))
          // The record says that the witness set has as many bytes as it may have.
          map.set(key, concatBytes(map.get(key)!.subarray(0, 109), fromHex('00003800')))
        },
      }),
  },
  {
    what: 'a list of required signers is empty, and nobody has signed',
    fraud: 'strangeItem',
    commit: ({ transactions }) =>
      blockOf([...transactions, theft({ before: [fromHex('0e80')] })], { read: movedParts }),
  },
  ...(
    [
      ['a witness set is an empty list', 'strangeField', { witnesses: fromHex('80') }],
      ['a key witness has a key of 31 bytes', 'strangeWitness', { witnesses: shortKey }],
      ['a body begins with a field 24', 'strangeField', { before: [fromHex('181800')] }],
      ['an input is there twice', 'repeatedReference', { inputs: [30, 30], lovelace: 9_500_000n }],
    ] as const
  ).map(([what, fraud, change]) => ({
    what: `${what}, and nobody has signed`,
    fraud,
    commit: ({ transactions }: Story) => blockOf([...transactions, theft(change)], { read: movedParts }),
  })),
]

describe('a theft', () => {
  let story: Story
  let rules: ProvableRules
  beforeAll(async () => {
    const { devnet, layer1, slots } = await openScene()
    rules = { parameters: await layer1.parameters(), networkId: 0, slots }
    story = await tellStory(rules.parameters, slots)
    await devnet.close()
  })

  it.each(thefts)('costs the bond: $what', async ({ commit: theft, fraud }) => {
    const { own, scene, wanted, judgement } = await commitUnderAll(rules, theft(story))
    const { devnet, queue, run, otherWallet } = scene
    const element = (await queue()).blocks[0]!.utxo
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
