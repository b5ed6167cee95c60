import * as cml from '@dcspark/cardano-multiplatform-lib-nodejs'
import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import {
  blake2b256,
  minimumFee,
  minimumLovelace,
  outputReferenceKey,
  scriptHash,
  type Utxo,
} from '../index.js'
import { buildTransaction } from './build-transaction.js'
import { addAssets, addQuantity, addValue, lovelaceUnit, type Quantities } from './coin-selection.js'
import { type OutputContent, type ScriptContent, toOutput } from './encode.js'
import { emptyKeys, keys, openEvaluator, parameters } from './test/fixtures.js'
import type { BuildContext, BuiltTransaction, TransactionDraft } from './types.js'

const evaluator = openEvaluator()
afterAll(() => evaluator.close())

const unit = fromHex('d87980')
const succeeding: ScriptContent = { language: 'PlutusV3', bytes: fromHex('450101002499') }
const failing: ScriptContent = { language: 'PlutusV3', bytes: fromHex('450101002601') }
/** Serialises the script context: the larger it is, the more this costs. */
const sizing: ScriptContent = { language: 'PlutusV3', bytes: fromHex('4a010100232498dd980081') }
const hashOf = ({ language, bytes }: ScriptContent) => scriptHash(language, bytes)
const policyScript: ScriptContent = {
  language: 'native',
  bytes: new CborWriter().array(2).uint(0).bytes(keys.payment.hash).toBytes(),
}
const policy = toHex(hashOf(policyScript))

let made = 0
function utxo(content: Partial<OutputContent> & { readonly lovelace?: bigint } = {}): Utxo {
  const { lovelace = 10_000_000n, ...rest } = content
  return {
    reference: { transactionId: blake2b256(Buffer.from(`${made++}`)), index: made % 3 },
    output: toOutput({
      address: keys.address.bytes,
      value: { lovelace, assets: new Map() },
      datum: { kind: 'none' },
      ...rest,
    }),
  }
}

const context = (funds: readonly Utxo[]): BuildContext => ({
  funds,
  changeAddress: keys.address.bytes,
  signers: [keys.payment],
  parameters,
  slots: { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 },
  slot: 1000n,
  networkId: 0,
  evaluator,
})

function counting(given: BuildContext, runs: string[]): BuildContext {
  return {
    ...given,
    evaluator: {
      async evaluate(transaction, utxos, ...others) {
        const result = await evaluator.evaluate(transaction, utxos, ...others)
        const isMeasuring = transaction.witnesses.redeemers.some(
          ({ executionUnits }) => executionUnits.memory === parameters.maxTransactionExecutionUnits.memory,
        )
        runs.push(isMeasuring ? 'measured' : result.ok ? 'validated' : 'exceeded')
        return result
      },
    },
  }
}

/** Inputs and minting less outputs; without fee and minting nothing is left. */
function balanceOf({ spent, transaction, fee }: BuiltTransaction): Quantities {
  const balance: Quantities = new Map()
  for (const { output } of spent) addValue(balance, output.value)
  addAssets(balance, transaction.body.mint)
  for (const { value } of transaction.body.outputs) addValue(balance, value, -1n)
  addQuantity(balance, lovelaceUnit, -fee)
  return balance
}

