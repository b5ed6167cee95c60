import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fromHex, isWellFormed } from '@ratatosk/cbor'
import {
  decodeOutputReference,
  decodeTransactionOutput,
  type ProtocolParameters,
  type Rational,
  type SlotConfig,
} from '@ratatosk/ledger'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import type { LedgerEntry, Store } from '@ratatosk/store'
import {
  chain,
  documentFees,
  freeOfCharge,
  fundsOf,
  keyOf,
  type SignedTransaction,
  schemaDigest,
  signed,
  slots,
} from '@ratatosk/test-kit'
import { vectorsFolder } from '@ratatosk/test-vectors'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  EvaluationsBusyError,
  type EvaluationsOptions,
  type LedgerEvaluation,
  openEvaluations,
} from './index.js'
import { minting, withCostModel } from './test/minting.js'
import { isAccepted, run } from './test/running-worker.js'
import { openers, type Services } from './test/services.js'
import { Validator, type ValidatorOptions } from './validator.js'

const key = keyOf(1)

describe('an evaluation', () => {
  async function open(services: Services, options: Partial<EvaluationsOptions> = {}) {
    const { store } = services
    return openEvaluations({ store, parameters: freeOfCharge, networkId: 0, slots, ...options })
  }

  test('says valid, known, retriable and invalid, and changes nothing', async (context) => {
    const services = await openers['PostgreSQL and Redis'](context)
    const { store } = services
    const [fund] = fundsOf(key, 1, 5_000_000n)
    await store.applyGenesis([fund!])
    const [first, second] = chain(key, fund!.reference, 5_000_000n, 2)
    const { evaluate } = await open(services)
    const before = await schemaDigest(services.name)
    expect(await evaluate(first!.cbor)).toMatchObject({ verdict: 'valid', failures: [], redeemers: [] })
    expect(await evaluate(second!.cbor)).toMatchObject({
      verdict: 'retriable',
      failures: [{ predicate: 'BadInputsUTxO' }],
    })
    const unbalanced = signed(key, { inputs: [fund!.reference], outputs: [6_000_000n] })
    expect(await evaluate(unbalanced.cbor)).toMatchObject({
      verdict: 'invalid',
      transactionId: fromHex(unbalanced.id),
      failures: [{ predicate: 'ValueNotConservedUTxO' }],
    })
    expect(await evaluate(fromHex('80'))).toMatchObject({
      verdict: 'invalid',
      transactionId: undefined,
      failures: [{ predicate: 'DecodingFailure' }],
    })
    expect(await schemaDigest(services.name)).toEqual(before)

    const { submit, drained } = run(services)
    await submit([first!])
    await drained()
    expect(await evaluate(first!.cbor)).toMatchObject({ verdict: 'known' })
    expect(await evaluate(second!.cbor)).toMatchObject({ verdict: 'valid' })
  })

  test('names what fails in both phases, as the dead letter does', async (context) => {
    const services = await openers['PostgreSQL and Redis'](context)
    const { store } = services
    const [fund] = fundsOf(key, 1, 5_000_000n)
    await store.applyGenesis([fund!])
    const { evaluate } = await open(services, { parameters: documentFees })
    const forger = { ...key, sign: () => Buffer.alloc(64) }
    const cosigners = [11, 12, 13].map(keyOf)
    const unknown = { ...fund!.reference, index: 7 }
    const fee = 'FeeTooSmallUTxO'
    const small = 'BabbageOutputTooSmallUTxO'
    const refused: [SignedTransaction, string[]][] = [
      [signed(key, { inputs: [unknown], outputs: [1n] }), [fee, small, 'BadInputsUTxO']],
      [signed(key, { inputs: [fund!.reference], outputs: [1n] }), [fee, small, 'ValueNotConservedUTxO']],
      [
        signed(keyOf(2), { inputs: [fund!.reference, unknown], outputs: [1n] }),
        [fee, small, 'BadInputsUTxO', 'MissingVKeyWitnessesUTXOW'],
      ],
      [
        signed(forger, { inputs: [unknown], outputs: [2n] }),
        [fee, small, 'InvalidWitnessesUTXOW', 'BadInputsUTxO'],
      ],
      // More than three signatures are not looked at if anything else fails.
      [signed(forger, { inputs: [unknown], outputs: [3n], cosigners }), [fee, small, 'BadInputsUTxO']],
    ]
    const { submit, drained } = run(services, { parameters: documentFees })
    await submit(refused.map(([transaction]) => transaction))
    await drained()
    for (const [{ cbor, id }, predicates] of refused) {
      const { verdict, failures } = await evaluate(cbor)
      expect(verdict).toBe('invalid')
      expect(failures.map(({ predicate }) => predicate)).toEqual(predicates)
      const rejection = await store.rejections.findTransaction(fromHex(id))
      expect(rejection).toMatchObject({ code: fee, attempts: 1, details: failures })
    }
  })

  test('verifies many signatures only if everything else is in order', async (context) => {
    const services = await openers['PostgreSQL and Redis'](context)
    const { store } = services
    const [fund] = fundsOf(key, 1, 5_000_000n)
    await store.applyGenesis([fund!])
    const { evaluate } = await open(services)
    const cosigners = Array.from({ length: 9 }, (_, n) => keyOf(n + 2))
    const valid = signed(key, { inputs: [fund!.reference], outputs: [5_000_000n], cosigners })
    const forged = Uint8Array.from(valid.cbor)
    // The last byte of the last signature; `f5 f6` follows.
    forged[forged.length - 3]! ^= 1
    expect((await evaluate(valid.cbor)).verdict).toBe('valid')
    expect(await evaluate(forged)).toMatchObject({
      verdict: 'invalid',
      failures: [{ predicate: 'InvalidWitnessesUTXOW' }],
    })
  })

  test('reports the declared and the used units of scripts, and runs them once', async (context) => {
    const services = await openers['PostgreSQL and Redis'](context)
    const [fund, collateral] = fundsOf(key, 2, 50_000_000n)
    await services.store.applyGenesis([fund!, collateral!])
    const parameters = withCostModel(freeOfCharge)
    const engine = createEvaluator({ threads: 1 })
    onTestFinished(() => engine.close())
    let runs = 0
    const { evaluate } = await open(services, {
      parameters,
      evaluator: {
        evaluate: (...request) => {
          runs++
          return engine.evaluate(...request)
        },
      },
    })
    const transaction = (steps: number) =>
      minting(
        key,
        {
          input: fund!.reference,
          lovelace: 50_000_000n,
          tokens: 0,
          collateral: collateral!.reference,
          steps,
        },
        parameters,
      )
    const succeeds = await evaluate(transaction(1_000_000).cbor)
    expect(succeeds).toMatchObject({ verdict: 'valid', failures: [] })
    expect(succeeds.redeemers).toMatchObject([
      {
        purpose: 'mint',
        index: 0,
        declared: { memory: 1000n, steps: 1_000_000n },
        outcome: { kind: 'Succeeded' },
      },
    ])
    const [{ outcome }] = succeeds.redeemers as [LedgerEvaluation['redeemers'][number]]
    expect(outcome.kind === 'Succeeded' && outcome.used.steps > 0n).toBe(true)
    const exceeds = await evaluate(transaction(1).cbor)
    expect(exceeds).toMatchObject({
      verdict: 'invalid',
      failures: [{ predicate: 'ValidationTagMismatch' }],
      redeemers: [{ declared: { steps: 1n }, outcome: { kind: 'BudgetExceeded' } }],
    })
    const again = await evaluate(transaction(1).cbor)
    expect({ ...again, slot: exceeds.slot }).toEqual(exceeds)
    expect(runs).toBe(2)
  })

  test('refuses to let more wait than it promises, and rests for as long as it worked', async (context) => {
    const services = await openers['PostgreSQL and Redis'](context)
    const funds = fundsOf(key, 9, 50_000_000n)
    await services.store.applyGenesis(funds)
    const parameters = withCostModel(freeOfCharge)
    let running = 0
    let most = 0
    let finish: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      finish = resolve
    })
    const { evaluate } = await open(services, {
      parameters,
      maxWaiting: 2,
      evaluator: {
        evaluate: async () => {
          most = Math.max(most, ++running)
          await held
          running--
          return { ok: true, redeemers: [] }
        },
      },
    })
    const transactions = funds.slice(1).map(({ reference }, n) =>
      minting(
        key,
        {
          input: reference,
          lovelace: 50_000_000n,
          tokens: 0,
          collateral: funds[0]!.reference,
          steps: n + 1,
        },
        parameters,
      ),
    )
    const gone = new AbortController()
    let refused = 0
    const answers = transactions.map(({ cbor }, n) =>
      evaluate(cbor, n === 7 ? gone.signal : undefined).then(
        ({ verdict }) => verdict,
        (error: Error) => {
          if (error instanceof EvaluationsBusyError) refused++
          return error.name
        },
      ),
    )
    await expect.poll(() => running).toBe(1)
    gone.abort()
    // One runs, two wait, and one has gone.
    await expect.poll(() => refused).toBeGreaterThanOrEqual(4)
    finish()
    const settled = await Promise.all(answers)
    expect(most).toBe(1)
    expect(settled.filter((answer) => answer === 'valid').length).toBeGreaterThanOrEqual(1)
  })
})

