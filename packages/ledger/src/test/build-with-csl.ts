import * as csl from '@emurgo/cardano-serialization-lib-nodejs'
import { toHex } from '@ratatosk/cbor'
import type { AssetPlan, Plan } from './transaction-plan.js'

export function buildWithCsl(wanted: Plan): { bytes: Uint8Array; hash: string } {
  const number = (value: bigint): csl.BigNum => csl.BigNum.from_str(value.toString())
  const inputs = csl.TransactionInputs.new()
  for (const [id, index] of wanted.inputs) {
    inputs.add(csl.TransactionInput.new(csl.TransactionHash.from_bytes(id), index))
  }
  const outputs = csl.TransactionOutputs.new()
  for (const planned of wanted.outputs) {
    const held = csl.MultiAsset.new()
    for (const [policy, name, quantity] of planned.assets) {
      held.set_asset(csl.ScriptHash.from_bytes(policy), csl.AssetName.new(name), number(quantity))
    }
    const value = csl.Value.new(number(planned.lovelace))
    if (planned.assets.length > 0) value.set_multiasset(held)
    const output = csl.TransactionOutput.new(csl.Address.from_bytes(planned.address), value)
    if (typeof planned.datum === 'bigint') {
      output.set_plutus_data(csl.PlutusData.new_integer(csl.BigInt.from_str(planned.datum.toString())))
    } else if (planned.datum !== undefined) {
      output.set_data_hash(csl.DataHash.from_bytes(planned.datum))
    }
    outputs.add(output)
  }
  const body = csl.TransactionBody.new_tx_body(inputs, outputs, number(wanted.fee))
  if (wanted.invalidBefore !== undefined)
    body.set_validity_start_interval_bignum(number(wanted.invalidBefore))
  if (wanted.invalidHereafter !== undefined) body.set_ttl(number(wanted.invalidHereafter))
  if (wanted.mint.length > 0) {
    const mint = csl.Mint.new()
    for (const planned of byPolicy(wanted.mint).values()) {
      const names = csl.MintAssets.new()
      for (const [, name, quantity] of planned) {
        names.insert(csl.AssetName.new(name), csl.Int.from_str(quantity.toString()))
      }
      mint.insert(csl.ScriptHash.from_bytes(planned[0]![0]), names)
    }
    body.set_mint(mint)
  }
  if (wanted.signers.length > 0) {
    const signers = csl.Ed25519KeyHashes.new()
    for (const signer of wanted.signers) signers.add(csl.Ed25519KeyHash.from_bytes(signer))
    body.set_required_signers(signers)
  }
  if (wanted.networkId !== undefined) {
    body.set_network_id(wanted.networkId === 0 ? csl.NetworkId.testnet() : csl.NetworkId.mainnet())
  }
  if (wanted.dataHash) body.set_script_data_hash(csl.ScriptDataHash.from_bytes(wanted.dataHash))
  if (wanted.donation !== undefined) body.set_donation(number(wanted.donation))
  const hash = csl.FixedTransaction.new_from_body_bytes(body.to_bytes()).transaction_hash()
  const witnesses = csl.TransactionWitnessSet.new()
  if (wanted.witnesses > 0) {
    const list = csl.Vkeywitnesses.new()
    for (let i = 0; i < wanted.witnesses; i++) {
      list.add(csl.make_vkey_witness(hash, csl.PrivateKey.from_normal_bytes(new Uint8Array(32).fill(i + 1))))
    }
    witnesses.set_vkeys(list)
  }
  let auxiliaryData: csl.AuxiliaryData | undefined
  if (wanted.metadata.size > 0) {
    const metadata = csl.GeneralTransactionMetadata.new()
    for (const [label, text] of wanted.metadata)
      metadata.insert(number(label), csl.TransactionMetadatum.new_text(text))
    auxiliaryData = csl.AuxiliaryData.new()
    auxiliaryData.set_metadata(metadata)
  }
  return { bytes: csl.Transaction.new(body, witnesses, auxiliaryData).to_bytes(), hash: hash.to_hex() }
}

function byPolicy(planned: readonly AssetPlan[]): Map<string, AssetPlan[]> {
  const policies = new Map<string, AssetPlan[]>()
  for (const asset of planned)
    policies.set(toHex(asset[0]), [...(policies.get(toHex(asset[0])) ?? []), asset])
  return policies
}
