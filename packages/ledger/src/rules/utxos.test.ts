import { CborWriter, toHex } from '@ratatosk/cbor'
import { afterAll, describe, expect, it } from 'vitest'
import { crc32, decodeAddress } from '../address/address.js'
import { ScriptsNotRunError } from '../errors.js'
import { createEvaluator } from '../plutus/evaluator.js'
import { failing, type Mint, mintTransaction, succeeding, tracing } from '../plutus/test/programs.js'
import { describeVectors, scenarioParameters, threadProgram } from '../plutus/test/setup.js'
import type { Transaction, TransactionBody } from '../transaction/types.js'
import type { RuleContext } from './context.js'
import type { Failures } from './predicates.js'
import { redeemerFaults, validateScripts } from './utxos.js'

const slots = { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 }

describeVectors(['ledger-scenarios'], 'phase 2 (needs the cost models of ledger-scenarios)', (scenarios) => {
  const parameters = scenarioParameters(scenarios, 'preprod-conway-v10', 10)
  const context: RuleContext = { parameters, networkId: 0, slot: 0n }
  const evaluator = createEvaluator({ threads: 1, threadProgram })
  afterAll(() => evaluator.close())

  const validateMint = (
    mint: Mint,
    change: (transaction: Transaction) => Transaction = (transaction) => transaction,
    of = context,
  ): Promise<Failures> => {
    const { transaction, utxos } = mintTransaction(mint)
    return validateScripts(change(transaction), utxos, of, { evaluator, slots })
  }
  const withBody =
    (changes: Partial<TransactionBody>) =>
    (transaction: Transaction): Transaction => ({ ...transaction, body: { ...transaction.body, ...changes } })
  const marked = (transaction: Transaction): Transaction => ({ ...transaction, isValid: false })

  it('accepts a transaction whose scripts succeed', async () => {
    expect(await validateMint({ flat: succeeding })).toEqual([])
  })

  it('accepts a transaction that is marked invalid and whose script fails', async () => {
    expect(await validateMint({ flat: failing }, marked)).toEqual([])
  })

  it('reports the failed script and its traces', async () => {
    const [failure, ...others] = await validateMint({ flat: tracing })
    expect(others).toEqual([])
    expect(failure).toMatchObject({
      predicate: 'ValidationTagMismatch',
      details: {
        isValid: true,
        description: 'FailedUnexpectedly',
        failures: [{ purpose: 'mint', index: 0, kind: 'ScriptFailure', logs: ['first line', 'second line'] }],
      },
    })
    expect(JSON.parse(JSON.stringify(failure))).toEqual(failure)
  })

  it('reports the units of a script that exceeds its budget', async () => {
    const [failure] = await validateMint({ flat: succeeding, declared: { memory: 1n, steps: 1n } })
    expect(failure?.details.failures).toMatchObject([
      { purpose: 'mint', index: 0, kind: 'BudgetExceeded', declared: { memory: '1', steps: '1' } },
    ])
  })

  it('refuses a transaction that is marked invalid while its scripts succeed', async () => {
    expect(await validateMint({ flat: succeeding }, marked)).toMatchObject([
      { predicate: 'ValidationTagMismatch', details: { description: 'PassedUnexpectedly' } },
    ])
  })

  it('refuses a transaction that is marked invalid and has no scripts', async () => {
    const { transaction, utxos } = mintTransaction({ flat: succeeding })
    const plain = marked(withBody({ mint: new Map() })(transaction))
    expect(await validateScripts(plain, utxos, context)).toMatchObject([
      { predicate: 'ValidationTagMismatch', details: { description: 'PassedUnexpectedly' } },
    ])
  })

  it('rejects with ScriptsNotRunError if scripts cannot run', async () => {
    const { transaction, utxos } = mintTransaction({ flat: succeeding })
    await expect(validateScripts(transaction, utxos, context)).rejects.toThrow(ScriptsNotRunError)
  })

  const outputOf = ({ body }: Transaction) => body.outputs[0]!
  const byron = (transaction: Transaction): Transaction => {
    const payload = new CborWriter().array(3).bytes(new Uint8Array(28)).map(0).uint(0).toBytes()
    const address = decodeAddress(
      new CborWriter().array(2).tag(24).bytes(payload).uint(crc32(payload)).toBytes(),
    )
    return withBody({ outputs: [{ ...outputOf(transaction), address }] })(transaction)
  }
  const inlineDatum = (transaction: Transaction): Transaction =>
    withBody({ outputs: [{ ...outputOf(transaction), datum: { kind: 'inline', data: Uint8Array.of(0) } }] })(
      transaction,
    )
  const certificate = (kind: string) => withBody({ certificates: [{ kind, bytes: Uint8Array.of() }] })
  const overlap = (transaction: Transaction): Transaction =>
    withBody({ referenceInputs: transaction.body.inputs })(transaction)
  const version11 = { ...context, parameters: { ...parameters, ledgerVersion: { major: 11, minor: 0 } } }

  it.each<[string, Mint['language'], (transaction: Transaction) => Transaction, RuleContext?]>([
    ['InlineDatumsNotSupported', 'PlutusV1', inlineDatum],
    ['ByronTxOutInContext', 'PlutusV1', byron],
    ['ByronTxOutInContext', 'PlutusV3', byron],
    ['TreasuryDonationFieldNotSupported', 'PlutusV2', withBody({ treasuryDonation: 1n })],
    ['CurrentTreasuryFieldNotSupported', 'PlutusV1', withBody({ currentTreasury: 1n })],
    ['CertificateNotSupported', 'PlutusV2', certificate('vote_deleg_cert')],
    ['ReferenceInputsNotDisjointFromInputs', 'PlutusV3', overlap, version11],
  ])('refuses what a script context cannot represent: %s in %s', async (reason, language, change, of) => {
    expect(
      await validateMint({ flat: succeeding, language: language ?? 'PlutusV3' }, change, of),
    ).toMatchObject([
      { predicate: 'CollectErrors', details: { errors: [{ error: 'BadTranslation', language, reason }] } },
    ])
  })

  it.each<[string, Mint['language'], (transaction: Transaction) => Transaction, RuleContext?]>([
    ['an inline datum in V2', 'PlutusV2', inlineDatum],
    ['a registration in V1', 'PlutusV1', certificate('reg_cert')],
    ['a donation in V3', 'PlutusV3', withBody({ treasuryDonation: 1n })],
    ['an overlap in V2', 'PlutusV2', overlap, version11],
  ])('accepts %s', async (_, language, change, of) => {
    const { transaction, utxos } = mintTransaction({ flat: succeeding, language: language ?? 'PlutusV3' })
    // The script contexts are valid, so only the evaluator remains, and there is none.
    await expect(validateScripts(change(transaction), utxos, of ?? context)).rejects.toThrow(
      ScriptsNotRunError,
    )
  })

  it('refuses a language without a cost model', async () => {
    const bare = { ...context, parameters: { ...parameters, costModels: {} } }
    expect(await validateMint({ flat: succeeding }, undefined, bare)).toMatchObject([
      { predicate: 'CollectErrors', details: { errors: [{ error: 'NoCostModel', language: 'PlutusV3' }] } },
    ])
  })
})

