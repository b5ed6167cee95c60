import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { CborReader, CborWriter, parseProtocolParameters } from '@ratatosk/ledger'
import { encodeInput, encodeOutput, encodeTransaction, type TestTransaction } from './transaction.js'

export type Evaluation =
  | { readonly ok: true; readonly units: readonly { readonly memory: bigint; readonly steps: bigint }[] }
  | { readonly ok: false; readonly message: string }

export type Evaluate = (transaction: TestTransaction) => Evaluation

const require = createRequire(import.meta.url)

/** Mainnet's, which prices the table of costs. */
export const parameters = parseProtocolParameters(
  JSON.parse(readFileSync(new URL('../../../../apps/node/parameters/mainnet.json', import.meta.url), 'utf8')),
)

/** Slot 0 began at this POSIX time; a slot is a second. */
export const zeroTime = 1_700_000_000_000n
export const timeOf = (slot: bigint): bigint => zeroTime + slot * 1000n

/** By name; every test of a script runs on each. */
export const engines = { scalus, aiken } satisfies { readonly [name: string]: Evaluate }

/** The costs that Aiken's build knows. */
const modelLengths = [166, 185, 297] as const
const models = [
  parameters.costModels.PlutusV1,
  parameters.costModels.PlutusV2,
  parameters.costModels.PlutusV3,
].map((model, language) => (model ?? []).slice(0, modelLengths[language]))

function scalus(transaction: TestTransaction): Evaluation {
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
    return {
      ok: true,
      units: evaluated.map(({ budget }) => ({ memory: BigInt(budget.memory), steps: BigInt(budget.steps) })),
    }
  } catch (error) {
    // Its errors are no instances of Error; that of a script which failed has logs.
    const { message, logs } = error as { message?: string; logs?: readonly string[] }
    if (!Array.isArray(logs)) throw new Error(`scalus could not evaluate: ${message}`)
    return { ok: false, message: message ?? '' }
  }
}

function aiken(transaction: TestTransaction): Evaluation {
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
    return { ok: false, message: error }
  }
}

/** Of `[tag, index, data, [memory, steps]]`. */
function unitsOf(redeemer: Uint8Array): { memory: bigint; steps: bigint } {
  const reader = new CborReader(redeemer)
  reader.readArray()
  reader.readUint()
  reader.readUint()
  reader.skip()
  reader.readArray()
  return { memory: reader.readUint64(), steps: reader.readUint64() }
}
