import { toHex } from '@ratatosk/cbor'
import { metadataLabels, type Transaction } from '@ratatosk/ledger'
import type { OgmiosVersion } from '../../versions.js'
import { addressText } from '../../view/address-text.js'
import { metadatumJson } from './metadata-json.js'
import { assetsJson, lovelaceJson, outputJson, purposes, referenceJson, scriptJson } from './output-json.js'

/** A transaction. Ogmios 7 omits `outputs` and `validityInterval` if they are empty. */
export function transactionJson(transaction: Transaction, version: OgmiosVersion) {
  const { body, witnesses, auxiliaryData, isValid } = transaction
  const outputs = body.outputs.map(outputJson)
  const interval = intervalJson(transaction)
  return {
    id: toHex(transaction.id),
    spends: isValid ? 'inputs' : 'collaterals',
    inputs: body.inputs.map(referenceJson),
    references: nonEmpty(body.referenceInputs.map(referenceJson)),
    collaterals: nonEmpty(body.collateralInputs.map(referenceJson)),
    totalCollateral: body.totalCollateral === undefined ? undefined : lovelaceJson(body.totalCollateral),
    collateralReturn: body.collateralReturn && outputJson(body.collateralReturn),
    outputs: version === '6' ? outputs : nonEmpty(outputs),
    withdrawals:
      body.withdrawals.length === 0
        ? undefined
        : Object.fromEntries(
            body.withdrawals.map(({ account, lovelace }) => [addressText(account), lovelaceJson(lovelace)]),
          ),
    fee: lovelaceJson(body.fee),
    validityInterval: version === '6' || Object.keys(interval).length > 0 ? interval : undefined,
    mint: body.mint.size === 0 ? undefined : assetsJson(body.mint),
    network: body.networkId === undefined ? undefined : body.networkId === 1 ? 'mainnet' : 'testnet',
    scriptIntegrityHash: body.scriptDataHash && toHex(body.scriptDataHash),
    requiredExtraSignatories: nonEmpty(body.requiredSigners.map(toHex)),
    metadata: body.auxiliaryDataHash &&
      auxiliaryData && {
        hash: toHex(body.auxiliaryDataHash),
        labels: Object.fromEntries(
          metadataLabels(auxiliaryData).map(({ label, cbor }) => [
            String(label),
            { cbor: toHex(cbor), json: metadatumJson(cbor) },
          ]),
        ),
      },
    signatories: [
      ...witnesses.keyWitnesses.map(({ publicKey, signature }) => ({
        key: toHex(publicKey),
        signature: toHex(signature),
      })),
      ...witnesses.bootstrapWitnesses.map(({ publicKey, signature, chainCode, attributes }) => ({
        key: toHex(publicKey),
        signature: toHex(signature),
        chainCode: toHex(chainCode),
        addressAttributes: toHex(attributes),
      })),
    ],
    scripts:
      witnesses.scripts.length === 0
        ? undefined
        : Object.fromEntries(witnesses.scripts.map((script) => [toHex(script.hash), scriptJson(script)])),
    datums:
      witnesses.datums.size === 0
        ? undefined
        : Object.fromEntries(Array.from(witnesses.datums, ([hash, datum]) => [hash, toHex(datum)])),
    redeemers: nonEmpty(
      witnesses.redeemers.map(({ purpose, index, data, executionUnits }) => ({
        redeemer: toHex(data),
        executionUnits: { memory: executionUnits.memory, cpu: executionUnits.steps },
        validator: { purpose: purposes[purpose], index },
      })),
    ),
    cbor: toHex(transaction.bytes),
  }
}

export function intervalJson({ body }: Transaction) {
  const { invalidBefore, invalidHereafter } = body.validityInterval
  return {
    ...(invalidBefore !== undefined && { invalidBefore }),
    ...(invalidHereafter !== undefined && { invalidAfter: invalidHereafter }),
  }
}

/** Undefined for an empty list: Ogmios omits empty optional fields. */
function nonEmpty<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items
}
