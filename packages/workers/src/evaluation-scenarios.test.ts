import { isWellFormed } from '@ratatosk/cbor'
import { ledgerScenarios, type Scenario, vectorsFolder } from '@ratatosk/fixtures/vectors'
import { decodeOutputReference, decodeTransactionOutput, type SlotConfig } from '@ratatosk/ledger'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import type { LedgerEntry, Store } from '@ratatosk/store'
import { schemaDigest } from '@ratatosk/test-kit'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { type LedgerEvaluation, openEvaluations } from './index.js'
import { isAccepted } from './test/running-worker.js'
import { openers } from './test/services.js'
import { Validator, type ValidatorOptions } from './validator.js'

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
