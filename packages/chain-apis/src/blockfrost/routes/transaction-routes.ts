import { toHex } from '@ratatosk/cbor'
import {
  blake2b256,
  effects,
  metadataLabels,
  outputReferenceKey,
  type Redeemer,
  redeemerTargets,
  slotToTime,
  type Transaction,
} from '@ratatosk/ledger'
import type { FastifyInstance } from 'fastify'
import { encodeJson, lazyList } from '../../json.js'
import { clientOf, mempoolTransactions } from '../../long-lists.js'
import { addressText, stakeAddress } from '../../view/address-text.js'
import { deposits, registers, stakeCredentialOf } from '../../view/certificates.js'
import type { ChainOutput, ChainView, Place } from '../../view/chain-view.js'
import { holdsFor, paymentCredential } from '../../view/outputs.js'
import { cborJson, metadataJson } from '../data-json.js'
import { invalidPath, notFound } from '../errors.js'
import { Total, touchedOutputs } from '../limited-outputs.js'
import { type BlockfrostSource, List, sendJson } from '../paging.js'
import { outputJson, redeemerJson, seconds } from '../transaction-json.js'
import { readHolder } from './address-routes.js'

type ByHash = { Params: { hash: string } }

export function addTransactionRoutes(fastify: FastifyInstance, { chain }: BlockfrostSource): void {
  const config = { config: { operation: 'transaction' as const } }

  async function confirmed(hash: string): Promise<{ transaction: Transaction; place: Place }> {
    const found = await chain.transaction(hash.toLowerCase())
    if (found?.place === undefined) throw notFound()
    return { transaction: found.transaction.transaction, place: found.place }
  }

  fastify.get<ByHash>('/txs/:hash', config, async ({ params }) => {
    const hash = params.hash.toLowerCase()
    const found = await chain.transaction(hash)
    if (found?.place !== undefined) return transactionJson(chain, found.transaction.transaction, found.place)
    const outputs = found === undefined ? await outputsOf(chain, hash) : []
    const [first] = outputs
    if (first === undefined) throw notFound()
    return outputsJson(chain, first, outputs)
  })

  fastify.get<ByHash>('/txs/:hash/utxos', config, async ({ params }, reply) => {
    const hash = params.hash.toLowerCase()
    const [found, outputs] = await Promise.all([chain.transaction(hash), outputsOf(chain, hash)])
    if (found?.place === undefined && outputs.length === 0) throw notFound()
    return sendJson(reply, {
      hash,
      inputs: found === undefined ? [] : spentJson(await inputsOf(chain, found.transaction.transaction)),
      outputs: lazyList(
        found === undefined ? outputs : producedBy(found.transaction.transaction, outputs),
        createdJson,
      ),
    })
  })

  fastify.get<ByHash>('/txs/:hash/cbor', config, async ({ params }) => ({
    cbor: toHex((await confirmed(params.hash)).transaction.bytes),
  }))

  fastify.get<ByHash>('/txs/:hash/metadata/cbor', config, async ({ params }) => {
    const { auxiliaryData } = (await confirmed(params.hash)).transaction
    const labels = auxiliaryData === undefined ? [] : metadataLabels(auxiliaryData)
    return labels.map(({ label, cbor }) => ({ label: String(label), ...cborJson(cbor) }))
  })

  fastify.get<ByHash>('/txs/:hash/metadata', config, async ({ params }, reply) => {
    const { auxiliaryData } = (await confirmed(params.hash)).transaction
    const json = metadataJson(auxiliaryData).map(({ label, json }) => ({ label, json_metadata: json }))
    return reply.type('application/json').send(encodeJson(json))
  })

  fastify.get<ByHash>('/txs/:hash/stakes', config, async ({ params }) =>
    (await confirmed(params.hash)).transaction.body.certificates.map((certificate, index) => ({
      cert_index: index,
      address: stakeAddress(chain.networkId, stakeCredentialOf(certificate)),
      registration: registers(certificate),
    })),
  )
  fastify.get<ByHash>('/txs/:hash/withdrawals', config, async ({ params }) =>
    (await confirmed(params.hash)).transaction.body.withdrawals.map(({ account, lovelace }) => ({
      address: addressText(account),
      amount: String(lovelace),
    })),
  )

  fastify.get<ByHash>('/txs/:hash/redeemers', config, async ({ params }) =>
    redeemersJson(chain, (await confirmed(params.hash)).transaction),
  )

  fastify.get<ByHash>('/txs/:hash/required_signers', config, async ({ params }) =>
    (await confirmed(params.hash)).transaction.body.requiredSigners.map((hash) => ({
      witness_hash: toHex(hash),
    })),
  )
  // The chain has no certificates of these kinds.
  for (const name of ['delegations', 'mirs', 'pool_updates', 'pool_retires']) {
    fastify.get<ByHash>(`/txs/:hash/${name}`, config, async ({ params }) => {
      await confirmed(params.hash)
      return []
    })
  }
}

