import { CborWriter, concatBytes, fromHex } from '@ratatosk/cbor'
import { blake2b256, decodeTransaction, encodeOutputReference, scriptIntegrityHash } from '@ratatosk/ledger'
import type { TestKey } from '../../keys.js'
import type { Draw } from '../draw.js'
import { looseEncoder } from '../loose-bodies.js'
import { rules } from '../transaction/transactions.js'
import type { Plutus } from '../witness/witnessed.js'
import { anyOf, type Held, type OutputPlan, type Tokens } from './outputs.js'
import { hashOfLock, type Native } from './scripts.js'

type Encoder = ReturnType<typeof looseEncoder>

function encodeTokens({ bytes, map, uint }: Encoder, tokens: Tokens): Uint8Array {
  const byPolicy = new Map<string, [Uint8Array, Uint8Array][]>()
  for (const [unit, quantity] of tokens) {
    const policy = unit.slice(0, 56)
    const amount = quantity < 0n ? new CborWriter().int(quantity).toBytes() : uint(quantity)
    byPolicy.set(policy, [...(byPolicy.get(policy) ?? []), [bytes(fromHex(unit.slice(56))), amount]])
  }
  return map(Array.from(byPolicy, ([policy, own]) => [bytes(fromHex(policy)), map(own)] as const))
}

const languageNumber = { native: 0, PlutusV1: 1, PlutusV2: 2, PlutusV3: 3 } as const

export function encodeOutput(encoder: Encoder, draw: Draw, plan: OutputPlan): Uint8Array {
  const { bytes, array, map, tag, uint } = encoder
  const { lock, lovelace, tokens, datum, reference } = plan
  // Without a stake part, with that of a key, or with that of a script.
  const stake = draw(3)
  const header = ('language' in lock ? 0x10 : 0) + [0x60, 0x00, 0x20][stake]!
  const rest = stake === 0 ? new Uint8Array() : new Uint8Array(28).fill(draw(256))
  const address = bytes(concatBytes(Uint8Array.of(header), hashOfLock(lock), rest))
  const value = tokens.size === 0 ? uint(lovelace) : array([uint(lovelace), encodeTokens(encoder, tokens)])
  const hash = datum && !datum.inline ? bytes(blake2b256(datum.bytes)) : undefined
  if (!reference && !datum?.inline && draw(2) === 0) return array([address, value, ...(hash ? [hash] : [])])
  const fields: [Uint8Array, Uint8Array][] = [
    [uint(0), address],
    [uint(1), value],
  ]
  if (hash) fields.push([uint(2), array([uint(0), hash])])
  else if (datum) fields.push([uint(2), array([uint(1), tag(24, bytes(datum.bytes))])])
  if (reference) {
    const script = reference.language === 'native' ? reference.bytes : bytes(reference.bytes)
    fields.push([uint(3), tag(24, bytes(array([uint(languageNumber[reference.language]), script])))])
  }
  return map(draw(4) === 3 ? fields.reverse() : fields)
}

export interface Plan {
  readonly inputs: readonly Held[]
  readonly referenceInputs: readonly Held[]
  readonly outputs: readonly OutputPlan[]
  readonly fee: bigint
  readonly mint: Tokens
  readonly withdrawals: readonly (Plutus | Native)[]
  readonly required: readonly TestKey[]
  readonly collateral?: {
    readonly inputs: readonly Held[]
    readonly returned?: OutputPlan
    readonly total?: bigint
  }
  readonly validFrom?: bigint
  readonly validTo?: bigint
  readonly namesNetwork: boolean
  readonly metadata?: Uint8Array
  readonly keys: readonly TestKey[]
  readonly scripts: readonly (Plutus | Native)[]
  readonly datums: readonly Uint8Array[]
  readonly redeemers: readonly (readonly [purpose: number, index: number])[]
  readonly languages: readonly Plutus['language'][]
}

const fieldOfLanguage = { native: 1, PlutusV1: 3, PlutusV2: 6, PlutusV3: 7 } as const

