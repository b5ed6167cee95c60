import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { vectorsFolder } from '@ratatosk/fixtures/vectors'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { ProtocolParametersError } from '../errors.js'
import { parseProtocolParameters } from './parse.js'
import { slotToTime, timeToSlot } from './types.js'

const model = (length: number): number[] => Array.from({ length }, (_, position) => position)

/** Blockfrost's format: amounts are strings, prices decimals. */
const blockfrost = {
  min_fee_a: 44,
  min_fee_b: 155381,
  max_tx_size: 16384,
  max_val_size: '5000',
  coins_per_utxo_size: '4310',
  collateral_percent: 150,
  max_collateral_inputs: 3,
  price_mem: 0.0577,
  price_step: 7.21e-5,
  max_tx_ex_mem: '14000000',
  max_tx_ex_steps: '10000000000',
  max_block_ex_mem: '62000000',
  max_block_ex_steps: '20000000000',
  min_fee_ref_script_cost_per_byte: 15,
  cost_models_raw: { PlutusV1: model(166), PlutusV2: model(175), PlutusV3: model(297) },
  protocol_major_ver: 10,
  protocol_minor_ver: 0,
  key_deposit: '2000000',
  pool_deposit: '500000000',
  drep_deposit: '500000000',
  gov_action_deposit: '100000000000',
  epoch: 225,
}

const ada = (lovelace: number): object => ({ ada: { lovelace } })

/** Ogmios's format: prices are fractions, amounts have units. */
const ogmios = {
  minFeeCoefficient: 44,
  minFeeConstant: ada(155381),
  minFeeReferenceScripts: { range: 25600, base: 15, multiplier: 1.2 },
  maxReferenceScriptsSize: { bytes: 204800 },
  minUtxoDepositCoefficient: 4310,
  maxTransactionSize: { bytes: 16384 },
  maxValueSize: { bytes: 5000 },
  collateralPercentage: 150,
  maxCollateralInputs: 3,
  scriptExecutionPrices: { memory: '577/10000', cpu: '721/10000000' },
  maxExecutionUnitsPerTransaction: { memory: 14000000, cpu: 10000000000 },
  maxExecutionUnitsPerBlock: { memory: 62000000, cpu: 20000000000 },
  plutusCostModels: { 'plutus:v1': model(166), 'plutus:v2': model(175), 'plutus:v3': model(297) },
  version: { major: 10, minor: 0 },
  stakeCredentialDeposit: ada(2000000),
  stakePoolDeposit: ada(500000000),
  delegateRepresentativeDeposit: ada(500000000),
  governanceActionDeposit: ada(100000000000),
}

