import { BytesSet, CborWriter, toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeNativeScript,
  decodeTransaction,
  decodeTransactionOutput,
  type OutputReference,
  type Script,
  satisfiesNativeScript,
} from '@ratatosk/ledger'
import type { ScriptNeed, SignatureNeed, WitnessFraudProof } from '@ratatosk/protocol/fraud'
import { type TestKey, testKey } from '../../transaction.js'
import { blockOf, type Entries, hexOf, payment, type TestBlock } from '../blocks.js'
import type { Draw } from '../draw.js'
import { outputIn, prove, spentIn } from './lies.js'
import {
  accountOf,
  arrayOutput,
  hashOf,
  hashOfNative,
  keyAddressOf,
  native,
  outputWith,
  type Plutus,
  type WitnessedDraft,
  witnessed,
} from './story.js'

const keys = Array.from({ length: 6 }, (_, index) => testKey(`signer ${index}`))
const plutusScripts: readonly Plutus[] = (['PlutusV1', 'PlutusV2', 'PlutusV3'] as const).flatMap((language) =>
  [1, 2].map((byte) => ({ language, bytes: new Uint8Array(20 + byte).fill(byte) })),
)
const datums = Array.from({ length: 4 }, (_, index) => new CborWriter().uint(100 + index).toBytes())

/** A native script of any shape. */
export function anyScript(draw: Draw, depth: number, of: readonly TestKey[] = keys): Uint8Array {
  const parts = () => Array.from({ length: draw(4) }, () => anyScript(draw, depth - 1, of))
  switch (depth === 0 ? draw(3) : draw(6)) {
    case 0:
      return native.signature(of[draw(of.length)]!.hash)
    case 1:
      return native.from(draw(400))
    case 2:
      return native.until(draw(400))
    case 3:
      return native.all(...parts())
    case 4:
      return native.any(...parts())
    default:
      return native.atLeast(draw(5) - 1, ...parts())
  }
}

/** A draft with what its scripts and inputs need, and the outputs that it spends or refers to. */
export interface HonestDraft {
  readonly draft: WitnessedDraft
  readonly before: Entries
}

/** A transaction with every witness it needs; `from`, its first output's index, is unique in a block. */
export function honestDraft(draw: Draw, from: number): HonestDraft {
  let next = from
  const before: Entries = new Map()
  const coin = (output: Uint8Array): OutputReference => {
    const reference = { transactionId: new Uint8Array(32).fill(0xaa), index: next++ * 7 }
    before.set(hexOf(reference), output)
    return reference
  }
  const validity = {
    ...(draw(3) > 0 && { validFrom: 100 + draw(100) }),
    ...(draw(3) > 0 && { validTo: 201 + draw(100) }),
  }
  const signers = new Set(keys.filter(() => draw(3) === 0))
  const interval = {
    ...(validity.validFrom !== undefined && { invalidBefore: BigInt(validity.validFrom) }),
    ...(validity.validTo !== undefined && { invalidHereafter: BigInt(validity.validTo) }),
  }
  const satisfied = (): Uint8Array => {
    const script = anyScript(draw, 2)
    const signed = new BytesSet([...signers].map(({ hash }) => hash))
    const { script: read } = decodeNativeScript(script)
    return satisfiesNativeScript(read, signed, interval) ? script : native.any(script, native.all())
  }
  const witnessedNative: Uint8Array[] = []
  const witnessedPlutus = new Set<Plutus>()
  const referenceInputs: OutputReference[] = []
  const running = new Set<Plutus>()
  /** Puts a script into the witness set or an output, once. */
  const provide = (language: number, script: Plutus | Uint8Array) => {
    if (!(script instanceof Uint8Array) && running.has(script)) return
    const isWitness = draw(2) === 0
    if (!(script instanceof Uint8Array)) running.add(script)
    if (isWitness) {
      if (script instanceof Uint8Array) witnessedNative.push(script)
      else witnessedPlutus.add(script)
      return
    }
    const writer = new CborWriter(128).array(2).uint(language)
    if (script instanceof Uint8Array) writer.raw(script)
    else writer.bytes(script.bytes)
    referenceInputs.push(
      coin(outputWith({ address: keyAddressOf(keys[0]!.hash), reference: writer.toBytes() })),
    )
  }
  const provideNative = () => {
    // A number below 0 is reached at once. It makes the script another than those before.
    const own = native.all(satisfied(), native.atLeast(-1 - draw(2 ** 30)))
    provide(0, own)
    return hashOfNative(own)
  }
  const providePlutus = () => {
    const script = plutusScripts[draw(plutusScripts.length)]!
    provide(languages.indexOf(script.language) + 1, script)
    return script
  }
  const inputs: { reference: OutputReference; script: boolean }[] = []
  const needed = new Set<Uint8Array>()
  const form = (output: Parameters<typeof outputWith>[0]) =>
    draw(2) === 0 ? outputWith(output) : arrayOutput(output)
  for (let count = 1 + draw(3); count > 0; count--) {
    const kind = draw(3)
    if (kind === 0) {
      const key = keys[draw(keys.length)]!
      signers.add(key)
      inputs.push({ reference: coin(form({ address: keyAddressOf(key.hash) })), script: false })
    } else if (kind === 1) {
      const address = Uint8Array.of(0x70, ...provideNative())
      inputs.push({ reference: coin(form({ address })), script: false })
    } else {
      const address = Uint8Array.of(0x70, ...hashOf(providePlutus()))
      const datum = datums[draw(datums.length)]!
      needed.add(datum)
      inputs.push({ reference: coin(form({ address, datumHash: blake2b256(datum) })), script: true })
    }
  }
  const policies = new Map<string, { policy: Uint8Array; script: boolean }>()
  for (let count = draw(3); count > 0; count--) {
    const script = draw(2) === 0
    const policy = script ? hashOf(providePlutus()) : provideNative()
    policies.set(toHex(policy), { policy, script })
  }
  const accounts = new Map<string, Uint8Array>()
  for (let count = draw(2); count > 0; count--) {
    const account = accountOf(providePlutus())
    accounts.set(toHex(account), account)
  }
  const place = (all: readonly string[], own: string) => all.toSorted().indexOf(own)
  const names = inputs.map(({ reference }) => hexOf(reference))
  const shuffled = inputs.toSorted(() => draw(3) - 1)
  const redeemers = [
    ...shuffled
      .filter(({ script }) => script)
      .map(({ reference }) => [0, place(names, hexOf(reference))] as const),
    ...[...policies.values()]
      .filter(({ script }) => script)
      .map(({ policy }) => [1, place([...policies.keys()], toHex(policy))] as const),
    ...[...accounts.keys()].map((account) => [3, place([...accounts.keys()], account)] as const),
  ]
  const required = keys.filter(() => draw(5) === 0)
  for (const key of required) signers.add(key)
  return {
    before,
    draft: {
      inputs: shuffled.map(({ reference }) => reference),
      referenceInputs,
      outputs: [payment(draw(200), 2_000_000n)],
      mint: [...policies.values()].map(({ policy }) => policy),
      withdrawals: [...accounts.values()],
      required: required.map(({ hash }) => hash),
      ...validity,
      signers: [...signers],
      bootstrap: draw(4) === 0 ? [keys[0]!] : [],
      nativeScripts: witnessedNative,
      plutus: [...witnessedPlutus],
      datums: [...needed],
      redeemers,
      languages: [...new Set([...running].map(({ language }) => language))],
    },
  }
}