/** Encodes and signs a transaction. The same draws give the same encoding. */
export function encode(plan: Plan, draw: Draw): { cbor: Uint8Array; id: Uint8Array; outputs: Uint8Array[] } {
  const encoder = looseEncoder(draw, false)
  const { uint, bytes, array, map, set } = encoder
  type Field = readonly [number, Uint8Array]
  const fields = (entries: readonly Field[]) => {
    const encoded = entries.map(([key, value]) => [uint(key), value] as const)
    return map(draw(4) === 3 ? encoded.reverse() : encoded)
  }
  const references = (all: readonly Held[]) =>
    set(all.map(({ reference }) => encodeOutputReference(reference)))
  const account = (script: Plutus | Native) => bytes(Uint8Array.of(0xf0, ...hashOfLock(script)))
  const outputs = plan.outputs.map((output) => encodeOutput(encoder, draw, output))
  const { collateral, metadata } = plan
  const body: Field[] = [
    [0, references(plan.inputs)],
    [1, array(outputs)],
    [2, uint(plan.fee)],
  ]
  if (plan.validTo !== undefined) body.push([3, uint(plan.validTo)])
  if (plan.withdrawals.length > 0)
    body.push([5, map(plan.withdrawals.map((script) => [account(script), uint(0)] as const))])
  if (metadata) body.push([7, bytes(blake2b256(metadata))])
  if (plan.validFrom !== undefined) body.push([8, uint(plan.validFrom)])
  if (plan.mint.size > 0) body.push([9, encodeTokens(encoder, plan.mint)])
  if (collateral) body.push([13, references(collateral.inputs)])
  if (plan.required.length > 0) body.push([14, set(plan.required.map(({ hash }) => bytes(hash)))])
  if (plan.namesNetwork) body.push([15, uint(0)])
  if (collateral?.returned) body.push([16, encodeOutput(encoder, draw, collateral.returned)])
  if (collateral?.total !== undefined) body.push([17, uint(collateral.total)])
  if (plan.referenceInputs.length > 0) body.push([18, references(plan.referenceInputs)])

  const witnesses: Field[] = []
  for (const [language, field] of Object.entries(fieldOfLanguage)) {
    const own = plan.scripts.filter((script) => script.language === language)
    const encoded = own.map((script) => (language === 'native' ? script.bytes : bytes(script.bytes)))
    if (own.length > 0) witnesses.push([field, set(encoded)])
  }
  if (plan.datums.length > 0) witnesses.push([4, set(plan.datums)])
  if (plan.redeemers.length > 0) {
    const units = () => array([uint(5000 + draw(2000)), uint(5_000_000 + draw(2 ** 20))], true)
    const data = () => anyOf([uint(42), array([bytes(new Uint8Array(draw(60))), uint(draw(2 ** 30))])], draw)
    const entries = plan.redeemers.map(
      ([purpose, index]) => [uint(purpose), uint(index), data(), units()] as const,
    )
    witnesses.push([
      5,
      draw(2) === 0
        ? array(entries.map((entry) => array([...entry])))
        : map(
            entries.map(([purpose, index, ...rest]) => [array([purpose, index]), array(rest, true)] as const),
          ),
    ])
  }
  const framed = (body: Uint8Array, witnesses: Uint8Array) =>
    concatBytes(Uint8Array.of(0x84), body, witnesses, Uint8Array.of(0xf5), metadata ?? Uint8Array.of(0xf6))
  const unsigned = decodeTransaction(framed(fields(body), fields(witnesses)))
  const dataHash = scriptIntegrityHash(unsigned, new Set(plan.languages), rules.parameters)
  if (dataHash) body.push([11, bytes(dataHash)])
  const bodyBytes = fields(body)
  const id = blake2b256(bodyBytes)
  const signed = plan.keys.map((key) => array([bytes(key.publicKey), bytes(key.sign(id))], true))
  if (signed.length > 0) witnesses.unshift([0, set(signed)])
  return { id, outputs, cbor: framed(bodyBytes, fields(witnesses)) }
}