interface Scenario {
  readonly network: string
  readonly protocolParameters: { readonly $ref?: string; readonly $override?: object }
  readonly initialState: { readonly utxo?: readonly { readonly input: string; readonly output: string }[] }
  readonly point: { readonly slot: number }
  readonly transaction: string
}

const folder = vectorsFolder('ledger-scenarios')
/** Every n-th scenario; `RATATOSK_EVALUATE_ALL=1` is all of them. */
const every = process.env.RATATOSK_EVALUATE_ALL ? 1 : 5
const scenarioSlots: SlotConfig = { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 }

describe.skipIf(folder === undefined)('an evaluation agrees with submission', () => {
  const evaluator = createEvaluator()
  afterAll(() => evaluator.close())

  test('on the scenarios of the Haskell ledger', async (context) => {
    const services = await openers['PostgreSQL and Redis'](context)
    const { store } = services
    const lease = await store.leases.acquire('sequencer', 'test', 600_000)
    if (lease === undefined) throw new Error('The lease is taken')
    const verdicts = new Map<string, number>()
    const files = (await readdir(join(folder!, 'scenarios'))).sort().filter((_, index) => index % every === 0)
    for (const file of files) {
      const scenario: Scenario = JSON.parse(await readFile(join(folder!, 'scenarios', file), 'utf8'))
      const cbor = fromHex(scenario.transaction)
      // `/submit` and `/evaluate` both answer 400.
      if (!isWellFormed(cbor)) continue
      await store.blocks.reset(lease)
      await store.applyGenesis((scenario.initialState.utxo ?? []).map(entryOf))
      const conditions = {
        store,
        parameters: await parametersOf(scenario),
        networkId: scenario.network === 'mainnet' ? 1 : 0,
        slots: scenarioSlots,
        evaluator,
        now: () => scenario.point.slot * 1000,
      }
      const before = await schemaDigest(services.name)
      const evaluation = await openEvaluations(conditions).evaluate(cbor)
      expect(await schemaDigest(services.name), file).toEqual(before)
      await expectAgreement(file, store, cbor, evaluation, conditions)
      verdicts.set(evaluation.verdict, (verdicts.get(evaluation.verdict) ?? 0) + 1)
    }
    expect(verdicts.get('valid')).toBeGreaterThan(0)
    expect(verdicts.get('invalid')).toBeGreaterThan(0)
  })
})

