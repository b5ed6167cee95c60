import { createHash } from 'node:crypto'
import { CborWriter, fromHex } from '@ratatosk/cbor'
import sodium from 'sodium-native'
import { blake2b224, blake2b256 } from '#crypto'

/** A transaction under construction: encoded fields by their number in the CDDL. */
export interface Draft {
  readonly body: ReadonlyMap<number, Uint8Array>
  readonly witnesses: ReadonlyMap<number, Uint8Array>
  readonly signers: readonly TestKey[]
  readonly isValid: boolean
  readonly auxiliaryData?: Uint8Array
}

export interface TestKey {
  readonly publicKey: Uint8Array
  readonly hash: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

/** A key pair that is the same in every run. */
export function testKey(name: string): TestKey {
  const publicKey = Buffer.alloc(32)
  const secretKey = Buffer.alloc(64)
  sodium.crypto_sign_seed_keypair(publicKey, secretKey, createHash('sha256').update(name).digest())
  return {
    publicKey: new Uint8Array(publicKey),
    hash: blake2b224(publicKey),
    sign(message) {
      const signature = Buffer.alloc(64)
      sodium.crypto_sign_detached(signature, Buffer.from(message), secretKey)
      return new Uint8Array(signature)
    },
  }
}

/** An enterprise address on a test network. */
export function addressOf(hash: Uint8Array, kind: 'key' | 'script' = 'key', networkId = 0): Uint8Array {
  return Uint8Array.of((kind === 'key' ? 0x60 : 0x70) | networkId, ...hash)
}

export interface OutputDraft {
  readonly address: Uint8Array
  readonly lovelace: bigint
  /** policy (28 bytes of this number) → asset name in hex → quantity */
  readonly assets?: readonly (readonly [policy: Uint8Array, name: string, quantity: bigint])[]
  readonly datumHash?: Uint8Array
  readonly inlineDatum?: Uint8Array
  /** `[language, bytes]`, encoded. */
  readonly script?: Uint8Array
}

export function encodeOutput(draft: OutputDraft): Uint8Array {
  const { address, lovelace, assets, datumHash, inlineDatum, script } = draft
  const datum = datumHash ?? inlineDatum
  const writer = new CborWriter()
    .map(2 + (datum ? 1 : 0) + (script ? 1 : 0))
    .uint(0)
    .bytes(address)
    .uint(1)
  if (assets) writer.array(2).uint(lovelace).raw(encodeAssets(assets))
  else writer.uint(lovelace)
  if (datumHash) writer.uint(2).array(2).uint(0).bytes(datumHash)
  else if (inlineDatum) writer.uint(2).array(2).uint(1).tag(24).bytes(inlineDatum)
  if (script) writer.uint(3).tag(24).bytes(script)
  return writer.toBytes()
}

/** One map entry per policy; policies must not repeat. */
export function encodeAssets(assets: NonNullable<OutputDraft['assets']>): Uint8Array {
  const writer = new CborWriter().map(assets.length)
  for (const [policy, name, quantity] of assets)
    writer.bytes(policy).map(1).bytes(fromHex(name)).int(quantity)
  return writer.toBytes()
}

export function encodeInput(transactionId: Uint8Array, index: number): Uint8Array {
  return new CborWriter().array(2).bytes(transactionId).uint(index).toBytes()
}

/** A set, tagged as Conway does. */
export function encodeSet(items: readonly Uint8Array[]): Uint8Array {
  return encodeList(items, new CborWriter().tag(258))
}

export function encodeList(items: readonly Uint8Array[], writer = new CborWriter()): Uint8Array {
  writer.array(items.length)
  for (const item of items) writer.raw(item)
  return writer.toBytes()
}

export function encodeUint(value: bigint | number): Uint8Array {
  return new CborWriter().uint(value).toBytes()
}

export function encodeBytes(value: Uint8Array): Uint8Array {
  return new CborWriter().bytes(value).toBytes()
}

/** The transaction's bytes, signed by the draft's signers. */
export function encodeDraft(draft: Draft): Uint8Array {
  const body = encodeFields(draft.body)
  const id = blake2b256(body)
  const witnesses = new Map(draft.witnesses)
  if (draft.signers.length > 0) {
    witnesses.set(
      0,
      encodeSet(
        draft.signers.map((key) =>
          new CborWriter().array(2).bytes(key.publicKey).bytes(key.sign(id)).toBytes(),
        ),
      ),
    )
  }
  const writer = new CborWriter().array(4).raw(body).raw(encodeFields(witnesses)).boolean(draft.isValid)
  return (draft.auxiliaryData ? writer.raw(draft.auxiliaryData) : writer.null()).toBytes()
}

export function encodeFields(fields: ReadonlyMap<number, Uint8Array>): Uint8Array {
  const writer = new CborWriter().map(fields.size)
  for (const [key, value] of [...fields].sort(([a], [b]) => a - b)) writer.uint(key).raw(value)
  return writer.toBytes()
}

/** The draft with fields replaced, added, or (if undefined) removed. */
export function withFields(
  draft: Draft,
  body: { readonly [key: number]: Uint8Array | undefined },
  witnesses: { readonly [key: number]: Uint8Array | undefined } = {},
): Draft {
  return { ...draft, body: replaced(draft.body, body), witnesses: replaced(draft.witnesses, witnesses) }
}

function replaced(
  fields: ReadonlyMap<number, Uint8Array>,
  changes: { readonly [key: number]: Uint8Array | undefined },
): ReadonlyMap<number, Uint8Array> {
  const result = new Map(fields)
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) result.delete(Number(key))
    else result.set(Number(key), value)
  }
  return result
}
