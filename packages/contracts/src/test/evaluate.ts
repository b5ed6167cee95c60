import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { CborReader, CborWriter } from '@ratatosk/cbor'
import { parseProtocolParameters } from '@ratatosk/ledger'
import { encodeInput, encodeOutput, encodeTransaction, type TestTransaction } from './transaction.js'

export type ScriptRun =
  | { readonly ok: true; readonly units: readonly { readonly memory: bigint; readonly steps: bigint }[] }
  | {
      readonly ok: false
      readonly message: string
      /** The last message of the failing script: in an instrumented script, the rule that refused. */
      readonly lastTrace: string | undefined
    }

export type Evaluate = (transaction: TestTransaction) => ScriptRun

const require = createRequire(import.meta.url)

/** The parameters of mainnet: the README's table of costs uses their prices. */
export const parameters = parseProtocolParameters(
  JSON.parse(readFileSync(new URL('../../../../apps/node/parameters/mainnet.json', import.meta.url), 'utf8')),
)

/** Slot 0 begins at this POSIX time; a slot lasts one second. */
export const zeroTime = 1_700_000_000_000n
export const timeOf = (slot: bigint): bigint => zeroTime + slot * 1000n

export const engines = { scalus, aiken } satisfies { readonly [name: string]: Evaluate }

/** Aiken's engine is several times slower. It runs `all` cases, one of N, or none if this is not set. */
const aikenCases = process.env.RATATOSK_AIKEN
const everyAikenCase = aikenCases === 'all' ? 1 : Number(aikenCases)
export const runsAiken = aikenCases !== undefined

export const casesOf = <Case>(engine: string, cases: readonly Case[]): readonly Case[] =>
  engine === 'aiken' ? cases.filter((_case, index) => index % everyAikenCase === 0) : cases

/** The engines that run a test: scalus, and Aiken's in long runs. */
export const testedEngines: { readonly [name: string]: Evaluate } = runsAiken ? engines : { scalus }

/** The engines of tests that mostly refuse. */
export const refusingEngines: { readonly [name: string]: Evaluate } =
  aikenCases === 'all' ? engines : { scalus }

/** How many entries of each cost model Aiken's build reads. */
const modelLengths = [166, 185, 297] as const
const models = [
  parameters.costModels.PlutusV1,
  parameters.costModels.PlutusV2,
  parameters.costModels.PlutusV3,
].map((model, language) => (model ?? []).slice(0, modelLengths[language]))

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
