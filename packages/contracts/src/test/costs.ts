import { decodeTransactionOutput, minimumLovelace } from '@ratatosk/ledger'
import { createMemoryStore, createTrie } from '@ratatosk/trie'
import { complete } from './complete.js'
import { engines, parameters, timeOf } from './evaluate.js'
import { checkOnChain } from './mpf/proofs.js'
import * as queue from './queue/scenarios.js'
import * as registry from './registry/scenarios.js'
import { encodeOutput, type TestTransaction } from './transaction.js'
import { createWorld, operator, scriptReference, turnLength, type World } from './world.js'

const { aiken } = engines
const world = createWorld()

/** A registry as full as it may be, with the operator where the turn is. */
function commitAmong(count: number, from: World): TestTransaction {
  const vkeys: Uint8Array[] = Array.from({ length: count }, (_, i) => new Uint8Array(28).fill(i + 1))
  vkeys[Number((timeOf(50n) / turnLength) % BigInt(count))] = operator.hash
  const transaction = queue.commitSecond(from)
  const referenceInputs = transaction.referenceInputs.map((input) =>
    input.id === 200 ? { id: 200, output: queue.registryOutput(from, vkeys) } : input,
  )
  return { ...transaction, referenceInputs }
}

const transactions: readonly (readonly [string, TestTransaction])[] = [
  ['init', queue.init(world)],
  ['commit, 2 operators', queue.commitSecond(world)],
  ['commit, 100 operators', commitAmong(100, world)],
  ['merge', queue.merge(world)],
  ['deinit of a root and a block', queue.deinit(world)],
  ['begin a registry', registry.init(world)],
  ['register', registry.registerSecond(world)],
  ['retire', registry.retire(world)],
  ['release', registry.release(world)],
]

const limits = {
  ...parameters.maxTransactionExecutionUnits,
  size: BigInt(parameters.maxTransactionSize),
}

const share = (part: bigint, whole: bigint) => `${(Number((part * 10_000n) / whole) / 100).toFixed(2)} %`
const grouped = (value: bigint | number) => value.toLocaleString('en-US')
const ada = (lovelace: bigint) => (Number(lovelace) / 1e6).toFixed(6)

/** What execution units cost: each price times its units, rounded up together. */
function priceOf({ memory, steps }: { memory: bigint; steps: bigint }): bigint {
  const { memory: perMemory, steps: perStep } = parameters.executionPrices
  const numerator =
    memory * perMemory.numerator * perStep.denominator + steps * perStep.numerator * perMemory.denominator
  const denominator = perMemory.denominator * perStep.denominator
  return (numerator + denominator - 1n) / denominator
}

const row = (...cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`

/** The tables of sizes and costs, in Markdown. Figures of Aiken's engine, which are those of scalus. */
export function costTables(): string {
  const scripts = (['queue', 'registry'] as const).map((name) => {
    const contract = world[name]
    const output = decodeTransactionOutput(encodeOutput(scriptReference(contract).output))
    const size = contract.script.bytes.length
    const fee =
      (BigInt(size) * parameters.referenceScriptCostPerByte.numerator) /
      parameters.referenceScriptCostPerByte.denominator
    const title = { queue: 'state queue', registry: 'operator registry' }[name]
    return row(title, grouped(size), ada(fee), ada(minimumLovelace(output, parameters)))
  })
  const costs = transactions.map(([name, transaction]) => {
    const { bytes, fee, units } = complete(transaction, aiken)
    return row(
      name,
      grouped(units.steps),
      share(units.steps, limits.steps),
      grouped(units.memory),
      share(units.memory, limits.memory),
      grouped(bytes.length),
      share(BigInt(bytes.length), limits.size),
      ada(priceOf(units)),
      ada(fee),
    )
  })
  return [
    row(
      'script',
      'bytes, applied',
      'ada a transaction that refers to it',
      'ada held by the output that carries it',
    ),
    '| --- | ---: | ---: | ---: |',
    ...scripts,
    '',
    row(
      'transaction',
      'cpu steps',
      'of the limit',
      'memory',
      'of the limit',
      'bytes',
      'of the limit',
      'ada for scripts',
      'fee in ada',
    ),
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...costs,
    '',
    row('proof, in a map of 10,000 keys', 'cpu steps', 'of the limit', 'memory', 'of the limit', 'ada'),
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    ...proofRows(),
  ].join('\n')
}

function proofRows(): string[] {
  const trie = createTrie({ store: createMemoryStore() })
  const keyOf = (i: number) => new TextEncoder().encode(`entry ${i}`)
  trie.update(
    Array.from({ length: 10_000 }, (_, i) => ({ type: 'insert' as const, key: keyOf(i), value: keyOf(i) })),
  )
  const [held, added] = [keyOf(0), keyOf(10_000)]
  const { root } = trie
  const membership = checkOnChain(
    { kind: 'has', root, key: held, value: held, proof: trie.prove(held) },
    aiken,
  )
  const absence = trie.proveAbsence(added)
  trie.insert(added, added)
  const insertion = checkOnChain(
    { kind: 'inserts', root, key: added, value: added, proof: absence, next: trie.root },
    aiken,
  )
  return Object.entries({ membership, insertion }).map(([name, evaluation]) => {
    if (!evaluation.ok) throw new Error(evaluation.message)
    const [units] = evaluation.units
    if (units === undefined) throw new Error('no script ran')
    return row(
      name,
      grouped(units.steps),
      share(units.steps, limits.steps),
      grouped(units.memory),
      share(units.memory, limits.memory),
      ada(priceOf(units)),
    )
  })
}
