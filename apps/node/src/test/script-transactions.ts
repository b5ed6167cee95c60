import {
  BigInteger,
  ChangeSelectionAlgo,
  CostModels,
  Credential,
  DatumOption,
  Ed25519KeyHashList,
  EnterpriseAddress,
  ExUnits,
  hash_transaction,
  make_vkey_witness,
  PartialPlutusWitness,
  PlutusData,
  PlutusScript,
  PlutusScriptWitness,
  PlutusV3Script,
  RedeemerTag,
  RedeemerWitnessKey,
  SingleInputBuilder,
  TransactionBuilder,
  type TransactionBuilderConfig,
  TransactionHash,
  TransactionInput,
  TransactionOutput,
  TransactionOutputBuilder,
  Value,
} from '@dcspark/cardano-multiplatform-lib-nodejs'
import { builderConfig, devnetParameters, type Funds, type Transfer } from './transfer.js'

/** Plutus V3: succeeds if the redeemer is 42, else traces "the redeemer must be 42" and fails. */
export const wants42 =
  '583c01000025333573466e1d2054375a6ae84d5d11aab9e3754002293099319ab9c491177468652072656465656d6572' +
  '206d757374206265203432004981'

/** Plutus V3: succeeds if the redeemer is 42, else applies a function to itself for ever. */
export const endless = '582401000025333573466e1d2054375a6ae84d5d11aab9e37540022930991800800918008009'

export interface LockedOutput {
  readonly script: string
  readonly input: TransactionInput
  readonly output: TransactionOutput
}

/** A transaction builder's configuration for transactions with scripts, as CML needs it. */
export async function scriptConfig(): Promise<TransactionBuilderConfig> {
  const parameters = await devnetParameters()
  const { PlutusV1, PlutusV2, PlutusV3 } = parameters.costModels
  const models = [PlutusV1, PlutusV2, PlutusV3].map((model) => model?.map(Number))
  return builderConfig(parameters, CostModels.from_json(JSON.stringify({ ...models })))
}

/** Pays lovelace to a script's address, with an inline datum. */
export function lock(
  config: TransactionBuilderConfig,
  { wallet, utxo }: Funds,
  script: string,
  lovelace: bigint,
): { transfer: Transfer; locked: LockedOutput } {
  const credential = Credential.new_script(plutus(script).hash())
  const builder = TransactionBuilder.new(config)
  builder.add_input(ownInput(utxo).payment_key())
  builder.add_output(
    TransactionOutputBuilder.new()
      .with_address(EnterpriseAddress.new(0, credential).to_address())
      .with_data(DatumOption.new_datum(integer(0n)))
      .next()
      .with_value(Value.from_coin(lovelace))
      .build(),
  )
  const { transfer, outputs } = signed(builder, { wallet, utxo })
  const input = TransactionInput.new(TransactionHash.from_hex(transfer.hash), 0n)
  return { transfer, locked: { script, input, output: outputs[0]! } }
}

/** Spends a locked output to the wallet that provides the collateral. */
export function unlock(
  config: TransactionBuilderConfig,
  { script, input, output }: LockedOutput,
  redeemer: bigint,
  units: { readonly memory: bigint; readonly steps: bigint },
  collateral: Funds,
): Transfer {
  const witness = PartialPlutusWitness.new(PlutusScriptWitness.new_script(plutus(script)), integer(redeemer))
  const builder = TransactionBuilder.new(config)
  builder.add_input(
    SingleInputBuilder.new(input, output).plutus_script_inline_datum(witness, Ed25519KeyHashList.new()),
  )
  builder.add_collateral(ownInput(collateral.utxo).payment_key())
  builder.set_exunits(RedeemerWitnessKey.new(RedeemerTag.Spend, 0n), ExUnits.new(units.memory, units.steps))
  return signed(builder, collateral).transfer
}

function signed(builder: TransactionBuilder, { wallet }: Funds) {
  const built = builder.build(ChangeSelectionAlgo.Default, wallet.address)
  const body = built.body()
  const hash = hash_transaction(body)
  built.add_vkey(make_vkey_witness(hash, wallet.key))
  const cborHex = built.build_checked().to_cbor_hex()
  const list = body.outputs()
  const outputs = Array.from({ length: list.len() }, (_, index) => list.get(index))
  const transfer: Transfer = { hash: hash.to_hex(), cborHex, fee: body.fee(), size: cborHex.length / 2 }
  return { transfer, outputs }
}

function ownInput({ outref, value }: Funds['utxo']): SingleInputBuilder {
  return SingleInputBuilder.new(
    TransactionInput.from_cbor_hex(outref),
    TransactionOutput.from_cbor_hex(value),
  )
}

function plutus(script: string): PlutusScript {
  return PlutusScript.from_v3(PlutusV3Script.from_raw_bytes(Buffer.from(script, 'hex')))
}

function integer(value: bigint): PlutusData {
  return PlutusData.new_integer(BigInteger.from_str(String(value)))
}
