import { blake2b256, decodeTransaction, decodeTransactionOutput, minimumLovelace } from '@ratatosk/ledger'
import { encodeWitnessFraudProof, type WitnessFraudProof } from '@ratatosk/protocol/fraud'
import { createMemoryStore, createTrie } from '@ratatosk/trie'
import {
  languageParameters,
  ledgerFraudScript,
  type ProvableRules,
  transactionFraudScript,
  witnessFraudScript,
} from '../fraud-scripts.js'
import { applyParameters, type PlutusScript } from '../scripts.js'
import { bridgeTransactions } from './bridge/scenarios.js'
import { complete, engines, parameters } from './evaluate.js'
import { blockOf, fillers, measuredSizes, outputRecord, payment, second } from './fraud/blocks.js'
import { proveManyLies } from './fraud/ledger/costs.js'
import { measureProof, mintingOf, type ProvenLie, scriptOf } from './fraud/minting.js'
import { proveTransactionLies } from './fraud/transaction/costs.js'
import {
  multisig,
  type OrdinaryFraud,
  ordinaryCoins,
  ordinaryTransactions,
} from './fraud/transaction/ordinary.js'
import { rules } from './fraud/transaction/transactions.js'
import { needs, places, prove } from './fraud/witness/lies.js'
import {
  bob,
  carol,
  coinsBefore,
  datumA,
  datumB,
  erin,
  everything,
  hashOf,
  locker,
  minter,
  referenced,
  vault,
  witnessed,
} from './fraud/witness/story.js'
import { worstRows } from './fraud/worst/measure.js'
import { instrumentedBuild } from './instrumented-build.js'
import { checkOnChain } from './mpf/proofs.js'
import * as removals from './queue/removals.js'
import {
  burnedBlocks,
  commitBesideFullRegistry,
  deinitManyBlocks,
  removeByHeldVerdict,
  removeByProof,
  slashInFullRegistry,
} from './queue/removals.js'
import * as queue from './queue/scenarios.js'
import * as registry from './registry/scenarios.js'
import { summonsTransactions } from './summons/costs.js'
import { encodeOutput, type TestTransaction } from './transaction.js'
import { ada, bond, createWorld, operator, type World, wallet } from './world.js'

const { cek } = engines
const world = createWorld()

/** Proof, removal and slash in one transaction: the cheapest and costliest proofs, and some between them. */
function removalsByProof(proofs: readonly ProvenLie[]) {
  const shown = [
    'inputSpentElsewhere',
    'inventedOutput',
    'wrongOutputsAfter',
    'wrongFees',
    'wrongResolved',
    'valueNotPreserved',
    'feeTooSmall',
    'nativeScriptFails',
    'scriptMissing',
    'redeemerMissing',
    'datumMissing',
    'wrongScriptDataHash',
  ]
    .flatMap((fraud) => [`\`${fraud}\``, `\`${fraud}\`, rich`, `\`${fraud}\`, a reference input`])
    .concat('`strangeField`', '`strangeWitness`')
  return proofs
    .filter(({ what }) => shown.includes(what))
    .map((proof) => [`remove and slash by proof of ${proof.what}`, removalByProof(proof)] as const)
}

const transactions: readonly (readonly [string, TestTransaction])[] = [
  ['init', queue.init(world)],
  ['commit, 2 operators', queue.commitSecond(world)],
  ['commit, 100 operators and 100 retired', commitBesideFullRegistry(world)],
  ['merge', queue.merge(world)],
  ['remove by the administrator', queue.remove(world)],
  ['verdict, remove and slash, 2 operators', removals.removeActive(world)],
  ['verdict, remove and slash, 100 operators and 100 retired', slashInFullRegistry(world)],
  ['verdict and remove, already slashed', removals.removeAlreadySlashed(world)],
  ['prune of 2 blocks', removals.prune(world)],
  ['prune of 50 blocks', removals.pruneBlocks(world, removals.chain(50))],
  ['deinit of a root and a block', queue.deinit(world)],
  [`deinit of ${burnedBlocks} blocks`, deinitManyBlocks(world)],
  ['init of the registry', registry.init(world)],
  ['register', registry.registerSecond(world)],
  ['retire', registry.retire(world)],
  ['release', registry.release(world)],
  ...summonsTransactions(world),
  ...bridgeTransactions(world),
]

