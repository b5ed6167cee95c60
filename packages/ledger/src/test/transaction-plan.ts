import { toHex } from '@ratatosk/cbor'
import fc from 'fast-check'

/** The content of a transaction that both libraries build. */
export interface Plan {
  readonly inputs: readonly (readonly [id: Uint8Array, index: number])[]
  readonly outputs: readonly OutputPlan[]
  readonly fee: bigint
  readonly invalidBefore: bigint | undefined
  readonly invalidHereafter: bigint | undefined
  readonly mint: readonly AssetPlan[]
  readonly signers: readonly Uint8Array[]
  readonly networkId: 0 | 1 | undefined
  readonly dataHash: Uint8Array | undefined
  readonly donation: bigint | undefined
  readonly witnesses: number
  readonly metadata: ReadonlyMap<bigint, string>
}

export type AssetPlan = readonly [policy: Uint8Array, name: Uint8Array, quantity: bigint]

interface OutputPlan {
  readonly address: Uint8Array
  readonly lovelace: bigint
  readonly assets: readonly AssetPlan[]
  readonly datum: Uint8Array | bigint | undefined
}

const bytesOf = (size: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: size, maxLength: size })
const coin = fc.bigInt({ min: 0n, max: 45n * 10n ** 15n })
const slot = fc.option(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), { nil: undefined })
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined })
const unique = <T>(
  arbitrary: fc.Arbitrary<T>,
  key: (value: T) => string,
  minLength: number,
  maxLength: number,
) => fc.uniqueArray(arbitrary, { minLength, maxLength, selector: key })

const assets = (quantity: fc.Arbitrary<bigint>): fc.Arbitrary<AssetPlan[]> =>
  unique(
    fc.tuple(bytesOf(28), fc.uint8Array({ maxLength: 32 }), quantity),
    ([policy, name]) => `${toHex(policy)} ${toHex(name)}`,
    0,
    4,
  )
const address = fc
  .tuple(fc.constantFrom(0x00, 0x10, 0x20, 0x31, 0x60, 0x71), bytesOf(28), bytesOf(28))
  .map(([header, payment, stake]) => Uint8Array.of(header, ...payment, ...(header < 0x40 ? stake : [])))

export const plan: fc.Arbitrary<Plan> = fc.record({
  inputs: unique(fc.tuple(bytesOf(32), fc.nat(65_535)), ([id, index]) => `${toHex(id)} ${index}`, 1, 5),
  outputs: fc.array(
    fc.record({
      address,
      lovelace: coin,
      assets: assets(fc.bigInt({ min: 1n, max: 2n ** 63n - 1n })),
      datum: optional(fc.oneof(bytesOf(32), fc.bigInt({ min: -(2n ** 90n), max: 2n ** 90n }))),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  fee: coin,
  invalidBefore: slot,
  invalidHereafter: slot,
  mint: assets(
    fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n }).filter((quantity) => quantity !== 0n),
  ),
  signers: unique(bytesOf(28), toHex, 0, 3),
  networkId: optional(fc.constantFrom<0 | 1>(0, 1)),
  dataHash: optional(bytesOf(32)),
  donation: optional(fc.bigInt({ min: 1n, max: 2n ** 60n })),
  witnesses: fc.nat(3),
  metadata: fc
    .array(fc.tuple(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.stringMatching(/^[a-z]{0,64}$/)), {
      maxLength: 3,
    })
    .map((entries) => new Map(entries)),
})
