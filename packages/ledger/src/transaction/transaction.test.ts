import * as cml from '@dcspark/cardano-multiplatform-lib-nodejs'
import * as csl from '@emurgo/cardano-serialization-lib-nodejs'
import { isWellFormed, toHex } from '@ratatosk/cbor'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blake2b256 } from '#crypto'
import { decodeTransaction, transactionIdOf } from './decode.js'

/** The content of a transaction that both libraries build. */
interface Plan {
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

type AssetPlan = readonly [policy: Uint8Array, name: Uint8Array, quantity: bigint]

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

const plan: fc.Arbitrary<Plan> = fc.record({
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

describe('other libraries', () => {
  const settings = { numRuns: 100, seed: 0 }

  /** Compares our decoding of a built transaction with the plan and with the library's own hash. */
  function expectPlan(bytes: Uint8Array, hash: string, expected: Plan): void {
    expect(isWellFormed(bytes)).toBe(true)
    const { id, body, witnesses, auxiliaryData } = decodeTransaction(bytes)
    expect(toHex(id)).toBe(hash)
    const references = body.inputs.map(({ transactionId, index }) => `${toHex(transactionId)} ${index}`)
    expect(references.sort()).toEqual(
      expected.inputs.map(([bytes32, index]) => `${toHex(bytes32)} ${index}`).sort(),
    )
    body.outputs.forEach((output, index) => {
      const planned = expected.outputs[index]!
      expect(output.address.bytes).toEqual(planned.address)
      expect(output.value.lovelace).toBe(planned.lovelace)
      expect(flat(output.value.assets)).toEqual(planned.assets.map(flatAsset).sort())
      const kind =
        planned.datum === undefined ? 'none' : typeof planned.datum === 'bigint' ? 'inline' : 'hash'
      expect(output.datum.kind).toBe(kind)
    })
    expect(body.outputs).toHaveLength(expected.outputs.length)
    expect(body.fee).toBe(expected.fee)
    expect(body.validityInterval.invalidBefore).toBe(expected.invalidBefore)
    expect(body.validityInterval.invalidHereafter).toBe(expected.invalidHereafter)
    expect(flat(body.mint)).toEqual(expected.mint.map(flatAsset).sort())
    expect(body.requiredSigners.map(toHex).sort()).toEqual(expected.signers.map(toHex).sort())
    expect(body.networkId).toBe(expected.networkId)
    expect(body.scriptDataHash).toEqual(expected.dataHash)
    expect(body.treasuryDonation).toBe(expected.donation ?? 0n)
    expect(witnesses.keyWitnesses).toHaveLength(expected.witnesses)
    expect(auxiliaryData !== undefined).toBe(expected.metadata.size > 0)
  }

  const flatAsset = ([policy, name, quantity]: AssetPlan): string =>
    `${toHex(policy)} ${toHex(name)} ${quantity}`
  const flat = (held: ReadonlyMap<string, ReadonlyMap<string, bigint>>): string[] =>
    [...held]
      .flatMap(([policy, names]) => [...names].map(([name, quantity]) => `${policy} ${name} ${quantity}`))
      .sort()

  describe.each([
    ['CML', buildWithCml],
    ['CSL', buildWithCsl],
  ] as const)('a transaction that %s built', (_, build) => {
    it('is decoded to the same hash and content', () => {
      fc.assert(
        fc.property(plan, (wanted) => {
          const { bytes, hash } = build(wanted)
          expectPlan(bytes, hash, wanted)
        }),
        settings,
      )
    })
  })
})

describe('transaction id', () => {
  const bytes = (hex: string) => Buffer.from(hex, 'hex')

  describe('transactionIdOf', () => {
    it.each([
      ['a definite array of four', '84a0a0f5f6', 'a0'],
      ['an indefinite array', '9fa0a0f5f6ff', 'a0'],
      ['a body with a longer head', '84b800a0f5f6', 'b800'],
    ])('hashes the bytes of the body as they are: %s', (_form, hex, body) => {
      expect(transactionIdOf(bytes(hex))).toEqual(blake2b256(bytes(body)))
    })

    it.each(['', '40', '01', 'f6', '83a0a0f5', '8440a0f5f6', '84', '84a10059012c', 'a0', 'ff', '9f'])(
      'answers undefined for what is not shaped like a transaction: %s',
      (hex) => {
        expect(transactionIdOf(bytes(hex))).toBeUndefined()
      },
    )
  })
})

function buildWithCml(wanted: Plan): { bytes: Uint8Array; hash: string } {
  const inputs = cml.TransactionInputList.new()
  for (const [id, index] of wanted.inputs) {
    inputs.add(cml.TransactionInput.new(cml.TransactionHash.from_raw_bytes(id), BigInt(index)))
  }
  const outputs = cml.TransactionOutputList.new()
  for (const planned of wanted.outputs) {
    const held = cml.MultiAsset.new()
    for (const [policy, name, quantity] of planned.assets) {
      held.set(cml.ScriptHash.from_raw_bytes(policy), cml.AssetName.from_raw_bytes(name), quantity)
    }
    const receiver = cml.Address.from_raw_bytes(planned.address)
    const output = cml.ConwayFormatTxOut.new(receiver, cml.Value.new(planned.lovelace, held))
    if (typeof planned.datum === 'bigint') {
      const integer = cml.BigInteger.from_str(planned.datum.toString())
      output.set_datum_option(cml.DatumOption.new_datum(cml.PlutusData.new_integer(integer)))
    } else if (planned.datum !== undefined) {
      output.set_datum_option(cml.DatumOption.new_hash(cml.DatumHash.from_raw_bytes(planned.datum)))
    }
    outputs.add(cml.TransactionOutput.new_conway_format_tx_out(output))
  }
  const body = cml.TransactionBody.new(inputs, outputs, wanted.fee)
  if (wanted.invalidBefore !== undefined) body.set_validity_interval_start(wanted.invalidBefore)
  if (wanted.invalidHereafter !== undefined) body.set_ttl(wanted.invalidHereafter)
  if (wanted.mint.length > 0) {
    const mint = cml.Mint.new()
    for (const [policy, name, quantity] of wanted.mint) {
      mint.set(cml.ScriptHash.from_raw_bytes(policy), cml.AssetName.from_raw_bytes(name), quantity)
    }
    body.set_mint(mint)
  }
  if (wanted.signers.length > 0) {
    const signers = cml.Ed25519KeyHashList.new()
    for (const signer of wanted.signers) signers.add(cml.Ed25519KeyHash.from_raw_bytes(signer))
    body.set_required_signers(signers)
  }
  if (wanted.networkId !== undefined) body.set_network_id(cml.NetworkId.new(BigInt(wanted.networkId)))
  if (wanted.dataHash) body.set_script_data_hash(cml.ScriptDataHash.from_raw_bytes(wanted.dataHash))
  if (wanted.donation !== undefined) body.set_donation(wanted.donation)
  const hash = cml.hash_transaction(body)
  const witnesses = cml.TransactionWitnessSet.new()
  if (wanted.witnesses > 0) {
    const list = cml.VkeywitnessList.new()
    for (let i = 0; i < wanted.witnesses; i++) {
      list.add(cml.make_vkey_witness(hash, cml.PrivateKey.from_normal_bytes(new Uint8Array(32).fill(i + 1))))
    }
    witnesses.set_vkeywitnesses(list)
  }
  let auxiliaryData: cml.AuxiliaryData | undefined
  if (wanted.metadata.size > 0) {
    const metadata = cml.Metadata.new()
    for (const [label, text] of wanted.metadata) metadata.set(label, cml.TransactionMetadatum.new_text(text))
    auxiliaryData = cml.AuxiliaryData.new_shelley(metadata)
  }
  return {
    bytes: cml.Transaction.new(body, witnesses, true, auxiliaryData).to_cbor_bytes(),
    hash: hash.to_hex(),
  }
}

function buildWithCsl(wanted: Plan): { bytes: Uint8Array; hash: string } {
  const number = (value: bigint): csl.BigNum => csl.BigNum.from_str(value.toString())
  const inputs = csl.TransactionInputs.new()
  for (const [id, index] of wanted.inputs) {
    inputs.add(csl.TransactionInput.new(csl.TransactionHash.from_bytes(id), index))
  }
  const outputs = csl.TransactionOutputs.new()
  for (const planned of wanted.outputs) {
    const held = csl.MultiAsset.new()
    for (const [policy, name, quantity] of planned.assets) {
      held.set_asset(csl.ScriptHash.from_bytes(policy), csl.AssetName.new(name), number(quantity))
    }
    const value = csl.Value.new(number(planned.lovelace))
    if (planned.assets.length > 0) value.set_multiasset(held)
    const output = csl.TransactionOutput.new(csl.Address.from_bytes(planned.address), value)
    if (typeof planned.datum === 'bigint') {
      output.set_plutus_data(csl.PlutusData.new_integer(csl.BigInt.from_str(planned.datum.toString())))
    } else if (planned.datum !== undefined) {
      output.set_data_hash(csl.DataHash.from_bytes(planned.datum))
    }
    outputs.add(output)
  }
  const body = csl.TransactionBody.new_tx_body(inputs, outputs, number(wanted.fee))
  if (wanted.invalidBefore !== undefined)
    body.set_validity_start_interval_bignum(number(wanted.invalidBefore))
  if (wanted.invalidHereafter !== undefined) body.set_ttl(number(wanted.invalidHereafter))
  if (wanted.mint.length > 0) {
    const mint = csl.Mint.new()
    for (const planned of byPolicy(wanted.mint).values()) {
      const names = csl.MintAssets.new()
      for (const [, name, quantity] of planned) {
        names.insert(csl.AssetName.new(name), csl.Int.from_str(quantity.toString()))
      }
      mint.insert(csl.ScriptHash.from_bytes(planned[0]![0]), names)
    }
    body.set_mint(mint)
  }
  if (wanted.signers.length > 0) {
    const signers = csl.Ed25519KeyHashes.new()
    for (const signer of wanted.signers) signers.add(csl.Ed25519KeyHash.from_bytes(signer))
    body.set_required_signers(signers)
  }
  if (wanted.networkId !== undefined) {
    body.set_network_id(wanted.networkId === 0 ? csl.NetworkId.testnet() : csl.NetworkId.mainnet())
  }
  if (wanted.dataHash) body.set_script_data_hash(csl.ScriptDataHash.from_bytes(wanted.dataHash))
  if (wanted.donation !== undefined) body.set_donation(number(wanted.donation))
  const hash = csl.FixedTransaction.new_from_body_bytes(body.to_bytes()).transaction_hash()
  const witnesses = csl.TransactionWitnessSet.new()
  if (wanted.witnesses > 0) {
    const list = csl.Vkeywitnesses.new()
    for (let i = 0; i < wanted.witnesses; i++) {
      list.add(csl.make_vkey_witness(hash, csl.PrivateKey.from_normal_bytes(new Uint8Array(32).fill(i + 1))))
    }
    witnesses.set_vkeys(list)
  }
  let auxiliaryData: csl.AuxiliaryData | undefined
  if (wanted.metadata.size > 0) {
    const metadata = csl.GeneralTransactionMetadata.new()
    for (const [label, text] of wanted.metadata)
      metadata.insert(number(label), csl.TransactionMetadatum.new_text(text))
    auxiliaryData = csl.AuxiliaryData.new()
    auxiliaryData.set_metadata(metadata)
  }
  return { bytes: csl.Transaction.new(body, witnesses, auxiliaryData).to_bytes(), hash: hash.to_hex() }
}

function byPolicy(planned: readonly AssetPlan[]): Map<string, AssetPlan[]> {
  const policies = new Map<string, AssetPlan[]>()
  for (const asset of planned)
    policies.set(toHex(asset[0]), [...(policies.get(toHex(asset[0])) ?? []), asset])
  return policies
}
