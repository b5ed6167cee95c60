import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import type { ProvableRules } from '@ratatosk/contracts'
import type { Utxo } from '@ratatosk/ledger'
import { beforeAll, describe, expect, it } from 'vitest'
import { bond, openScene, otherKeys } from '../test/protocol-scene.js'
import { removeFraudulentBlock } from './remove-fraudulent-block.js'
import { movedParts } from './shapes.js'
import { lieOf } from './test/lies/index.js'
import { blockOf, type Committed, commitUnderAll, type Story, tellStory } from './test/lying-blocks.js'
import { eight, signedTheft, theft } from './test/theft.js'

/*
 * Blocks that take money, whose bodies and maps are published. No node accepts one of them; each would be
 * merged if no policy convicted it.
 */

const sixty = Array.from({ length: 60 }, (_, place) => 5 + place)

/** A key witness whose key lacks a byte. */
const shortKey = concatBytes(fromHex('a10081'), fromHex(`82581f${'05'.repeat(31)}5840${'06'.repeat(64)}`))

/** A witness set that the ledger does not decode, of more items than layer 1 reads. */
const hugeWitnesses = concatBytes(fromHex('a11863994e20'), new Uint8Array(20_000))

/** A transaction makes 200 ada, and the hash of what its inputs stand for is of nothing. */
const unresolved = ({ transactions }: Story, inputs: readonly number[]) =>
  blockOf(
    [
      ...transactions,
      signedTheft({ inputs, lovelace: BigInt(5_000_000 * inputs.length + 200_000_000) - 500_000n }),
    ],
    {
      entries(map) {
        const key = toHex(eight(BigInt(transactions.length)))
        const record = map.get(key)!
        map.set(key, concatBytes(record.subarray(0, 65), new Uint8Array(32).fill(9), record.subarray(97)))
      },
    },
  )

const thefts: readonly {
  readonly what: string
  readonly fraud: string
  readonly commit: (story: Story) => Committed
  readonly isDeep?: boolean
}[] = [
  ...['strangeEntry', 'spentWithoutInput'].map(lieOf).map(({ what, fraud, tell }) => ({
    what: `an operator says ${what}`,
    fraud,
    commit: tell,
  })),
  {
    what: 'nobody knows what the 60 inputs of a transaction that makes 200 ada stand for',
    fraud: 'wrongResolvedHash',
    commit: (told) => unresolved(told, sixty),
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

  it.each([
    ...thefts,
    {
      what: 'a map has the longest ways, and nobody knows what two inputs stand for',
      fraud: 'wrongResolvedHash',
      commit: (told: Story) => unresolved(told, [5, 6]),
      isDeep: true,
    },
  ])('costs the bond: $what', async ({ commit: theft, fraud, isDeep = false }) => {
    const { own, scene, wanted, judgement } = await commitUnderAll(rules, theft(story), isDeep)
    const { devnet, queue, run, otherWallet } = scene
    const element = (await queue()).blocks[0]!.utxo
    const held: Utxo[] = []
    const inParts = fraud === 'wrongResolvedHash'
    const before = (await otherWallet.balance()).lovelace
    let fees = 0n
    for (let stage = ''; stage !== 'removal'; ) {
      const given = { ...wanted, held, ...(inParts && { address: otherKeys.address.bytes }) }
      const removal = await removeFraudulentBlock(own, given, judgement)
      expect(removal?.fraud).toBe(fraud)
      stage = removal!.stage
      const { fee, produced } = await run(removal!.draft, otherWallet)
      fees += fee
      held.push(...produced)
    }
    const gain = (await otherWallet.balance()).lovelace - before + fees
    expect(gain).toBe(bond + element.output.value.lovelace)
    expect((await queue()).blocks).toEqual([])
    await devnet.close()
  })
})
