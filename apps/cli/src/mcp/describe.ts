import type { Address, Assets, Transaction, TransactionOutput, Utxo } from '@ratatosk/ledger'
import { encodeBech32Address } from '@ratatosk/ledger'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** An output reference as `<tx_hash>#<index>`. */
export function outrefText({ transactionId, index }: Utxo['reference']): string {
  return `${hex(transactionId)}#${index}`
}

/** An output in words; amounts are decimal digits. */
export function describeOutput({ address, value, datum, referenceScript }: TransactionOutput) {
  return {
    address: addressText(address),
    lovelace: String(value.lovelace),
    ...(value.assets.size > 0 && { assets: describeAssets(value.assets) }),
    ...(datum.kind === 'hash' && { datumHash: hex(datum.hash) }),
    ...(datum.kind === 'inline' && { datum: hex(datum.data) }),
    ...(referenceScript && { referenceScript: hex(referenceScript.hash) }),
  }
}

export function describeTransaction({ id, body, witnesses, isValid }: Transaction) {
  const { invalidBefore, invalidHereafter } = body.validityInterval
  return {
    txHash: hex(id),
    inputs: body.inputs.map(outrefText),
    outputs: body.outputs.map(describeOutput),
    fee: String(body.fee),
    ...(invalidBefore !== undefined && { firstSlot: String(invalidBefore) }),
    ...(invalidHereafter !== undefined && { lastSlot: String(invalidHereafter - 1n) }),
    ...(body.mint.size > 0 && { mint: describeAssets(body.mint) }),
    ...(body.referenceInputs.length > 0 && { referenceInputs: body.referenceInputs.map(outrefText) }),
    ...(body.collateralInputs.length > 0 && { collateral: body.collateralInputs.map(outrefText) }),
    certificates: body.certificates.map(({ kind }) => kind),
    signatures: witnesses.keyWitnesses.map(({ publicKey }) => hex(publicKey)),
    redeemers: witnesses.redeemers.map(({ purpose, index }) => `${purpose} ${index}`),
    declaredValid: isValid,
  }
}

function describeAssets(assets: Assets): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...assets].flatMap(([policy, names]) =>
      [...names].map(([name, quantity]) => [`${policy}${name}`, String(quantity)] as const),
    ),
  )
}

function addressText(address: Address): string {
  return address.kind === 'byron' ? hex(address.bytes) : encodeBech32Address(address)
}
