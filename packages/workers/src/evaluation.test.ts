import { fromHex } from '@ratatosk/cbor'
import { createEvaluator } from '@ratatosk/ledger/plutus'
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
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  EvaluationsBusyError,
  type EvaluationsOptions,
  type LedgerEvaluation,
  openEvaluations,
  openTurns,
} from './index.js'
import { minting, withCostModel } from './test/minting.js'
import { run } from './test/running-worker.js'
import { openers, type Services } from './test/services.js'

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
