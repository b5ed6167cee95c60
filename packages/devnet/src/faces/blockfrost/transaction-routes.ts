import {
  type OutputReference,
  outputReferenceKey,
  slotToTime,
  type Transaction,
  toHex,
} from '@ratatosk/ledger'
import type { FastifyInstance } from 'fastify'
import { registers, stakeCredentialOf } from '../../chain/accounts.js'
import { addressText } from '../../chain/address-text.js'
import { deposits } from '../../chain/deposits.js'
import { metadataLabels } from '../../chain/metadata.js'
import type { ChainOutput, Place } from '../../chain/types.js'
import type { Devnet } from '../../types.js'
import { stakeAddress } from '../stake-credential.js'
import { seconds } from './chain-routes.js'
import { notFound } from './errors.js'
import { amountJson, outputJson, totalJson } from './output-json.js'
import { type Paging, page } from './paging.js'

type ByHash = { Params: { hash: string } }

/** What is asked about transactions, those of the mempool too. */
export function addTransactionRoutes(fastify: FastifyInstance, devnet: Devnet): void {
  const config = { config: { operation: 'transaction' as const } }

  function confirmed(hash: string): { transaction: Transaction; place: Place } {
    const found = devnet.transaction(hash.toLowerCase())
    if (found?.place === undefined) throw notFound()
    return { transaction: found.transaction.transaction, place: found.place }
  }

  fastify.get<ByHash>('/txs/:hash', config, async ({ params }) => {
    const genesis = devnet
      .outputsOf(params.hash.toLowerCase())
      .filter(({ created }) => created.block.height === 0)
    if (genesis.length > 0) return genesisJson(devnet, genesis)
    const { transaction, place } = confirmed(params.hash)
    return transactionJson(devnet, transaction, place)
  })

  fastify.get<ByHash>('/txs/:hash/utxos', config, async ({ params }) => {
    const hash = params.hash.toLowerCase()
    const outputs = devnet.outputsOf(hash)
    const transaction = devnet.transaction(hash)
    if (transaction?.place === undefined && outputs.length === 0) throw notFound()
    return {
      hash,
      inputs: transaction === undefined ? [] : inputsJson(devnet, transaction.transaction.transaction),
      outputs: outputs.map(createdJson),
    }
  })

  fastify.get<ByHash>('/txs/:hash/cbor', config, async ({ params }) => ({
    cbor: toHex(confirmed(params.hash).transaction.bytes),
  }))

  fastify.get<ByHash>('/txs/:hash/metadata/cbor', config, async ({ params }) => {
    const { auxiliaryData } = confirmed(params.hash).transaction
    const labels = auxiliaryData === undefined ? [] : metadataLabels(auxiliaryData)
    return labels.map(({ label, cbor }) => ({ label, cbor_metadata: `\\x${cbor}`, metadata: cbor }))
  })

  fastify.get<ByHash>('/txs/:hash/stakes', config, async ({ params }) =>
    confirmed(params.hash).transaction.body.certificates.map((certificate, index) => ({
      cert_index: index,
      address: stakeAddress(devnet.networkId, stakeCredentialOf(certificate)),
      registration: registers(certificate),
    })),
  )
  fastify.get<ByHash>('/txs/:hash/withdrawals', config, async ({ params }) =>
    confirmed(params.hash).transaction.body.withdrawals.map(({ account, lovelace }) => ({
      address: addressText(account),
      amount: String(lovelace),
    })),
  )

  fastify.get<{ Querystring: Paging }>('/mempool', config, async ({ query }) =>
    page(devnet.mempool(), query).map(({ hash }) => ({ tx_hash: hash })),
  )
}

/** What made the outputs of genesis is no transaction, but it is shown as one. */
function genesisJson(devnet: Devnet, outputs: readonly ChainOutput[]) {
  return {
    ...noCounts,
    hash: outputs[0]?.transactionHash,
    block: devnet.genesisHash,
    block_height: 0,
    block_time: seconds(devnet.slots.zeroTime),
    slot: 0,
    index: 0,
    output_amount: totalJson(outputs),
    fees: '0',
    deposit: '0',
    size: 0,
    invalid_before: null,
    invalid_hereafter: null,
    utxo_count: outputs.length,
    withdrawal_count: 0,
    stake_cert_count: 0,
    asset_mint_or_burn_count: 0,
    redeemer_count: 0,
    valid_contract: true,
    treasury_donation: '0',
  }
}

/** What no transaction has here. */
const noCounts = { mir_cert_count: 0, delegation_count: 0, pool_update_count: 0, pool_retire_count: 0 }

function transactionJson(devnet: Devnet, transaction: Transaction, { block, position }: Place) {
  const { body, witnesses, bytes, isValid } = transaction
  const { invalidBefore, invalidHereafter } = body.validityInterval
  const { paid, refunded } = deposits(body, devnet.parameters.keyDeposit)
  const outputs = body.outputs.flatMap(({ value }) => amountJson(value))
  const total = new Map<string, bigint>()
  for (const { unit, quantity } of outputs) total.set(unit, (total.get(unit) ?? 0n) + BigInt(quantity))
  return {
    ...noCounts,
    hash: toHex(transaction.id),
    block: block.hash,
    block_height: block.height,
    block_time: seconds(slotToTime(devnet.slots, block.slot)),
    slot: Number(block.slot),
    index: position,
    output_amount: Array.from(total, ([unit, quantity]) => ({ unit, quantity: String(quantity) })),
    fees: String(body.fee),
    deposit: String(paid - refunded),
    size: bytes.length,
    invalid_before: invalidBefore === undefined ? null : String(invalidBefore),
    invalid_hereafter: invalidHereafter === undefined ? null : String(invalidHereafter),
    utxo_count: body.inputs.length + body.outputs.length,
    withdrawal_count: body.withdrawals.length,
    stake_cert_count: body.certificates.length,
    asset_mint_or_burn_count: [...body.mint.values()].reduce((sum, names) => sum + names.size, 0),
    redeemer_count: witnesses.redeemers.length,
    valid_contract: isValid,
    treasury_donation: String(body.treasuryDonation),
  }
}

function inputsJson(devnet: Devnet, { body }: Transaction) {
  const shown = (references: readonly OutputReference[], kind: { collateral: boolean; reference: boolean }) =>
    references.flatMap((reference) => {
      const found = devnet.output(outputReferenceKey(reference))
      if (found === undefined) return []
      const { transactionHash, index, output } = found
      return [{ ...outputJson(output), tx_hash: transactionHash, output_index: index, ...kind }]
    })
  return [
    ...shown(body.inputs, { collateral: false, reference: false }),
    ...shown(body.collateralInputs, { collateral: true, reference: false }),
    ...shown(body.referenceInputs, { collateral: false, reference: true }),
  ]
}

function createdJson({ output, index, spent, collateralReturn }: ChainOutput) {
  return {
    ...outputJson(output),
    output_index: index,
    collateral: collateralReturn,
    consumed_by_tx: spent?.transactionHash ?? null,
  }
}