const limits = {
  ...parameters.maxTransactionExecutionUnits,
  size: BigInt(parameters.maxTransactionSize),
}

const share = (part: bigint, whole: bigint) => `${(Number((part * 10_000n) / whole) / 100).toFixed(2)} %`
const grouped = (value: bigint | number) => value.toLocaleString('en-US')
const inAda = (lovelace: bigint) => (Number(lovelace) / 1e6).toFixed(6)

const row = (...cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`

function scriptRow(title: string, script: PlutusScript): string {
  const output = decodeTransactionOutput(encodeOutput({ ...wallet(1_000_000n), script }))
  return row(
    title,
    grouped(script.bytes.length),
    inAda(referenceFee([script])),
    inAda(minimumLovelace(output, parameters)),
  )
}

const rulesOfVersion11: ProvableRules = {
  ...rules,
  parameters: { ...rules.parameters, ledgerVersion: { major: 11, minor: 0 } },
}

/** The tables of sizes and costs in Markdown. */
export function costTables(): string {
  const scripts = [
    scriptRow('state queue', world.queue.script),
    scriptRow('operator registry', world.registry.script),
    scriptRow('ledger policy of fraud proofs', ledgerFraudScript()),
    scriptRow('transaction policy of fraud proofs', transactionFraudScript(rules)),
    scriptRow('the same for ledger version 11', transactionFraudScript(rulesOfVersion11)),
    scriptRow('witness policy of fraud proofs', witnessFraudScript(parameters)),
    scriptRow('summons', world.summons.script),
    scriptRow('bridge', world.bridge.script),
    scriptRow('events', world.events.script),
  ]
  const proofs = [...proveManyLies(), ...proveTransactionLies(), ...proveManyWitnessLies()]
  const costs = [...transactions, ...removalsByProof(proofs)].map(([name, transaction]) => {
    const { bytes, fee, units } = complete(transaction, cek)
    return row(
      name,
      grouped(units.steps),
      share(units.steps, limits.steps),
      grouped(units.memory),
      share(units.memory, limits.memory),
      grouped(bytes.length),
      share(BigInt(bytes.length), limits.size),
      inAda(priceOf(units)),
      inAda(fee),
    )
  })
  return [
    row(
      'script',
      'bytes, applied',
      'ada per transaction that refers to it',
      'ada locked by the output that holds it',
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
    '',
    row('fraud proof', 'cpu steps', 'of the limit', 'memory', 'of the limit', 'bytes of the redeemer'),
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    ...proofs
      .map(measureProof)
      .map(({ what, steps, memory, size }) =>
        row(
          what,
          grouped(steps),
          share(steps, limits.steps),
          grouped(memory),
          share(memory, limits.memory),
          grouped(size),
        ),
      ),
    '',
    ...worstRows(row, share, limits),
    '',
    row(
      'what a fraud proof is about',
      'inputs',
      'reference inputs',
      'outputs',
      'bytes of the body',
      'of the witness set',
    ),
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    ...measuredTransactions().map(transactionRow),
    '',
    row('fraud proof', 'memory of the limit', 'proofs of maps', 'the condition', 'all else'),
    '| --- | ---: | ---: | ---: | ---: |',
    ...partsOf(proofs.filter(({ what }) => what.startsWith('`wrongResolved`') || ordinaryOrRich(what))).map(
      ({ what, memory, maps, condition, rest }) =>
        row(what, ...[memory, maps, condition, rest].map((part) => share(part, limits.memory))),
    ),
    '',
    ...verdictRows(world, proofs),
  ].join('\n')
}

/** Whether a proof is of a fraud that is measured in an ordinary transaction and in a rich one. */
const ordinaryOrRich = (what: string): boolean =>
  ordinaryTransactions.some(({ fraud }) => what.startsWith(`\`${fraud}\``))

/** The transactions that these proofs are about. */
const measuredTransactions = () => [
  ['`wrongResolved`', second.cbor] as const,
  ...ordinaryTransactions.map(({ fraud, cbor }) => [`\`${fraud}\``, cbor] as const),
  ['those of a rich transaction', richTransaction.cbor] as const,
]