/** Submits, and compares what becomes of it with what was foretold. */
async function expectAgreement(
  name: string,
  store: Store,
  cbor: Uint8Array,
  { verdict, failures, transactionId }: LedgerEvaluation,
  conditions: Pick<ValidatorOptions, 'parameters' | 'networkId' | 'slots' | 'evaluator' | 'now'>,
): Promise<void> {
  const validator = new Validator({
    ...conditions,
    store,
    scriptConcurrency: 1,
    maxWaitingForScripts: 10,
    batchSize: 1,
    batchQuietMs: 1,
    batchWaitMs: 1,
    maxAttempts: 1,
    backoff: () => 1,
    observer: {
      settled: () => {},
      batch: () => {},
      failed: (_delivery, error) => {
        throw error
      },
      storeUnavailable: () => {},
      storeAvailable: () => {},
    },
  })
  onTestFinished(() => validator.close())
  // Its only attempt is its last.
  await validator.validate({ id: name, cbor, attempt: 1, submittedAt: new Date() }, { vacate: () => {} })
  const rejection = await store.rejections.find(name)
  if (verdict === 'valid') {
    expect(rejection?.details, name).toBeUndefined()
    expect(await isAccepted(store, { id: Buffer.from(transactionId!).toString('hex') }), name).toBe(true)
    return
  }
  const details = rejection?.details as unknown as LedgerEvaluation['failures']
  expect(failures.slice(0, details.length), name).toEqual(details)
  expect(rejection?.code, name).toBe(failures[0]?.predicate)
}