describe('payments', () => {
  it('balance, pay the least fee, and are read alike by CML, for any funds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.bigInt(1_000_000n, 10n ** 13n), { minLength: 1, maxLength: 12 }),
        fc.bigInt(1_000_000n, 10n ** 13n),
        async (holdings, lovelace) => {
          const funds = holdings.map((held) => utxo({ lovelace: held }))
          const draft = { outputs: [{ address: emptyKeys.addressText, lovelace }], validUntil: 2000n }
          let built: BuiltTransaction
          try {
            built = await buildTransaction(draft, context(funds))
          } catch (error) {
            const sum = holdings.reduce((total, held) => total + held, 0n)
            // Change that would be too small for an output, and no more funds to enlarge it, is lacking too.
            expect(error).toMatchObject({ code: 'WALLET_INSUFFICIENT_FUNDS' })
            expect(sum - lovelace < 1_500_000n).toBe(true)
            return
          }
          expect([...balanceOf(built)]).toEqual([])
          const excess = built.fee - minimumFee(built.transaction, parameters, 0)
          expect(excess >= 0n && excess < 1000n).toBe(true)
          const other = cml.Transaction.from_cbor_bytes(built.bytes)
          expect(cml.hash_transaction(other.body()).to_hex()).toBe(toHex(built.id))
          expect(toHex(other.to_cbor_bytes())).toBe(toHex(built.bytes))
        },
      ),
      { numRuns: 40 },
    )
  })

  it('give an output without lovelace the least that it may hold', async () => {
    const assets = new Map([[policy, new Map([['746f6b656e', 5n]])]])
    const draft: TransactionDraft = {
      mint: [{ policy, assets: new Map([['746f6b656e', 5n]]) }],
      scripts: [policyScript],
      outputs: [{ address: emptyKeys.addressText, assets, datum: { kind: 'inline', data: unit } }],
    }
    const built = await buildTransaction(draft, context([utxo()]))
    const [output] = built.transaction.body.outputs
    expect(output!.value.lovelace).toBe(minimumLovelace(output!, parameters))
    expect([...balanceOf(built)]).toEqual([])
  })

  it('are paid by ada alone where the draft asks for it', async () => {
    const assets = new Map([[policy, new Map([['', 3n]])]])
    const rich = utxo({ value: { lovelace: 20_000_000n, assets } })
    const draft = { outputs: [{ address: emptyKeys.addressText, lovelace: 15_000_000n }], paidByAda: true }
    const built = await buildTransaction(draft, context([utxo(), rich, utxo()]))
    expect(built.spent).not.toContain(rich)
    await expect(buildTransaction(draft, context([utxo(), rich]))).rejects.toMatchObject({
      code: 'WALLET_INSUFFICIENT_FUNDS',
    })
  })

  it('keep within the limits of layer 2 where they are for it', async () => {
    const output = { address: emptyKeys.addressText, lovelace: 1_000_000n }
    const draft = { outputs: Array.from({ length: 100 }, () => output) }
    const on1 = context([utxo({ lovelace: 200_000_000n })])
    expect((await buildTransaction(draft, on1)).produced).toHaveLength(101)
    await expect(buildTransaction(draft, { ...on1, layer: 2 })).rejects.toMatchObject({
      code: 'WALLET_TRANSACTION_REFUSED',
      failures: [{ predicate: 'TooManyOutputs' }],
    })
  })

  it('are refused by a wallet error where a quantity fits into no transaction', async () => {
    const mint = [{ policy, assets: new Map([['aa', 2n ** 63n]]) }]
    await expect(
      buildTransaction({ mint, scripts: [policyScript] }, context([utxo()])),
    ).rejects.toMatchObject({
      name: 'WalletError',
      code: 'WALLET_INVALID_DRAFT',
      message: expect.stringContaining('signed 64-bit integer'),
    })
  })

  it('keep every asset of the funds that they spend', async () => {
    const assets = new Map([
      [
        policy,
        new Map([
          ['', 3n],
          ['aa', 10n ** 18n],
        ]),
      ],
    ])
    const rich = utxo({ value: { lovelace: 20_000_000n, assets } })
    const built = await buildTransaction(
      { outputs: [{ address: emptyKeys.addressText, assets: new Map([[policy, new Map([['', 1n]])]]) }] },
      context([utxo(), rich]),
    )
    expect(built.spent).toContain(rich)
    expect([...balanceOf(built)]).toEqual([])
  })

  it('spend outputs with scripts for reference only where they are named', async () => {
    const library = utxo({ referenceScript: succeeding })
    const draft: TransactionDraft = { outputs: [{ address: emptyKeys.addressText, lovelace: 12_000_000n }] }
    await expect(buildTransaction(draft, context([utxo(), library]))).rejects.toMatchObject({
      code: 'WALLET_INSUFFICIENT_FUNDS',
    })
    const built = await buildTransaction(
      { ...draft, inputs: [{ utxo: library }] },
      context([utxo(), library]),
    )
    expect(built.spent).toContain(library)
    expect([...balanceOf(built)]).toEqual([])
  })

  it.each<[string, TransactionDraft, string]>([
    [
      'funds that do not suffice',
      { outputs: [{ address: emptyKeys.addressText, lovelace: 10n ** 12n }] },
      'WALLET_INSUFFICIENT_FUNDS',
    ],
    ['what is not an address', { outputs: [{ address: 'addr_test1' }] }, 'WALLET_INVALID_DRAFT'],
    ['a signature of no signer', { requiredSigners: [emptyKeys.payment.hash] }, 'WALLET_INVALID_DRAFT'],
    [
      'too little lovelace',
      { outputs: [{ address: emptyKeys.addressText, lovelace: 1n }] },
      'WALLET_TRANSACTION_REFUSED',
    ],
    ['a validity that is over', { validUntil: 1000n }, 'WALLET_TRANSACTION_REFUSED'],
    [
      'an address of another network',
      { outputs: [{ address: Uint8Array.of(0x61, ...keys.payment.hash), lovelace: 2_000_000n }] },
      'WALLET_TRANSACTION_REFUSED',
    ],
    [
      'a policy without its script',
      { mint: [{ policy, assets: new Map([['', 1n]]) }] },
      'WALLET_TRANSACTION_REFUSED',
    ],
    [
      'a policy without script, with redeemer',
      { mint: [{ policy, assets: new Map([['', 1n]]), redeemer: unit }] },
      'WALLET_INVALID_DRAFT',
    ],
  ])('are refused with %s', async (_, draft, code) => {
    await expect(buildTransaction(draft, context([utxo(), utxo()]))).rejects.toMatchObject({
      name: 'WalletError',
      code,
    })
  })
})