function transactionRow([what, cbor]: readonly [string, Uint8Array]): string {
  const { body, witnesses } = decodeTransaction(cbor)
  const sizes = [body.inputs, body.referenceInputs, body.outputs].map(({ length }) => length)
  return row(what, ...sizes, grouped(body.bytes.length), grouped(witnesses.bytes.length))
}

function proofRows(): string[] {
  const trie = createTrie({ store: createMemoryStore() })
  const keyOf = (i: number) => new TextEncoder().encode(`entry ${i}`)
  trie.update(
    Array.from({ length: 10_000 }, (_, i) => ({ type: 'insert' as const, key: keyOf(i), value: keyOf(i) })),
  )
  const [held, added] = [keyOf(0), keyOf(10_000)]
  const { root } = trie
  const membership = checkOnChain({ kind: 'has', root, key: held, value: held, proof: trie.prove(held) }, cek)
  const absence = trie.proveAbsence(added)
  trie.insert(added, added)
  const insertion = checkOnChain(
    { kind: 'inserts', root, key: added, value: added, proof: absence, next: trie.root },
    cek,
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
      inAda(priceOf(units)),
    )
  })
}

/** The parts that use the memory of a proof, in units of memory. */
interface ProofParts {
  readonly what: string
  readonly memory: bigint
  /** Proofs that maps of the header have a key, or lack it. */
  readonly maps: bigint
  /** The condition that makes it a fraud, with what it reads of the transaction. */
  readonly condition: bigint
  /** Finding what the proof names in the transaction and in the redeemer, the header and hashes. */
  readonly rest: bigint
}

const rulesOfMaps = new Set(['transaction-is-in-block', 'output-record-is-in-block', 'output-hash-is-proven'])

/** The rules that are the fraud itself. */
const conditions = new Set([
  'recorded-hash-is-wrong',
  'native-script-fails',
  'script-is-not-referenced',
  'script-is-not-witnessed',
  'redeemer-is-missing',
  'input-has-redeemer',
  'datum-is-missing',
  'script-data-hash-is-wrong',
])

const policies = [
  { title: 'ledger_fraud', script: ledgerFraudScript(), of: [] },
  { title: 'witness_fraud', script: witnessFraudScript(parameters), of: languageParameters(parameters) },
] as const

/** Measures parts of proofs: a part is what a proof costs less if the script skips its rules. */
function partsOf(proofs: readonly ProvenLie[]): ProofParts[] {
  return policies.flatMap(({ title, script, of }) => {
    const { program, rules } = instrumentedBuild(title)
    const skipping = (place: number) => applyParameters(scriptOf(program).bytes, [BigInt(place), ...of])
    return proofs
      .filter((proof) => Buffer.from(proof.script.hash).equals(script.hash))
      .map((proof) => {
        const { what, memory } = measureProof(proof)
        const whole = measureProof({ ...proof, script: skipping(-1) }).memory
        const costOf = (names: ReadonlySet<string>) =>
          rules
            .flatMap((rule, place) => (names.has(rule) ? [place] : []))
            .reduce(
              (sum, place) => sum + whole - measureProof({ ...proof, script: skipping(place) }).memory,
              0n,
            )
        const [maps, condition] = [costOf(rulesOfMaps), costOf(conditions)]
        return { what, memory, maps, condition, rest: memory - maps - condition }
      })
  })
}

const { signers, redeemers } = everything
/** A transaction that needs every kind of witness, and lacks one of each. */
const richTransaction = witnessed({
  ...everything,
  signers: signers.filter((key) => key !== erin && key !== bob),
  signed: (key, id) => (key === carol ? new Uint8Array(32) : id),
  plutus: [locker],
  redeemers: redeemers.filter((_, index) => index !== 1),
  datums: [datumB],
  scriptDataHash: blake2b256(datumA),
})

/** The rich transaction, and ordinary transactions, each of which lacks one witness. */
function manyLies() {
  const outputs = new Map([...coinsBefore(), ...ordinaryCoins()])
  const transactions = [richTransaction, ...ordinaryTransactions].map(({ cbor }) => cbor)
  return blockOf(transactions, outputs, {
    entries(entries) {
      for (const key of fillers(measuredSizes.entries, [...entries.keys()]))
        entries.set(key, outputRecord(0n, 1n, payment(1, 2_000_000n)))
    },
    header: { operatorVkey: operator.hash },
  })
}

