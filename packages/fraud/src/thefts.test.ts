import { decodeTransactionRecord, partsOf } from '@ratatosk/block'
import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import type { ProvableRules } from '@ratatosk/contracts'
import { blake2b256, encodeOutputReference } from '@ratatosk/ledger'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bond, evaluator, keys, openScene } from '../../protocol/dist/test/protocol-scene.js'
import { removeFraudulentBlock } from './remove-fraudulent-block.js'
import { commitUnderAll } from './test/all-policies.js'
import { blockOf, type Committed, type Story, tellStory } from './test/lying-blocks.js'
import { addressOfThief, coin, type Theft, theft } from './test/theft.js'

/*
 * Blocks that take money, whose bodies and maps are published. No node accepts one of them; each would be
 * merged if no policy convicted it.
 */

afterAll(() => evaluator.close())

const eight = (number: bigint): Uint8Array => fromHex(number.toString(16).padStart(16, '0'))
/** A billion ada for the thief. */
const loot = concatBytes(fromHex('a200581d'), addressOfThief, fromHex('011b00038d7ea4c68000'))
const hashOfDeposit = new Uint8Array(32).fill(0xdd)
const outputOfDeposit = encodeOutputReference({ transactionId: hashOfDeposit, index: 0 })
const bystander = coin(35)

/** A key witness whose key lacks a byte. */
const shortKey = concatBytes(fromHex('a10081'), fromHex(`82581f${'05'.repeat(31)}5840${'06'.repeat(64)}`))

/** A witness set that the ledger does not decode, of more items than layer 1 reads. */
const hugeWitnesses = concatBytes(fromHex('a11863994e20'), new Uint8Array(20_000))

/** The same by the owner of the outputs, who makes money. */
function signed(what: Theft): Uint8Array {
  const { publicKey, sign } = keys.payment
  const signature = sign(partsOf(theft(what)).id)
  return theft({
    ...what,
    witnesses: concatBytes(fromHex('a10081825820'), publicKey, fromHex('5840'), signature),
  })
}

/** A theft that the ledger does not decode, in a map that notes all that the scripts read of it. */
function notedTheft({ transactions }: Story): Committed {
  // Of required signers there must be some.
  const bytes = theft({ before: [fromHex('0e80')] })
  const output = bytes.subarray(-48, -9)
  const key = encodeOutputReference({ transactionId: partsOf(bytes).id, index: 0 })
  const own = eight(BigInt(transactions.length + 1))
  return blockOf([...transactions, bytes], {
    entries(map) {
      const before = map.get(toHex(eight(BigInt(transactions.length - 1)))) as Uint8Array
      const fees = decodeTransactionRecord(before).feesSoFar + 500_000n
      const place = toHex(eight(BigInt(transactions.length)))
      const record = map.get(place) as Uint8Array
      const hash = blockOf(transactions).before.valueHash(coin(30)) as Uint8Array
      map.set(place, concatBytes(record.subarray(0, 65), blake2b256(hash), eight(fees), record.subarray(105)))
      map.set(toHex(coin(30)), concatBytes(eight(0n), own, hash))
      map.set(toHex(key), concatBytes(own, eight(0n), blake2b256(output)))
    },
    after(outputs) {
      outputs.delete(toHex(coin(30)))
      outputs.set(toHex(key), output)
    },
  })
}

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
          const rest = [new Uint8Array(32), blake2b256(new Uint8Array()), eight(0n), eight(0n)]
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
  {
    what: 'nobody knows what the inputs of a transaction that makes 45 ada stand for',
    fraud: 'wrongResolvedHash',
    commit: ({ transactions }) =>
      blockOf([...transactions, signed({ lovelace: 50_000_000n })], {
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
    commit: ({ transactions }) => blockOf([...transactions, signed({ lovelace: 10_000_000n, outputs: 180 })]),
  },
  {
    what: 'a transaction of the most outputs makes money',
    fraud: 'valueNotPreserved',
    commit: ({ transactions }) => blockOf([...transactions, signed({ lovelace: 10_000_000n, outputs: 44 })]),
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
    commit: notedTheft,
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
    commit: ({ transactions }: Story) => blockOf([...transactions, theft(change)]),
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
