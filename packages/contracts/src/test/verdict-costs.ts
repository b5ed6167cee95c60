import type { PlutusScript } from '../script/apply.js'
import { complete } from './complete.js'
import { engines, parameters } from './evaluate.js'
import type { ProvenLie } from './fraud/measure-proof.js'
import { mintingOf } from './fraud/minting.js'
import { removeByHeldVerdict, removeByProof } from './queue/removals.js'
import { summonsTransactions } from './summons/costs.js'
import type { TestTransaction } from './transaction.js'
import { ada, bond, createWorld, type World, wallet } from './world.js'

const feeOf = (transaction: TestTransaction): bigint => complete(transaction, engines.cek).fee

export function removalByProof({ header, script, redeemer, parts = [] }: ProvenLie): TestTransaction {
  const provable = createWorld({ verdictPolicies: [script.hash] })
  const removal = removeByProof(provable, { header, redeemer, policy: { script } })
  const holders = parts.map(({ name }, index) => ({
    id: 100 + index,
    output: wallet(ada(2), [{ policy: script.hash, name, quantity: 1n }]),
  }))
  return { ...removal, referenceInputs: [...holders, ...removal.referenceInputs] }
}

/** The price of execution units in lovelace, rounded up once. */
export function priceOf({ memory, steps }: { memory: bigint; steps: bigint }): bigint {
  const { memory: perMemory, steps: perStep } = parameters.executionPrices
  const numerator =
    memory * perMemory.numerator * perStep.denominator + steps * perStep.numerator * perMemory.denominator
  const denominator = perMemory.denominator * perStep.denominator
  return (numerator + denominator - 1n) / denominator
}

/** The cost of the scripts that a transaction refers to, in lovelace. */
export function referenceFee(scripts: readonly PlutusScript[]): bigint {
  const size = scripts.reduce((sum, { bytes }) => sum + bytes.length, 0)
  const { numerator, denominator } = parameters.referenceScriptCostPerByte
  return (BigInt(size) * numerator) / denominator
}

/** The cost of the greatest transaction besides its scripts. */
const sizeFee = parameters.minFeeB + parameters.minFeeA * BigInt(parameters.maxTransactionSize)

/** The costs of verdicts for their prover, in Markdown. */
export function verdictRows(
  world: World,
  proofs: readonly ProvenLie[],
  row: (...cells: readonly string[]) => string,
  ada: (lovelace: bigint) => string,
): string[] {
  const ofSummons = new Map(summonsTransactions(world))
  const feeOfSummons = (what: string): bigint => {
    const transaction = ofSummons.get(what)
    if (transaction === undefined) throw new RangeError(`There is no transaction: ${what}`)
    return feeOf(transaction)
  }
  const ending = feeOfSummons('end a question with a verdict') + feeOf(removeByHeldVerdict(world))
  const unanswered = (what: string) =>
    [
      `\`unanswered\`, ${what}`,
      'question, verdict, removal',
      feeOfSummons(`ask for ${what}`) + ending,
    ] as const
  const deep = 'a subtree below 12 branches'
  const scripts = proofs.map(({ script }) => script)
  const largest = scripts.reduce((one, other) => (one.bytes.length > other.bytes.length ? one : other))
  const most =
    sizeFee +
    priceOf(parameters.maxTransactionExecutionUnits) +
    referenceFee([world.queue.script, world.registry.script, largest])
  const rows: readonly (readonly [string, string, bigint])[] = [
    ...proofs.map((proof) => {
      const { what, script, parts = [] } = proof
      const shown = parts.reduce((sum, part) => sum + feeOf(mintingOf({ script, ...part })), 0n)
      const stages = parts.length > 0 ? 'token, removal' : 'removal'
      return [what, stages, shown + feeOf(removalByProof(proof))] as const
    }),
    unanswered('a chunk'),
    unanswered(deep),
    ['the greatest transaction of layer 1', 'removal', most],
    ['besides, for each part of a proof that the removal has no room for: at most', 'datum', sizeFee],
    [
      'besides, for each question that is answered: at most, and the reward',
      'question',
      feeOfSummons(`ask for ${deep}`),
    ],
  ]
  const share = (fees: bigint) => `${((100 * Number(fees)) / Number(bond)).toFixed(2)} %`
  return [
    '## Verdicts',
    '',
    `The fees of all transactions of a verdict, and their share of a bond of ${Number(bond) / 1e6} ada.`,
    '',
    row('verdict', 'transactions', 'fees in ada', 'of the bond'),
    '| --- | --- | ---: | ---: |',
    ...rows.map(([what, stages, fees]) => row(what, stages, ada(fees), share(fees))),
  ]
}