describe('parseProtocolParameters', () => {
  it('parses the format of Blockfrost', () => {
    expect(parseProtocolParameters(blockfrost)).toMatchObject({
      minFeeA: 44n,
      minFeeB: 155381n,
      maxTransactionSize: 16384,
      maxValueSize: 5000,
      coinsPerUtxoByte: 4310n,
      collateralPercentage: 150n,
      executionPrices: {
        memory: { numerator: 577n, denominator: 10_000n },
        steps: { numerator: 721n, denominator: 10_000_000n },
      },
      maxTransactionExecutionUnits: { memory: 14_000_000n, steps: 10_000_000_000n },
      referenceScriptCostPerByte: { numerator: 15n, denominator: 1n },
      ledgerVersion: { major: 10, minor: 0 },
      governanceActionDeposit: 100_000_000_000n,
    })
  })

  it('parses the format of Ogmios to the same result, with and without its JSON-RPC envelope', () => {
    const expected = { ...parseProtocolParameters(blockfrost), maxReferenceScriptsSize: 204_800 }
    expect(parseProtocolParameters(ogmios)).toEqual(expected)
    expect(parseProtocolParameters({ jsonrpc: '2.0', result: ogmios })).toEqual(expected)
    const { maxReferenceScriptsSize: _, ...ogmios7 } = ogmios
    expect(
      parseProtocolParameters({ ...ogmios7, maxReferenceScriptsSizePerTransaction: { bytes: 102_400 } }),
    ).toEqual({ ...expected, maxReferenceScriptsSize: 102_400 })
  })

  it('accepts a missing cost model', () => {
    const { costModels } = parseProtocolParameters({
      ...blockfrost,
      cost_models_raw: { PlutusV3: model(350) },
    })
    expect(Object.keys(costModels)).toEqual(['PlutusV3'])
  })

  it.each([
    ['an array', [], '', /expected a JSON object/],
    ['the keys of neither format', { fee: 1 }, '', /neither min_fee_a \(Blockfrost\) nor minFeeCoefficient/],
    ['a missing field', { ...blockfrost, max_tx_size: undefined }, 'max_tx_size', /got nothing/],
    ['a negative amount', { ...blockfrost, min_fee_b: -1 }, 'min_fee_b', /natural number, got -1/],
    ['a fraction instead of an integer', { ...blockfrost, min_fee_a: 1.5 }, 'min_fee_a', /integer, got 1.5/],
    ['a size out of range', { ...blockfrost, max_tx_size: '99999999999' }, 'max_tx_size', /out of range/],
    ['a price that is not a number', { ...blockfrost, price_mem: 'cheap' }, 'price_mem', /"cheap"/],
    [
      'a price with denominator zero',
      { ...blockfrost, price_mem: '1/0' },
      'price_mem',
      /denominator is zero/,
    ],
    [
      'a number that JSON rounds',
      { ...blockfrost, cost_models_raw: { PlutusV1: [2 ** 60] } },
      'cost_models_raw.PlutusV1[0]',
      /write it as a string/,
    ],
    [
      'a cost model of an unknown length',
      { ...blockfrost, cost_models_raw: { PlutusV3: model(231) } },
      'cost_models_raw',
      /PlutusV3 has 231 costs/,
    ],
    [
      'an amount without its unit',
      { ...ogmios, minFeeConstant: 155381 },
      'minFeeConstant',
      /expected an object, got 155381/,
    ],
  ])('refuses %s and names the field', (_, json, field, reason) => {
    const attempt = (): unknown => parseProtocolParameters(json)
    expect(attempt).toThrow(ProtocolParametersError)
    expect(attempt).toThrow(reason)
    try {
      attempt()
    } catch (error) {
      expect(error).toMatchObject({ field, code: 'LEDGER_INVALID_PARAMETERS' })
    }
  })
})

const scenarios = vectorsFolder('ledger-scenarios') ?? ''

test.skipIf(scenarios === '')('the devnet has the cost models that its file of version 11 names', () => {
  const read = (path: string | URL) => JSON.parse(readFileSync(path, 'utf8'))
  const { plutusCostModels } = read(join(scenarios, 'common', 'protocolParameters', 'preprod-287.json'))
  const file = new URL('../../../devnet/parameters/devnet-11.json', import.meta.url)
  const { costModels, ledgerVersion } = parseProtocolParameters(read(file))
  expect(ledgerVersion.major).toBe(11)
  expect(Object.values(costModels).map((model) => model.map(Number))).toEqual(Object.values(plutusCostModels))
})

const preprod = { zeroTime: 1_655_769_600_000n, zeroSlot: 86_400n, slotLength: 1000 }

describe('slotToTime and timeToSlot', () => {
  it('start counting at the configured slot and time', () => {
    expect(slotToTime(preprod, 86_400n)).toBe(1_655_769_600_000n)
    expect(slotToTime(preprod, 86_401n)).toBe(1_655_769_601_000n)
  })

  it('map every time before the next slot to the current one', () => {
    expect(timeToSlot(preprod, 1_655_769_600_999n)).toBe(86_400n)
    expect(timeToSlot(preprod, 1_655_769_599_999n)).toBe(86_399n)
  })

  it('map the times within a slot to that slot', () => {
    fc.assert(
      fc.property(
        fc.bigInt(-(10n ** 15n), 10n ** 15n),
        fc.integer({ min: 1, max: 20_000 }),
        (time, slotLength) => {
          const slots = { ...preprod, slotLength }
          const slot = timeToSlot(slots, time)
          expect(slotToTime(slots, slot) <= time && time < slotToTime(slots, slot + 1n)).toBe(true)
        },
      ),
    )
  })
})
