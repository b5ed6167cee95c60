import * as cml from '@dcspark/cardano-multiplatform-lib-nodejs'
import type { Plan } from './transaction-plan.js'

export function buildWithCml(wanted: Plan): { bytes: Uint8Array; hash: string } {
  const inputs = cml.TransactionInputList.new()
  for (const [id, index] of wanted.inputs) {
    inputs.add(cml.TransactionInput.new(cml.TransactionHash.from_raw_bytes(id), BigInt(index)))
  }
  const outputs = cml.TransactionOutputList.new()
  for (const planned of wanted.outputs) {
    const held = cml.MultiAsset.new()
    for (const [policy, name, quantity] of planned.assets) {
      held.set(cml.ScriptHash.from_raw_bytes(policy), cml.AssetName.from_raw_bytes(name), quantity)
    }
    const receiver = cml.Address.from_raw_bytes(planned.address)
    const output = cml.ConwayFormatTxOut.new(receiver, cml.Value.new(planned.lovelace, held))
    if (typeof planned.datum === 'bigint') {
      const integer = cml.BigInteger.from_str(planned.datum.toString())
      output.set_datum_option(cml.DatumOption.new_datum(cml.PlutusData.new_integer(integer)))
    } else if (planned.datum !== undefined) {
      output.set_datum_option(cml.DatumOption.new_hash(cml.DatumHash.from_raw_bytes(planned.datum)))
    }
    outputs.add(cml.TransactionOutput.new_conway_format_tx_out(output))
  }
  const body = cml.TransactionBody.new(inputs, outputs, wanted.fee)
  if (wanted.invalidBefore !== undefined) body.set_validity_interval_start(wanted.invalidBefore)
  if (wanted.invalidHereafter !== undefined) body.set_ttl(wanted.invalidHereafter)
  if (wanted.mint.length > 0) {
    const mint = cml.Mint.new()
    for (const [policy, name, quantity] of wanted.mint) {
      mint.set(cml.ScriptHash.from_raw_bytes(policy), cml.AssetName.from_raw_bytes(name), quantity)
    }
    body.set_mint(mint)
  }
  if (wanted.signers.length > 0) {
    const signers = cml.Ed25519KeyHashList.new()
    for (const signer of wanted.signers) signers.add(cml.Ed25519KeyHash.from_raw_bytes(signer))
    body.set_required_signers(signers)
  }
  if (wanted.networkId !== undefined) body.set_network_id(cml.NetworkId.new(BigInt(wanted.networkId)))
  if (wanted.dataHash) body.set_script_data_hash(cml.ScriptDataHash.from_raw_bytes(wanted.dataHash))
  if (wanted.donation !== undefined) body.set_donation(wanted.donation)
  const hash = cml.hash_transaction(body)
  const witnesses = cml.TransactionWitnessSet.new()
  if (wanted.witnesses > 0) {
    const list = cml.VkeywitnessList.new()
    for (let i = 0; i < wanted.witnesses; i++) {
      list.add(cml.make_vkey_witness(hash, cml.PrivateKey.from_normal_bytes(new Uint8Array(32).fill(i + 1))))
    }
    witnesses.set_vkeywitnesses(list)
  }
  let auxiliaryData: cml.AuxiliaryData | undefined
  if (wanted.metadata.size > 0) {
    const metadata = cml.Metadata.new()
    for (const [label, text] of wanted.metadata) metadata.set(label, cml.TransactionMetadatum.new_text(text))
    auxiliaryData = cml.AuxiliaryData.new_shelley(metadata)
  }
  return {
    bytes: cml.Transaction.new(body, witnesses, true, auxiliaryData).to_cbor_bytes(),
    hash: hash.to_hex(),
  }
}
