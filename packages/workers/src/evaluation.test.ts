import { fromHex, isWellFormed } from '@ratatosk/cbor'
import { ledgerScenarios, type Scenario, vectorsFolder } from '@ratatosk/fixtures/vectors'
import { decodeOutputReference, decodeTransactionOutput, type SlotConfig } from '@ratatosk/ledger'
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
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  EvaluationsBusyError,
  type EvaluationsOptions,
  type LedgerEvaluation,
  openEvaluations,
  openTurns,
} from './index.js'
import { minting, withCostModel } from './test/minting.js'
import { isAccepted, openers, run, type Services } from './test/running-worker.js'
import { Validator, type ValidatorOptions } from './validation-worker.js'

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
      // More than three signatures are not verified if anything else fails.
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
      turns: openTurns({ maxWaiting: 2 }),
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

describe('evaluation scenarios', () => {
  const folder = vectorsFolder('ledger-scenarios')
  /** Every n-th scenario; `RATATOSK_EVALUATE_ALL=1` is all of them. */
  const every = process.env.RATATOSK_EVALUATE_ALL ? 1 : 20
  const slots: SlotConfig = { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 }

  describe.skipIf(folder === undefined)('an evaluation agrees with submission', () => {
    const evaluator = createEvaluator()
    afterAll(() => evaluator.close())

    test('on the scenarios of the Haskell ledger', async (context) => {
      const services = await openers['PostgreSQL and Redis'](context)
      const { store } = services
      const lease = await store.leases.acquire('sequencer', 'test', 600_000)
      if (lease === undefined) throw new Error('The lease is taken')
      const verdicts = new Map<string, number>()
      for (const [index, scenario] of [...ledgerScenarios(folder!)].entries()) {
        const { name, network, parameters, slot, transaction, unspent } = scenario
        // `/submit` and `/evaluate` both answer 400.
        if (index % every !== 0 || !isWellFormed(transaction)) continue
        await store.blocks.reset(lease)
        await store.applyGenesis(unspent.map(entryOf))
        const conditions = {
          store,
          parameters,
          networkId: network === 'mainnet' ? 1 : 0,
          slots,
          evaluator,
          now: () => Number(slot) * 1000,
        }
        const before = await schemaDigest(services.name)
        const evaluation = await openEvaluations(conditions).evaluate(transaction)
        expect(await schemaDigest(services.name), name).toEqual(before)
        await expectAgreement(name, store, transaction, evaluation, conditions)
        verdicts.set(evaluation.verdict, (verdicts.get(evaluation.verdict) ?? 0) + 1)
      }
      expect(verdicts.get('valid')).toBeGreaterThan(0)
      expect(verdicts.get('invalid')).toBeGreaterThan(0)
    })
  })

  /** Submits, and compares the outcome with the evaluation. */
  async function expectAgreement(
    name: string,
    store: Store,
    cbor: Uint8Array,
    { verdict, failures, transactionId }: LedgerEvaluation,
    conditions: Pick<ValidatorOptions, 'parameters' | 'networkId' | 'slots' | 'evaluator' | 'now'>,
  ): Promise<void> {
    const validator = new Validator({
      ...conditions,
      blockTime: conditions.now,
      store,
      leaving: undefined,
      scriptConcurrency: 1,
      maxWaitingForScripts: 10,
      batches: { size: 1, quietMs: 1, maxMs: 1 },
      maxAttempts: 1,
      backoff: () => 1,
      observer: {
        settled: () => {},
        examined: () => {},
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

  function entryOf([reference, output]: Scenario['unspent'][number]): LedgerEntry {
    const { address, bytes } = decodeTransactionOutput(output)
    return { reference: decodeOutputReference(reference), output: bytes, address: address.bytes }
  }
})

/** Work that is in progress until it is ended. */
function held() {
  let begin: () => void = () => {}
  let end: () => void = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const work = async () => {
    begin()
    await ended
  }
  return { work, begun, end: () => end() }
}

describe('turns', () => {
  test('begin one at a time, the cheapest first', async () => {
    const { take } = openTurns()
    const first = held()
    const order: bigint[] = []
    const running = take(9n, undefined, first.work)
    await first.begun
    const others = [3n, 1n, 2n].map((cost) => take(cost, undefined, async () => order.push(cost)))
    expect(order).toEqual([])
    first.end()
    await Promise.all([running, ...others])
    expect(order).toEqual([1n, 2n, 3n])
  })

  test('are not taken by those that have left', async () => {
    const { take } = openTurns()
    const first = held()
    const gone = new AbortController()
    let ran = 0
    const work = async () => ++ran
    const running = take(1n, gone.signal, first.work)
    await first.begun
    const left = Array.from({ length: 32 }, () => take(1n, gone.signal, work).catch((error) => error.name))
    gone.abort()
    expect(new Set(await Promise.all(left))).toEqual(new Set(['AbortError']))
    await expect(take(1n, gone.signal, work)).rejects.toThrow('aborted')
    const stays = take(2n, undefined, work)
    first.end()
    await running
    expect(await stays).toBe(1)
  })

  test('are refused beyond the limits of those that wait and of the wait', async () => {
    const { take } = openTurns({ maxWaiting: 1, maxWaitMs: 1 })
    const first = held()
    const running = take(1n, undefined, first.work)
    await first.begun
    const late = take(1n, undefined, async () => {})
    await expect(take(1n, undefined, async () => {})).rejects.toThrow(EvaluationsBusyError)
    await expect(late).rejects.toThrow(EvaluationsBusyError)
    first.end()
    await running
  })

  test('pass on when work fails', async () => {
    const { take } = openTurns()
    await expect(take(1n, undefined, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await take(1n, undefined, async () => 2)).toBe(2)
  })
})
