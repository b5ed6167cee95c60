import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { CborReader, CborWriter } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeTransaction,
  decodeTransactionOutput,
  minimumFee,
  outputReferenceKey,
  parseProtocolParameters,
  scriptIntegrityHash,
  type TransactionOutput,
} from '@ratatosk/ledger'
import { createCekEngine } from '@ratatosk/ledger/plutus'
import {
  encodeBody,
  encodeInput,
  encodeOutput,
  encodeTransaction,
  type Finish,
  type TestInput,
  type TestKey,
  type TestTransaction,
} from './transaction.js'
import { administrator, operator, otherOperator } from './world.js'

interface Units {
  readonly memory: bigint
  readonly steps: bigint
}

export type ScriptRun =
  | { readonly ok: true; readonly units: readonly Units[] }
  | {
      readonly ok: false
      readonly message: string
      /** The last message of the failing script: in an instrumented script, the rule that refused. */
      readonly lastTrace: string | undefined
    }

export type Evaluate = (transaction: TestTransaction) => ScriptRun

const require = createRequire(import.meta.url)

const parametersIn = (file: string): { readonly [name: string]: unknown } =>
  JSON.parse(readFileSync(new URL(`../../../../apps/node/parameters/${file}.json`, import.meta.url), 'utf8'))

/** The parameters of mainnet at ledger version 10: tables of costs use its prices and limits. */
export const parameters = parseProtocolParameters(parametersIn('mainnet'))

/** The same with the version, and the cost models, that the contracts need of layer 1. */
export const layer1Parameters = (() => {
  const { cost_models_raw, protocol_major_ver, protocol_minor_ver } = parametersIn('preprod-11')
  const ofVersion11 = { cost_models_raw, protocol_major_ver, protocol_minor_ver }
  return parseProtocolParameters({ ...parametersIn('mainnet'), ...ofVersion11 })
})()

/** Slot 0 begins at this POSIX time; a slot lasts one second. */
export const zeroTime = 1_700_000_000_000n
export const timeOf = (slot: bigint): bigint => zeroTime + slot * 1000n

export const engines = { cek: (transaction: TestTransaction) => cek(transaction), scalus, aiken } satisfies {
  readonly [name: string]: Evaluate
}

/**
 * Whether engines of others run the tests too. They know no `case` on constants: scripts/second-opinion.mjs
 * compiles the validators without it and sets this.
 */
export const isSecondOpinion = process.env.RATATOSK_SECOND_OPINION === '1'

/** The engines that run a test: that of `@ratatosk/ledger`, and those of others for a second opinion. */
export const testedEngines: { readonly [name: string]: Evaluate } = isSecondOpinion ? engines : { cek }

/** How many entries of each cost model Aiken's build reads. */
const modelLengths = [166, 185, 297] as const
const plutusModels = [
  layer1Parameters.costModels.PlutusV1,
  layer1Parameters.costModels.PlutusV2,
  layer1Parameters.costModels.PlutusV3,
].map((model) => model ?? [])
const models = plutusModels.map((model, language) => model.slice(0, modelLengths[language]))

const evaluateInCek = createCekEngine()

/** The engine of `@ratatosk/ledger` with another budget for the transaction's one script. */
export const cekWithin =
  (limit: Units): Evaluate =>
  (transaction) =>
    cek(transaction, [limit])

function cek(transaction: TestTransaction, units?: readonly Units[]): ScriptRun {
  const known = [...transaction.inputs, ...transaction.referenceInputs]
  const answer = evaluateInCek({
    transaction: encodeTransaction(transaction, units && { units }),
    inputs: known.map(encodeInput),
    outputs: known.map(({ output }) => encodeOutput(output)),
    costModels: plutusModels.map((model) => BigInt64Array.from(model)),
    slots: { zeroTime, zeroSlot: 0n, slotLength: 1000 },
    protocolMajor: layer1Parameters.ledgerVersion.major,
  })
  if (answer.kind === 'refused') throw new Error(`cek could not evaluate: ${answer.message}`)
  if (answer.kind === 'failed') {
    const { message, logs } = answer
    return { ok: false, message, lastTrace: logs.at(-1) }
  }
  return { ok: true, units: answer.redeemers.map(({ used }) => used) }
}

function scalus(transaction: TestTransaction): ScriptRun {
  const { Scalus, SlotConfig }: typeof import('scalus') = require('scalus')
  const known = [...transaction.inputs, ...transaction.referenceInputs]
  const utxos = new CborWriter(4096).map(known.length)
  for (const input of known) utxos.raw(encodeInput(input)).raw(encodeOutput(input.output))
  try {
    const evaluated = Scalus.evalPlutusScripts(
      encodeTransaction(transaction),
      utxos.toBytes(),
      new SlotConfig(Number(zeroTime), 0, 1000),
      models.map((model) => model.map(Number)),
    )
    // scalus returns five redeemers and more in any order.
    const place = ({ tag, index }: { tag: string; index: number }) =>
      (tag.toLowerCase() === 'mint' ? 2 ** 16 : 0) + index
    const ordered = [...evaluated].sort((a, b) => place(a) - place(b))
    return {
      ok: true,
      units: ordered.map(({ budget }) => ({ memory: BigInt(budget.memory), steps: BigInt(budget.steps) })),
    }
  } catch (error) {
    // scalus throws objects that are not instances of Error; only the failure of a script has logs.
    const { message, logs } = error as { message?: string; logs?: readonly string[] }
    if (!Array.isArray(logs)) throw new Error(`scalus could not evaluate: ${message}`)
    return { ok: false, message: message ?? '', lastTrace: logs.at(-1) }
  }
}