function outputsOf(chain: ChainView, transaction: string) {
  return chain.outputs({ transaction }, { offset: 0, limit: Number.POSITIVE_INFINITY })
}

type Created = Pick<ChainOutput, 'output' | 'index' | 'spent' | 'collateralReturn'>

/** All that a transaction produces: the chain has no output that leaves it. */
function producedBy(transaction: Transaction, outputs: readonly ChainOutput[]): Created[] {
  const known = new Map(outputs.map((output) => [output.index, output]))
  return effects(transaction).produced.map(
    ({ output, reference: { index } }) =>
      known.get(index) ?? { output, index, collateralReturn: !transaction.isValid },
  )
}

/** Outputs that no transaction produced: those of the genesis, and deposits of layer 1. */
function outputsJson(chain: ChainView, first: ChainOutput, outputs: readonly ChainOutput[]) {
  return {
    ...unsupportedCounts,
    hash: first.transactionHash,
    ...placeJson(chain, first.created),
    output_amount: new Total().add(outputs).json(),
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

/** Certificates that the chain does not support. */
const unsupportedCounts = {
  mir_cert_count: 0,
  delegation_count: 0,
  pool_update_count: 0,
  pool_retire_count: 0,
}

const placeJson = ({ slots }: ChainView, { block, position }: Place) => ({
  block: block.hash,
  block_height: block.height,
  block_time: seconds(slotToTime(slots, block.slot)),
  slot: Number(block.slot),
  index: position,
})

function transactionJson(chain: ChainView, transaction: Transaction, place: Place) {
  return {
    ...sizesJson(chain, transaction),
    ...placeJson(chain, place),
    treasury_donation: String(transaction.body.treasuryDonation),
  }
}

/** The facts of a transaction that do not depend on its place. */
function sizesJson(chain: ChainView, transaction: Transaction) {
  const { body, witnesses, bytes, isValid } = transaction
  const { invalidBefore, invalidHereafter } = body.validityInterval
  const { paid, refunded } = deposits(body, chain.parameters.keyDeposit)
  const { spent, produced } = effects(transaction)
  return {
    ...unsupportedCounts,
    hash: toHex(transaction.id),
    output_amount: new Total().add(produced).json(),
    fees: String(isValid ? body.fee : (body.totalCollateral ?? 0n)),
    deposit: String(paid - refunded),
    size: bytes.length,
    invalid_before: invalidBefore === undefined ? null : String(invalidBefore),
    invalid_hereafter: invalidHereafter === undefined ? null : String(invalidHereafter),
    utxo_count: spent.length + produced.length,
    withdrawal_count: body.withdrawals.length,
    stake_cert_count: body.certificates.length,
    asset_mint_or_burn_count: [...body.mint.values()].reduce((sum, names) => sum + names.size, 0),
    redeemer_count: witnesses.redeemers.length,
    valid_contract: isValid,
  }
}

/** The inputs of a transaction, each with the output that it names, if the chain has it. */
async function inputsOf(chain: ChainView, { body }: Transaction) {
  const inputs = [
    ...body.inputs.map((reference) => ({ reference, kind: { collateral: false, reference: false } })),
    ...body.collateralInputs.map((reference) => ({
      reference,
      kind: { collateral: true, reference: false },
    })),
    ...body.referenceInputs.map((reference) => ({ reference, kind: { collateral: false, reference: true } })),
  ]
  const references = inputs.map(({ reference }) => outputReferenceKey(reference))
  const part = { offset: 0, limit: Number.POSITIVE_INFINITY }
  const outputs = await chain.outputs({ references: [...new Set(references)] }, part)
  const byKey = new Map(outputs.map((output) => [output.key, output]))
  return inputs.map(({ reference, kind }) => ({
    found: byKey.get(outputReferenceKey(reference)),
    place: { tx_hash: toHex(reference.transactionId), output_index: reference.index },
    kind,
  }))
}

/** Becomes JSON when it is encoded. */
function spentJson(inputs: Awaited<ReturnType<typeof inputsOf>>): Iterable<unknown> {
  return lazyList(
    inputs.flatMap(({ found, ...input }) => (found === undefined ? [] : { found, ...input })),
    ({ found, place, kind }) => ({ ...outputJson(found.output), ...place, ...kind }),
  )
}

function createdJson({ output, index, spent, collateralReturn }: Created) {
  return {
    ...outputJson(output),
    output_index: index,
    collateral: collateralReturn,
    consumed_by_tx: spent?.transactionHash ?? null,
  }
}

async function redeemersJson(chain: ChainView, transaction: Transaction) {
  const scriptOf = await scriptsOf(chain, transaction)
  return transaction.witnesses.redeemers.flatMap((redeemer) => {
    const script = scriptOf(redeemer)
    if (script === undefined) return []
    return {
      script_hash: script,
      ...redeemerJson(chain, redeemer, toHex(blake2b256(redeemer.data))),
    }
  })
}

async function scriptsOf(
  chain: ChainView,
  transaction: Transaction,
): Promise<(redeemer: Redeemer) => string | undefined> {
  const targetOf = redeemerTargets(transaction)
  const inputs = transaction.body.inputs.map(outputReferenceKey)
  const outputs = await chain.outputs({ references: inputs }, { offset: 0, limit: inputs.length })
  const owners = new Map(outputs.map(({ key, output }) => [key, paymentCredential(output)]))
  return (redeemer) => {
    const target = targetOf(redeemer)
    if (target === undefined || 'script' in target) return target?.script
    return owners.get(outputReferenceKey(target.output))
  }
}

/** Routes for transactions that are in no block yet. */
export function addMempoolRoutes(
  fastify: FastifyInstance,
  { chain, maxOutputs, lists }: BlockfrostSource,
): void {
  const config = { config: { operation: 'transaction' as const } }

  fastify.get('/mempool', config, async (request) =>
    (await new List(request, maxOutputs).read((part) => chain.mempool(part))).map(({ hash }) => ({
      tx_hash: hash,
    })),
  )
  // A wildcard, because Fastify limits parameters to 100 characters by default, and addresses are longer.
  fastify.get<{ Params: { '*': string } }>('/mempool/addresses/*', config, async (request, reply) => {
    const list = new List(request, maxOutputs)
    if (request.params['*'].includes('/')) throw invalidPath()
    const { query } = readHolder(chain, request.params['*'])
    const found: object[] = []
    const pages = touchedOutputs(chain, mempoolTransactions(chain, maxOutputs), maxOutputs)
    for await (const page of lists.pages(pages, clientOf(reply)))
      for (const { hash, outputs } of page)
        if (outputs.some((output) => holdsFor(output, query))) found.push({ tx_hash: hash })
    return list.of(found)
  })
  fastify.get<{ Params: { hash: string } }>('/mempool/:hash', config, async ({ params }, reply) => {
    const found = await chain.transaction(params.hash.toLowerCase())
    if (found === undefined || found.place !== undefined) throw notFound()
    return sendJson(reply, await pendingJson(chain, found.transaction.transaction))
  })
}

/** A transaction of the mempool. Inputs whose outputs are in the mempool too have no address. */
async function pendingJson(chain: ChainView, transaction: Transaction) {
  const { body, witnesses } = transaction
  const inputs = await inputsOf(chain, transaction)
  return {
    tx: sizesJson(chain, transaction),
    inputs: inputs.map(({ found, place, kind }) => ({
      ...(found && { address: addressText(found.output.address) }),
      ...place,
      ...kind,
    })),
    outputs: lazyList(body.outputs.entries(), ([index, output]) => ({
      ...outputJson(output),
      output_index: index,
      collateral: false,
    })),
    redeemers: witnesses.redeemers.map(({ index, purpose, executionUnits }) => ({
      tx_index: index,
      purpose,
      unit_mem: String(executionUnits.memory),
      unit_steps: String(executionUnits.steps),
    })),
  }
}
