import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { CborWriter, compareBytes, toHex } from '@ratatosk/cbor'
import { blake2b224 } from '@ratatosk/ledger'
import type { PlutusScript } from '../scripts.js'

export interface TestKey {
  readonly publicKey: Uint8Array
  readonly hash: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

/** The DER header before the seed of an Ed25519 private key in PKCS #8 (RFC 8410). */
const privateKeyHead = Buffer.from('302e020100300506032b657004220420', 'hex')

export function testKey(name: string): TestKey {
  const seed = createHash('sha256').update(name).digest()
  const key: KeyObject = createPrivateKey({
    key: Buffer.concat([privateKeyHead, seed]),
    format: 'der',
    type: 'pkcs8',
  })
  const exported = createPublicKey(key).export({ format: 'der', type: 'spki' })
  const publicKey = new Uint8Array(exported.subarray(-32))
  return {
    publicKey,
    hash: blake2b224(publicKey),
    sign: (message) => new Uint8Array(sign(null, message, key)),
  }
}

export interface TestOutput {
  readonly address: Uint8Array
  readonly lovelace: bigint
  readonly tokens?: readonly Token[]
  /** CBOR of an inline datum. */
  readonly datum?: Uint8Array
  readonly datumHash?: Uint8Array
  readonly script?: PlutusScript
}

export interface Token {
  readonly policy: Uint8Array
  readonly name: Uint8Array
  readonly quantity: bigint
}

export interface TestInput {
  /** The transaction id repeats this byte, so that inputs sort by it. */
  readonly id: number
  readonly output: TestOutput
  /** CBOR; present if a script guards the output. */
  readonly redeemer?: Uint8Array
}

/** The parts of a transaction that scripts see. */
export interface TestTransaction {
  readonly inputs: readonly TestInput[]
  readonly referenceInputs: readonly TestInput[]
  readonly outputs: readonly TestOutput[]
  readonly mint: readonly Token[]
  /** CBOR of the redeemers by policy. */
  readonly mintRedeemers: readonly { readonly policy: Uint8Array; readonly redeemer: Uint8Array }[]
  readonly signatories: readonly Uint8Array[]
  /** CBOR of the native scripts in the witness set. */
  readonly nativeScripts?: readonly Uint8Array[]
  /** Slots. */
  readonly validFrom?: bigint
  readonly validTo?: bigint
}

/** The parts that depend on the scripts' execution units. */
export interface Finish {
  readonly fee?: bigint
  readonly scriptDataHash?: Uint8Array
  readonly collateral?: readonly TestInput[]
  readonly keyWitnesses?: Uint8Array
  /** By redeemer, in ledger order. */
  readonly units?: readonly { readonly memory: bigint; readonly steps: bigint }[]
}

const spendTag = 0
const mintTag = 1
const plutusV3 = 3

export function encodeTransaction(transaction: TestTransaction, finish: Finish = {}): Uint8Array {
  const writer = new CborWriter(4096).array(4)
  writer.raw(encodeBody(transaction, finish)).raw(encodeWitnesses(transaction, finish))
  return writer.boolean(true).null().toBytes()
}

export const encodeInput = ({ id }: TestInput): Uint8Array =>
  new CborWriter().array(2).bytes(new Uint8Array(32).fill(id)).uint(0).toBytes()

export function encodeBody(transaction: TestTransaction, finish: Finish): Uint8Array {
  const { validFrom, validTo } = transaction
  const fields: [number, (writer: CborWriter) => void][] = [
    [0, (writer) => writeInputs(writer, sorted(transaction.inputs))],
    [
      1,
      (writer) => {
        writer.array(transaction.outputs.length)
        for (const output of transaction.outputs) writer.raw(encodeOutput(output))
      },
    ],
    [2, (writer) => writer.uint(finish.fee ?? 0n)],
  ]
  if (validTo !== undefined) fields.push([3, (writer) => writer.uint(validTo)])
  if (validFrom !== undefined) fields.push([8, (writer) => writer.uint(validFrom)])
  if (transaction.mint.length > 0) fields.push([9, (writer) => writeAssets(writer, transaction.mint)])
  const { scriptDataHash, collateral } = finish
  if (scriptDataHash) fields.push([11, (writer) => writer.bytes(scriptDataHash)])
  if (collateral) fields.push([13, (writer) => writeInputs(writer, collateral)])
  if (transaction.signatories.length > 0)
    fields.push([
      14,
      (writer) => {
        writer.tag(258).array(transaction.signatories.length)
        for (const hash of transaction.signatories) writer.bytes(hash)
      },
    ])
  if (transaction.referenceInputs.length > 0)
    fields.push([18, (writer) => writeInputs(writer, sorted(transaction.referenceInputs))])
  const writer = new CborWriter(4096).map(fields.length)
  for (const [key, write] of fields) {
    writer.uint(key)
    write(writer)
  }
  return writer.toBytes()
}

function encodeWitnesses(transaction: TestTransaction, { keyWitnesses, units }: Finish): Uint8Array {
  const { nativeScripts = [] } = transaction
  const writer = new CborWriter(4096).map(1 + (keyWitnesses ? 1 : 0) + (nativeScripts.length > 0 ? 1 : 0))
  if (keyWitnesses) writer.uint(0).raw(keyWitnesses)
  if (nativeScripts.length > 0) {
    writer.uint(1).tag(258).array(nativeScripts.length)
    for (const script of nativeScripts) writer.raw(script)
  }
  return writer.uint(5).raw(encodeRedeemers(transaction, units)).toBytes()
}

function encodeRedeemers(transaction: TestTransaction, units: Finish['units']): Uint8Array {
  const redeemers: { tag: number; index: number; data: Uint8Array }[] = []
  sorted(transaction.inputs).forEach(({ redeemer }, index) => {
    if (redeemer) redeemers.push({ tag: spendTag, index, data: redeemer })
  })
  const policies = [...new Set(transaction.mint.map(({ policy }) => toHex(policy)))].sort()
  for (const { policy, redeemer } of transaction.mintRedeemers) {
    redeemers.push({ tag: mintTag, index: policies.indexOf(toHex(policy)), data: redeemer })
  }
  redeemers.sort((a, b) => a.tag - b.tag || a.index - b.index)
  const writer = new CborWriter().map(redeemers.length)
  redeemers.forEach(({ tag, index, data }, place) => {
    const { memory, steps } = units?.[place] ?? { memory: 14_000_000n, steps: 10_000_000_000n }
    writer.array(2).uint(tag).uint(index).array(2).raw(data).array(2).uint(memory).uint(steps)
  })
  return writer.toBytes()
}

export function encodeOutput({
  address,
  lovelace,
  tokens = [],
  datum,
  datumHash,
  script,
}: TestOutput): Uint8Array {
  const size = 2 + (datum || datumHash ? 1 : 0) + (script ? 1 : 0)
  const writer = new CborWriter().map(size).uint(0).bytes(address).uint(1)
  if (tokens.length === 0) writer.uint(lovelace)
  else writeAssets(writer.array(2).uint(lovelace), tokens)
  if (datum) writer.uint(2).array(2).uint(1).tag(24).bytes(datum)
  else if (datumHash) writer.uint(2).array(2).uint(0).bytes(datumHash)
  if (script) {
    const reference = new CborWriter().array(2).uint(plutusV3).bytes(script.bytes).toBytes()
    writer.uint(3).tag(24).bytes(reference)
  }
  return writer.toBytes()
}

function writeInputs(writer: CborWriter, inputs: readonly TestInput[]): void {
  writer.tag(258).array(inputs.length)
  for (const input of inputs) writer.raw(encodeInput(input))
}

function writeAssets(writer: CborWriter, tokens: readonly Token[]): void {
  const policies = new Map<string, Token[]>()
  for (const token of tokens) {
    const key = toHex(token.policy)
    policies.set(key, [...(policies.get(key) ?? []), token])
  }
  const ordered = [...policies.entries()].sort(([a], [b]) => (a < b ? -1 : 1))
  writer.map(ordered.length)
  for (const [, group] of ordered) {
    writer.bytes(group[0]!.policy).map(group.length)
    const names = [...group].sort((a, b) => a.name.length - b.name.length || compareBytes(a.name, b.name))
    for (const { name, quantity } of names) writer.bytes(name).int(quantity)
  }
}

const sorted = (inputs: readonly TestInput[]): TestInput[] => [...inputs].sort((a, b) => a.id - b.id)