describe('redeemer faults', () => {
  const parameters = { ledgerVersion: { major: 10, minor: 0 }, costModels: { PlutusV2: [], PlutusV3: [] } }
  const context = { parameters, networkId: 0, slot: 5n, forecastHorizon: 100n } as unknown as RuleContext
  const { transaction, utxos } = mintTransaction({ flat: succeeding })
  const [key = ''] = utxos.keys()
  const [script] = transaction.witnesses.scripts
  const [redeemer] = transaction.witnesses.redeemers
  const policy = toHex(script!.hash)

  function faultsOf(
    { witnesses = {}, body = {} }: { witnesses?: object; body?: object },
    outputs: typeof utxos = utxos,
    of: RuleContext = context,
  ) {
    const changed = {
      ...transaction,
      witnesses: { ...transaction.witnesses, ...witnesses },
      body: { ...transaction.body, ...body },
    } as Transaction
    return redeemerFaults(changed, outputs, of).map(({ redeemer: { purpose, index }, fault }) => ({
      pointer: `${purpose}:${index}`,
      ...fault,
    }))
  }

  it('finds none if the script of each redeemer can run', () => {
    expect(faultsOf({})).toEqual([])
    expect(faultsOf({ body: { validityInterval: { invalidBefore: 5n, invalidHereafter: 100n } } })).toEqual(
      [],
    )
  })

  it('finds redeemers without a script, and scripts that are missing', () => {
    const redeemers = [{ ...redeemer!, index: 9 }, redeemer, { ...redeemer!, purpose: 'spend' as const }]
    expect(faultsOf({ witnesses: { redeemers, scripts: [] } })).toEqual([
      { pointer: 'mint:9', kind: 'Extraneous' },
      { pointer: 'mint:0', kind: 'MissingScript', scriptHash: policy },
      { pointer: 'spend:0', kind: 'Extraneous' },
    ])
  })

  it('names unknown inputs, also to a redeemer that points to one', () => {
    const redeemers = [redeemer, { ...redeemer!, purpose: 'spend' as const }]
    const unknown = { kind: 'UnknownInputs', references: [key] }
    expect(faultsOf({ witnesses: { redeemers } }, new Map())).toEqual([
      { pointer: 'mint:0', ...unknown },
      { pointer: 'spend:0', ...unknown },
    ])
    expect(faultsOf({ witnesses: { redeemers: [] } }, new Map())).toEqual([])
  })

  it('finds a language without cost model, and bounds beyond the horizon', () => {
    const without = { ...context, parameters: { ...context.parameters, costModels: {} } }
    expect(faultsOf({}, utxos, without)).toEqual([
      { pointer: 'mint:0', kind: 'NoCostModel', language: 'PlutusV3' },
    ])
    for (const validityInterval of [{ invalidHereafter: 101n }, { invalidBefore: 2n ** 63n }]) {
      expect(faultsOf({ body: { validityInterval } })).toEqual([
        { pointer: 'mint:0', kind: 'BadTranslation', reason: 'TimeTranslationPastHorizon' },
      ])
    }
  })
})