function entryOf({ input, output }: { readonly input: string; readonly output: string }): LedgerEntry {
  const { address, bytes } = decodeTransactionOutput(fromHex(output))
  return { reference: decodeOutputReference(fromHex(input)), output: bytes, address: address.bytes }
}

async function parametersOf({
  protocolParameters: { $ref, $override, ...own },
}: Scenario): Promise<ProtocolParameters> {
  const shared = $ref === undefined ? {} : JSON.parse(await readFile(join(folder!, $ref), 'utf8'))
  const of = { ...shared, ...$override, ...own }
  const ratio = ({ numerator, denominator }: { numerator: number; denominator: number }): Rational => ({
    numerator: BigInt(numerator),
    denominator: BigInt(denominator),
  })
  const units = ({ memory, cpu }: { memory: number; cpu: number }) => ({
    memory: BigInt(memory),
    steps: BigInt(cpu),
  })
  const models = Object.entries(of.plutusCostModels as Record<string, number[]>).map(([language, costs]) => [
    language.replace('plutusV', 'PlutusV'),
    costs.map(BigInt),
  ])
  return {
    minFeeA: BigInt(of.minFeeCoefficient),
    minFeeB: BigInt(of.minFeeConstant),
    maxTransactionSize: of.maxTransactionSize,
    maxValueSize: of.maxValueSize,
    coinsPerUtxoByte: BigInt(of.minUtxoDepositCoefficient),
    collateralPercentage: BigInt(of.collateralPercentage),
    maxCollateralInputs: of.maxCollateralInputs,
    executionPrices: {
      memory: ratio(of.scriptExecutionPrices.memory),
      steps: ratio(of.scriptExecutionPrices.cpu),
    },
    maxTransactionExecutionUnits: units(of.maxExecutionUnitsPerTransaction),
    maxBlockExecutionUnits: units(of.maxExecutionUnitsPerBlock),
    referenceScriptCostPerByte: ratio(of.minFeeReferenceScripts.base),
    costModels: Object.fromEntries(models),
    protocolVersion: of.version,
    keyDeposit: BigInt(of.stakeCredentialDeposit),
    poolDeposit: BigInt(of.stakePoolDeposit),
    drepDeposit: BigInt(of.delegateRepresentativeDeposit),
    governanceActionDeposit: BigInt(of.governanceActionDeposit),
  }
}