const languages: readonly Script['language'][] = ['PlutusV1', 'PlutusV2', 'PlutusV3']

/** The block of drafts, each encoded at random. */
export function witnessedBlock(drafts: readonly HonestDraft[], draw: Draw): TestBlock {
  const outputs: Entries = new Map(drafts.flatMap(({ before }) => [...before]))
  return blockOf(
    drafts.map(({ draft }) => witnessed(draft, draw).cbor),
    outputs,
  )
}

/** A fraud that a proof states; the proof is made when it is wanted. */
export interface StatedFraud {
  readonly fraud: WitnessFraudProof['fraud']
  prove(): WitnessFraudProof
}

/** Every proof about a block's witnesses from its true commitments: at each place, and beyond. */
export function* witnessProofsOf(
  block: TestBlock,
  signers: readonly TestKey[] = keys,
): Generator<StatedFraud, void> {
  const stated = (fraud: WitnessFraudProof['fraud'], make: (block: TestBlock) => WitnessFraudProof) => ({
    fraud,
    prove: () => make(block),
  })
  for (const [position, cbor] of block.transactions.entries()) {
    const { body, witnesses } = decodeTransaction(cbor)
    const { keyWitnesses, bootstrapWitnesses } = witnesses
    for (let index = -1; index <= keyWitnesses.length; index++)
      yield stated('invalidSignature', prove.invalidSignature(position, index))
    for (let index = -1; index <= bootstrapWitnesses.length; index++)
      yield stated('invalidSignature', prove.invalidSignature(position, index, true))
    const spent = body.inputs.map((_, index) => spentIn(block, position, index))
    const hashes = [...body.requiredSigners, ...signers.map(({ hash }) => hash)]
    const signatures: SignatureNeed[] = [
      ...spent,
      ...hashes.map((keyHash) => ({ kind: 'required', keyHash }) as const),
    ]
    for (const need of signatures)
      yield stated(
        'missingSignature',
        prove.missingSignature(position, () => need),
      )
    const scripts = [
      ...witnesses.scripts,
      ...[...body.inputs, ...body.referenceInputs].flatMap((reference) => scriptIn(block, reference)),
    ]
    const needs: ScriptNeed[] = [
      ...spent,
      ...[...body.mint.keys()].map(
        (policy) => ({ kind: 'minted', policy: Buffer.from(policy, 'hex') }) as const,
      ),
      ...scripts.map(({ hash }) => ({ kind: 'minted', policy: hash }) as const),
      ...body.withdrawals.map(({ account }) => ({ kind: 'withdrawn', account: account.bytes }) as const),
      ...scripts.map(({ hash }) => ({ kind: 'withdrawn', account: Uint8Array.of(0xf0, ...hash) }) as const),
    ]
    for (const need of needs) {
      yield stated(
        'scriptMissing',
        prove.scriptMissing(position, () => need),
      )
      for (const { bytes, language } of scripts) {
        for (const fraud of ['nativeScriptFails', 'unreadableScript'] as const)
          yield stated(
            fraud,
            prove[fraud](position, () => need, bytes),
          )
        yield stated(
          'redeemerMissing',
          prove.redeemerMissing(position, () => need, { bytes, language: language as never }),
        )
      }
    }
    for (const index of body.inputs.keys()) yield stated('datumMissing', prove.datumMissing(position, index))
    yield stated('wrongScriptDataHash', prove.wrongScriptDataHash(position))
  }
}

function scriptIn(block: TestBlock, reference: OutputReference): Script[] {
  const { referenceScript } = decodeTransactionOutput(outputIn(block, reference))
  return referenceScript ? [referenceScript] : []
}
