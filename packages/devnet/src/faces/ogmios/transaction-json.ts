import { type Transaction, toHex } from '@ratatosk/ledger'
import { addressText } from '../../chain/address-text.js'
import { metadataLabels } from '../../chain/metadata.js'
import type { Block } from '../../chain/types.js'
import type { Devnet } from '../../types.js'
import { assetsJson, lovelaceJson, outputJson, purposes, referenceJson, scriptJson } from './output-json.js'
import { intervalJson } from './submit-failure.js'

/** What stands for the keys and proofs of a block's minter: nobody mints here. */
const nobody = '00'.repeat(32)

export function blockJson({ parameters }: Devnet, block: Block) {
  const { height, slot, hash, previous, size, transactions } = block
  return {
    type: 'praos',
    era: 'conway',
    id: hash,
    ancestor: height === 1 ? 'genesis' : previous,
    height,
    size: { bytes: size },
    slot,
    transactions: transactions.map(({ transaction }) => transactionJson(transaction)),
    protocol: { version: parameters.protocolVersion },
    issuer: {
      verificationKey: nobody,
      vrfVerificationKey: nobody,
      operationalCertificate: { count: 0, kes: { period: 0, verificationKey: nobody } },
      leaderValue: {},
    },
  }
}

export function transactionJson(transaction: Transaction) {
  const { body, witnesses, auxiliaryData, isValid } = transaction
  return {
    id: toHex(transaction.id),
    spends: isValid ? 'inputs' : 'collaterals',
    inputs: body.inputs.map(referenceJson),
    references: some(body.referenceInputs.map(referenceJson)),
    collaterals: some(body.collateralInputs.map(referenceJson)),
    totalCollateral: body.totalCollateral === undefined ? undefined : lovelaceJson(body.totalCollateral),
    collateralReturn: body.collateralReturn && outputJson(body.collateralReturn),
    outputs: body.outputs.map(outputJson),
    withdrawals:
      body.withdrawals.length === 0
        ? undefined
        : Object.fromEntries(
            body.withdrawals.map(({ account, lovelace }) => [addressText(account), lovelaceJson(lovelace)]),
          ),
    fee: lovelaceJson(body.fee),
    validityInterval: intervalJson(transaction),
    mint: body.mint.size === 0 ? undefined : assetsJson(body.mint),
    network: body.networkId === undefined ? undefined : body.networkId === 1 ? 'mainnet' : 'testnet',
    scriptIntegrityHash: body.scriptDataHash && toHex(body.scriptDataHash),
    requiredExtraSignatories: some(body.requiredSigners.map(toHex)),
    metadata: body.auxiliaryDataHash &&
      auxiliaryData && {
        hash: toHex(body.auxiliaryDataHash),
        labels: Object.fromEntries(metadataLabels(auxiliaryData).map(({ label, cbor }) => [label, { cbor }])),
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
    redeemers: some(
      witnesses.redeemers.map(({ purpose, index, data, executionUnits }) => ({
        redeemer: toHex(data),
        executionUnits: { memory: executionUnits.memory, cpu: executionUnits.steps },
        validator: { purpose: purposes[purpose], index },
      })),
    ),
    cbor: toHex(transaction.bytes),
  }
}

/** Fields that may be left out are left out where there is nothing in them. */
function some<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items
}
