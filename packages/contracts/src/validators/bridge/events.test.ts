import { CborWriter } from '@ratatosk/cbor'
import { blake2b256, decodeTransactionOutput, minimumLovelace } from '@ratatosk/ledger'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeBridgeDatum, depositOutput, type Layer1Datum, serialised } from '../../datum/bridge.js'
import { depositLimits } from '../../layout.js'
import { eventBreaches, longDatum } from '../../test/bridge/breaches.js'
import {
  assetsOf,
  bridgedTokens,
  deposit,
  eventToken,
  firstId,
  withWallet,
} from '../../test/bridge/scenarios.js'
import { engines, parameters } from '../../test/evaluate.js'
import { judgeRules } from '../../test/judge-rules.js'
import { plutusData } from '../../test/plutus-data.js'
import { encodeOutput, type Token } from '../../test/transaction.js'
import { ada, bridgedPolicies, createWorld, type World, wallet } from '../../test/world.js'

/** Burns the token of a deposit that was paid out. */
const burn = (world: World) => {
  const token = eventToken(world, firstId)
  return {
    ...withWallet(deposit(world), [token]),
    outputs: [wallet(ada(99))],
    mint: [{ ...token, quantity: -1n }],
  }
}

judgeRules(
  'events',
  {
    deposit: (world) => deposit(world),
    depositOfAssets: (world) => deposit(world, { tokens: bridgedTokens(96) }),
    depositWithHash: (world) => deposit(world, { datum: { kind: 'hash', hash: new Uint8Array(32) } }),
    depositWithDatum: (world) =>
      deposit(world, { tokens: bridgedTokens(3), datum: { kind: 'inline', data: Uint8Array.of(0xa0) } }),
    burn,
  },
  eventBreaches,
)

const world = createWorld()
const runs = Number(process.env.RATATOSK_DEPOSITS ?? 40)

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const address = fc
  .constantFrom(0, 1, 2, 3, 6, 7)
  .chain((type) => bytes(type < 4 ? 56 : 28).map((hashes) => Uint8Array.of(type << 4, ...hashes)))
const token: fc.Arbitrary<Token> = fc.record({
  policy: fc.constantFrom(...bridgedPolicies),
  name: fc.uint8Array({ maxLength: 32 }),
  quantity: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }),
})
const tokens = fc.uniqueArray(token, {
  maxLength: 12,
  selector: ({ policy, name }) => `${policy} ${name}`,
})
const datum: fc.Arbitrary<Layer1Datum> = fc.oneof(
  fc.constant<Layer1Datum>({ kind: 'none' }),
  bytes(32).map((hash) => ({ kind: 'hash' as const, hash })),
  plutusData
    .filter((data) => serialised(data).length <= depositLimits.datumBytes)
    .map((data) => ({ kind: 'inline' as const, data })),
)

describe('a deposit', () => {
  const judge = engines.cek

  it('is of the output that the script builds', () => {
    fc.assert(
      fc.property(
        fc.record({ address, tokens, datum, lovelace: fc.bigInt({ min: 1n, max: 2n ** 55n }) }),
        (options) => {
          const transaction = deposit(world, options)
          expect(judge(transaction)).toMatchObject({ ok: true })
          const decoded = decodeBridgeDatum(transaction.outputs[0]!.datum!)
          const { datum: given } = options
          const output = depositOutput({ ...options, assets: assetsOf(options.tokens) })
          expect(decodeTransactionOutput(output).value.lovelace).toBe(options.lovelace)
          expect(decoded).toMatchObject({
            kind: 'deposit',
            address: options.address,
            datum: given.kind === 'inline' ? { kind: 'inline', data: serialised(given.data) } : given,
          })
        },
      ),
      { numRuns: runs },
    )
  })

  it('with the deepest datum becomes an output that layer 2 decodes', () => {
    const levels = depositLimits.datumBytes / 2
    const deepest = new Uint8Array(levels).fill(0x81).with(levels - 1, 0x80)
    const transaction = deposit(world, { datum: { kind: 'inline', data: deepest } })
    expect(judge(transaction)).toMatchObject({ ok: true })
    expect(decodeBridgeDatum(transaction.outputs[0]!.datum!)).toMatchObject({ kind: 'deposit' })
    const output = decodeTransactionOutput(encodeOutput(transaction.outputs[0]!))
    expect(output.datum).toMatchObject({ kind: 'inline' })
  })

  it('with the longest datum is accepted', () => {
    const data = encodePlutusData(longDatum.slice(1))
    expect(data.length).toBe(depositLimits.datumBytes)
    const transaction = deposit(world, { datum: { kind: 'inline', data } })
    expect(judge(transaction)).toMatchObject({ ok: true })
  })

  it('needs more ada on layer 1 than its output on layer 2', () => {
    const transaction = deposit(world, { lovelace: 1n })
    const [output] = transaction.outputs
    const onLayer1 = minimumLovelace(decodeTransactionOutput(encodeOutput(output!)), parameters)
    const onLayer2 = new CborWriter().map(2).uint(0).bytes(output!.address).uint(1).uint(1n).toBytes()
    expect(onLayer1).toBeGreaterThan(minimumLovelace(decodeTransactionOutput(onLayer2), parameters))
    expect(blake2b256(onLayer2)).toHaveLength(32)
  })
})