describe('scripts', () => {
  const lockedBy = (script: ScriptContent) =>
    utxo({ address: Uint8Array.of(0x70, ...hashOf(script)), datum: { kind: 'inline', data: unit } })

  it('get budgets, collateral and data hash; indices follow the sorted inputs and policies', async () => {
    const inputs = Array.from({ length: 4 }, () => ({ utxo: lockedBy(succeeding), redeemer: unit }))
    const minted = toHex(hashOf(succeeding))
    const draft: TransactionDraft = {
      inputs,
      mint: [
        { policy: minted, assets: new Map([['', 1n]]), redeemer: unit },
        { policy, assets: new Map([['', 1n]]) },
      ],
      outputs: [{ address: emptyKeys.addressText, lovelace: 45_000_000n }],
      scripts: [succeeding, policyScript],
    }
    const built = await buildTransaction(draft, context([utxo(), utxo()]))
    const { redeemers } = built.transaction.witnesses
    expect(redeemers.filter(({ purpose }) => purpose === 'spend')).toHaveLength(4)
    expect(redeemers.find(({ purpose }) => purpose === 'mint')!.index).toBe(
      [minted, policy].sort().indexOf(minted),
    )
    for (const { executionUnits } of redeemers) {
      // 500 memory units and 64,100 steps, with a twentieth more.
      expect(executionUnits).toEqual({ memory: 526n, steps: 67_306n })
    }
    expect(built.collateral.length).toBeGreaterThan(0)
    expect(built.collateral.every((input) => built.spent.includes(input))).toBe(true)
    expect(built.transaction.body.totalCollateral).toBe((built.fee * 150n + 99n) / 100n)
    expect([...balanceOf(built)]).toEqual([])
  })

  it('get redeemers that name the places of inputs, wherever funds move these', async () => {
    const place = (index: number) => new CborWriter().uint(index).toBytes()
    const [leader, follower] = [lockedBy(succeeding), lockedBy(succeeding)]
    const draft: TransactionDraft = {
      inputs: [
        { utxo: leader, redeemer: unit },
        { utxo: follower, redeemer: (placeOf) => place(placeOf(leader)) },
      ],
      outputs: [{ address: emptyKeys.addressText, lovelace: 90_000_000n }],
      scripts: [succeeding],
    }
    const funds = Array.from({ length: 10 }, () => utxo())
    const built = await buildTransaction(draft, context(funds))
    const { inputs } = built.transaction.body
    const placeOf = ({ reference }: Utxo) =>
      inputs.findIndex((input) => outputReferenceKey(input) === outputReferenceKey(reference))
    const found = built.transaction.witnesses.redeemers.find(({ index }) => index === placeOf(follower))
    expect(found!.data).toEqual(place(placeOf(leader)))

    const other = lockedBy(succeeding)
    const wrong = {
      ...draft,
      inputs: [{ utxo: leader, redeemer: (of) => place(of(other)) }],
    } satisfies TransactionDraft
    await expect(buildTransaction(wrong, context(funds))).rejects.toMatchObject({
      code: 'WALLET_INVALID_DRAFT',
    })
  })

  it('are taken from reference inputs, whose bytes the fee pays for', async () => {
    const library = utxo({ referenceScript: succeeding })
    const draft: TransactionDraft = {
      inputs: [{ utxo: lockedBy(succeeding), redeemer: unit }],
      referenceInputs: [library],
    }
    const built = await buildTransaction(draft, context([utxo(), library]))
    expect(built.spent).not.toContain(library)
    expect(built.fee - minimumFee(built.transaction, parameters, succeeding.bytes.length) < 1000n).toBe(true)
  })

  it('run twice: measured once, and validated once with their budgets', async () => {
    const runs: string[] = []
    const draft: TransactionDraft = {
      inputs: [{ utxo: lockedBy(succeeding), redeemer: unit }],
      scripts: [succeeding],
    }
    await buildTransaction(draft, counting(context([utxo(), utxo()]), runs))
    expect(runs).toEqual(['measured', 'validated'])
  })

  it('are measured again where another input makes them exceed their budgets', async () => {
    const runs: string[] = []
    const draft: TransactionDraft = {
      inputs: [{ utxo: lockedBy(sizing), redeemer: unit }],
      // The rest covers the fee only while the redeemers have no budgets.
      outputs: [{ address: emptyKeys.addressText, lovelace: 8_843_000n }],
      scripts: [sizing],
    }
    const built = await buildTransaction(draft, counting(context([utxo(), utxo(), utxo()]), runs))
    expect(built.spent).toHaveLength(2)
    expect(runs).toEqual(['measured', 'exceeded', 'measured', 'validated'])
    expect([...balanceOf(built)]).toEqual([])
  })

  it('that pay for themselves take collateral from funds that they leave alone', async () => {
    const funds = [utxo()]
    const draft: TransactionDraft = {
      inputs: [{ utxo: lockedBy(succeeding), redeemer: unit }],
      scripts: [succeeding],
    }
    const built = await buildTransaction(draft, context(funds))
    expect(built.spent).toHaveLength(1)
    expect(built.collateral).toEqual(funds)
  })

  it('that fail are refused before anything is signed', async () => {
    const draft: TransactionDraft = {
      inputs: [{ utxo: lockedBy(failing), redeemer: unit }],
      scripts: [failing],
    }
    await expect(buildTransaction(draft, context([utxo()]))).rejects.toMatchObject({
      code: 'WALLET_TRANSACTION_REFUSED',
      failures: [{ predicate: 'ScriptFailure' }],
    })
  })

  it('need an evaluator', async () => {
    const draft: TransactionDraft = {
      inputs: [{ utxo: lockedBy(succeeding), redeemer: unit }],
      scripts: [succeeding],
    }
    const { evaluator: _, ...without } = context([utxo()])
    await expect(buildTransaction(draft, without)).rejects.toMatchObject({ code: 'WALLET_INVALID_DRAFT' })
  })
})