/** One proof of each kind, in a block with a map of {@link measuredSizes}. */
function proveManyWitnessLies(): ProvenLie[] {
  const block = manyLies()
  const { spent, minted } = needs
  const placeOf = (fraud: OrdinaryFraud) =>
    1 + ordinaryTransactions.findIndex((transaction) => transaction.fraud === fraud)
  const proofs: readonly (readonly [what: string, proof: WitnessFraudProof])[] = [
    ['`invalidSignature`', prove.invalidSignature(0, 1)(block)],
    ['`missingSignature`', prove.missingSignature(0, spent(places.erins))(block)],
    ['`nativeScriptFails`', prove.nativeScriptFails(placeOf('nativeScriptFails'), spent(0), multisig)(block)],
    ['`nativeScriptFails`, rich', prove.nativeScriptFails(0, spent(places.vault), vault)(block)],
    ['`scriptMissing`', prove.scriptMissing(placeOf('scriptMissing'), spent(0))(block)],
    ['`scriptMissing`, rich', prove.scriptMissing(0, minted(hashOf(minter)))(block)],
    ['`redeemerMissing`', prove.redeemerMissing(placeOf('redeemerMissing'), spent(0), locker)(block)],
    ['`redeemerMissing`, rich', prove.redeemerMissing(0, spent(places.lockedByReference), referenced)(block)],
    ['`datumMissing`', prove.datumMissing(placeOf('datumMissing'), 0)(block)],
    ['`datumMissing`, rich', prove.datumMissing(0, places.locked)(block)],
    ['`wrongScriptDataHash`', prove.wrongScriptDataHash(placeOf('wrongScriptDataHash'))(block)],
    ['`wrongScriptDataHash`, rich', prove.wrongScriptDataHash(0)(block)],
  ]
  const { header } = block
  const script = witnessFraudScript(parameters)
  return proofs.map(([what, proof]) => ({
    what,
    header,
    script,
    redeemer: encodeWitnessFraudProof(header, proof),
  }))
}

const feeOf = (transaction: TestTransaction): bigint => complete(transaction, engines.cek).fee

function removalByProof({ header, script, redeemer, parts = [] }: ProvenLie): TestTransaction {
  const provable = createWorld({ verdictPolicies: [script.hash] })
  const removal = removeByProof(provable, { header, redeemer, policy: { script } })
  const holders = parts.map(({ name }, index) => ({
    id: 100 + index,
    output: wallet(ada(2), [{ policy: script.hash, name, quantity: 1n }]),
  }))
  return { ...removal, referenceInputs: [...holders, ...removal.referenceInputs] }
}

/** The price of execution units in lovelace, rounded up once. */
function priceOf({ memory, steps }: { memory: bigint; steps: bigint }): bigint {
  const { memory: perMemory, steps: perStep } = parameters.executionPrices
  const numerator =
    memory * perMemory.numerator * perStep.denominator + steps * perStep.numerator * perMemory.denominator
  const denominator = perMemory.denominator * perStep.denominator
  return (numerator + denominator - 1n) / denominator
}

/** The cost of the scripts that a transaction refers to, in lovelace. */
function referenceFee(scripts: readonly PlutusScript[]): bigint {
  const size = scripts.reduce((sum, { bytes }) => sum + bytes.length, 0)
  const { numerator, denominator } = parameters.referenceScriptCostPerByte
  return (BigInt(size) * numerator) / denominator
}

/** The cost of the greatest transaction besides its scripts. */
const sizeFee = parameters.minFeeB + parameters.minFeeA * BigInt(parameters.maxTransactionSize)

/** The costs of verdicts for their prover, in Markdown. */
function verdictRows(world: World, proofs: readonly ProvenLie[]): string[] {
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
  const ofBond = (fees: bigint) => `${((100 * Number(fees)) / Number(bond)).toFixed(2)} %`
  return [
    '## Verdicts',
    '',
    `The fees of all transactions of a verdict, and their share of a bond of ${Number(bond) / 1e6} ada.`,
    '',
    row('verdict', 'transactions', 'fees in ada', 'of the bond'),
    '| --- | --- | ---: | ---: |',
    ...rows.map(([what, stages, fees]) => row(what, stages, inAda(fees), ofBond(fees))),
  ]
}