function aiken(transaction: TestTransaction): ScriptRun {
  const uplc: typeof import('@lucid-evolution/uplc') = require('@lucid-evolution/uplc')
  const known = [...transaction.inputs, ...transaction.referenceInputs]
  const costs = new CborWriter(8192).map(models.length)
  models.forEach((model, language) => {
    costs.uint(language).array(model.length)
    for (const cost of model) costs.int(cost)
  })
  try {
    const redeemers = uplc.eval_phase_two_raw(
      encodeTransaction(transaction),
      known.map(encodeInput),
      known.map(({ output }) => encodeOutput(output)),
      costs.toBytes(),
      10_000_000_000n,
      14_000_000n,
      zeroTime,
      0n,
      1000,
    )
    return { ok: true, units: redeemers.map(unitsOf) }
  } catch (error) {
    if (typeof error !== 'string' || !error.trimStart().startsWith('failed script execution')) {
      throw new Error(`aiken could not evaluate: ${error}`)
    }
    return { ok: false, message: error, lastTrace: /Trace (\S+)\s*$/.exec(error)?.[1] }
  }
}

/** The execution units of a redeemer `[tag, index, data, [memory, steps]]`. */
function unitsOf(redeemer: Uint8Array): { memory: bigint; steps: bigint } {
  const reader = new CborReader(redeemer)
  reader.readArray()
  reader.readUint()
  reader.readUint()
  reader.skip()
  reader.readArray()
  return { memory: reader.readUint64(), steps: reader.readUint64() }
}

/** The operator owns the wallet; the others sign only if they are signatories. */
const keys: readonly TestKey[] = [administrator, operator, otherOperator]

/** A complete, signed transaction with the outputs that it refers to. */
interface Complete {
  readonly bytes: Uint8Array
  readonly utxos: ReadonlyMap<string, TransactionOutput>
  readonly fee: bigint
  readonly units: { readonly memory: bigint; readonly steps: bigint }
}

const collateral: TestInput = {
  id: 249,
  output: { address: Uint8Array.of(0x60, ...operator.hash), lovelace: 10_000_000n },
}

/** Sets the execution units, takes the fee from the last output, adds collateral, signs (cosigners too). */
export function complete(
  draft: TestTransaction,
  evaluate: Evaluate,
  cosigners: readonly TestKey[] = [],
): Complete {
  const evaluation = evaluate(draft)
  if (!evaluation.ok) throw new Error(evaluation.message)
  let fee = 0n
  for (;;) {
    const transaction = withChange(draft, fee)
    const finish = { fee, units: evaluation.units, collateral: [collateral] }
    const bytes = finished(transaction, finish, cosigners)
    const scripts = draft.referenceInputs.reduce(
      (sum, { output }) => sum + (output.script?.bytes.length ?? 0),
      0,
    )
    const least = minimumFee(decodeTransaction(bytes), layer1Parameters, scripts)
    if (least <= fee) return { bytes, fee, units: sum(evaluation.units), utxos: utxosOf(transaction) }
    fee = least
  }
}

function finished(transaction: TestTransaction, finish: Finish, cosigners: readonly TestKey[]): Uint8Array {
  const unsigned = decodeTransaction(encodeTransaction(transaction, finish))
  const scriptDataHash = scriptIntegrityHash(unsigned, new Set(['PlutusV3']), layer1Parameters)
  if (scriptDataHash === undefined) throw new Error('a transaction without scripts')
  const body = encodeBody(transaction, { ...finish, scriptDataHash })
  const id = blake2b256(body)
  const signing = keys.filter(
    (key) => key === operator || transaction.signatories.includes(key.hash) || cosigners.includes(key),
  )
  const writer = new CborWriter().tag(258).array(signing.length)
  for (const key of signing) writer.array(2).bytes(key.publicKey).bytes(key.sign(id))
  return encodeTransaction(transaction, { ...finish, scriptDataHash, keyWitnesses: writer.toBytes() })
}

/** Pays the rest of the ada to the last output. */
function withChange(draft: TestTransaction, fee: bigint): TestTransaction {
  const spent = draft.inputs.reduce((total, { output }) => total + output.lovelace, 0n)
  const others = draft.outputs.slice(0, -1)
  const paid = others.reduce((total, { lovelace }) => total + lovelace, fee)
  return { ...draft, outputs: [...others, { ...draft.outputs.at(-1)!, lovelace: spent - paid }] }
}

function utxosOf({ inputs, referenceInputs }: TestTransaction): Map<string, TransactionOutput> {
  return new Map(
    [...inputs, ...referenceInputs, collateral].map(({ id, output }) => [
      outputReferenceKey({ transactionId: new Uint8Array(32).fill(id), index: 0 }),
      decodeTransactionOutput(encodeOutput(output)),
    ]),
  )
}

const sum = (units: readonly { memory: bigint; steps: bigint }[]) => ({
  memory: units.reduce((total, { memory }) => total + memory, 0n),
  steps: units.reduce((total, { steps }) => total + steps, 0n),
})
