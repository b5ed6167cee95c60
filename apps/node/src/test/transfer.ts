import { readFile } from 'node:fs/promises'
import {
  type Address,
  ChangeSelectionAlgo,
  type CostModels,
  ExUnitPrices,
  hash_transaction,
  LinearFee,
  make_vkey_witness,
  Rational,
  SingleInputBuilder,
  TransactionBuilder,
  type TransactionBuilderConfig,
  TransactionBuilderConfigBuilder,
  TransactionInput,
  TransactionOutput,
  TransactionOutputBuilder,
  Value,
} from '@dcspark/cardano-multiplatform-lib-nodejs'
import { type ProtocolParameters, parseProtocolParameters } from '@ratatosk/ledger'
import type { Funds, Wallet } from './wallet.js'

export interface Transfer {
  readonly hash: string
  readonly cborHex: string
  /** Lovelace. */
  readonly fee: bigint
  /** Bytes. */
  readonly size: number
}

/** The protocol parameters of a node without PROTOCOL_PARAMETERS_FILE. */
export async function devnetParameters(): Promise<ProtocolParameters> {
  const path = new URL('../../parameters/preprod-11.json', import.meta.url)
  return parseProtocolParameters(JSON.parse(await readFile(path, 'utf8')))
}

/** Configures CML's transaction builder; cost models are needed only for scripts. */
export function builderConfig(
  parameters: ProtocolParameters,
  costModels?: CostModels,
): TransactionBuilderConfig {
  const { memory, steps } = parameters.executionPrices
  const referenceScripts = parameters.referenceScriptCostPerByte
  const builder = TransactionBuilderConfigBuilder.new()
    .fee_algo(
      LinearFee.new(
        parameters.minFeeA,
        parameters.minFeeB,
        referenceScripts.numerator / referenceScripts.denominator,
      ),
    )
    .coins_per_utxo_byte(parameters.coinsPerUtxoByte)
    .pool_deposit(parameters.poolDeposit)
    .key_deposit(parameters.keyDeposit)
    .max_value_size(parameters.maxValueSize)
    .max_tx_size(parameters.maxTransactionSize)
    .ex_unit_prices(
      ExUnitPrices.new(
        Rational.new(memory.numerator, memory.denominator),
        Rational.new(steps.numerator, steps.denominator),
      ),
    )
    .collateral_percentage(Number(parameters.collateralPercentage))
    .max_collateral_inputs(parameters.maxCollateralInputs)
  return (costModels === undefined ? builder : builder.cost_models(costModels)).build()
}

/** Builds and signs a payment that spends one output; the change goes back to its owner. */
export function signedTransfer(
  config: TransactionBuilderConfig,
  from: Wallet,
  utxo: Funds['utxo'],
  to: Address,
  lovelace: bigint,
): Transfer {
  const builder = TransactionBuilder.new(config)
  const input = SingleInputBuilder.new(
    TransactionInput.from_cbor_hex(utxo.outref),
    TransactionOutput.from_cbor_hex(utxo.value),
  )
  builder.add_input(input.payment_key())
  builder.add_output(
    TransactionOutputBuilder.new().with_address(to).next().with_value(Value.from_coin(lovelace)).build(),
  )
  const signed = builder.build(ChangeSelectionAlgo.Default, from.address)
  const hash = hash_transaction(signed.body())
  const fee = signed.body().fee()
  signed.add_vkey(make_vkey_witness(hash, from.key))
  const cborHex = signed.build_checked().to_cbor_hex()
  return { hash: hash.to_hex(), cborHex, fee, size: cborHex.length / 2 }
}

/** Lovelace in an output of hex CBOR. */
export function lovelaceOf(outputHex: string): bigint {
  return TransactionOutput.from_cbor_hex(outputHex).amount().coin()
}
