import { toHex } from '@ratatosk/cbor'
import { addressText, amountJson, metadatumJson, plutusJson } from '@ratatosk/chain-apis'
import { portResult } from '@ratatosk/http'
import {
  blake2b256,
  decodeTransaction,
  decodeTransactionOutput,
  effects,
  metadataLabels,
  type OutputReference,
  outputReferenceKey,
  type Script,
  type Transaction,
  type TransactionOutput,
} from '@ratatosk/ledger'
import type { ExplorerOutput, RedeemerReport, Units } from '@ratatosk/ports'
import { Type } from '@sinclair/typebox'
import { LRUCache } from 'lru-cache'
import type { ShownBlocks } from './blocks.js'
import { NotHereError, unlessItFails } from './errors.js'
import { fieldsOf } from './fields.js'
import type { ExplorerIndex, ExplorerOptions } from './options.js'
import type { OutputId } from './parameters.js'
import type { ExplorerOutputAnswer, ExplorerTransactionAnswer, OutputAnswer } from './schemas/answers.js'

const maxInputs = 100
const outputBytes = 256 * 1024
/** Bytes of datums, redeemers and metadata that become JSON, which is up to 16 times as long. */
const jsonBytes = 64 * 1024

/** Bytes that an answer may still spend. */
class Budget {
  #left: number
  constructor(bytes: number) {
    this.#left = bytes
  }

  /** Whether there are so many bytes left; takes them. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }
}

/** Answers about transactions and outputs. */
export function transactionAnswers(
  { reads, ledger, index, runScripts }: Pick<ExplorerOptions, 'reads' | 'ledger' | 'index' | 'runScripts'>,
  { shown }: Pick<ShownBlocks, 'shown'>,
) {
  const usedUnits = runScripts && createUsedUnits(runScripts)
  return {
    /** @throws NotHereError */
    async transaction(id: Uint8Array): Promise<ExplorerTransactionAnswer> {
      const [place, cbor] = await Promise.all([ledger.placeOf(id), ledger.transaction(id)])
      if (place === undefined || cbor === undefined)
        throw new NotHereError(
          `Transaction ${toHex(id)}`,
          '/tx/status reports whether it waits, or was rejected or removed; or it is a deposit, or unknown',
        )
      const block = place.block && (await reads.block(place.block.headerHash))
      const decoded = await decode(cbor, index, usedUnits)
      return {
        ...decoded,
        acceptedAt: place.acceptedAt.toISOString(),
        ...(block && { block: shown(block) }),
        ...(place.position !== undefined && { position: place.position }),
      }
    },
  }
}

/** Answers about an output. @throws NotHereError */
export async function outputAnswer(index: ExplorerIndex, reference: OutputId): Promise<OutputAnswer> {
  const [found] = await index.outputs({ references: [reference] }, { offset: 0, limit: 1 })
  if (found === undefined)
    throw new NotHereError(
      `Output ${outputReferenceKey(reference)}`,
      'Its transaction may not be accepted, or has fewer outputs; or it has left layer 2 as a withdrawal',
    )
  return {
    output: foundJson(found, new Budget(jsonBytes)),
    ...makerJson(found),
  }
}

/** No transaction made the outputs of the genesis, which have the sequence 0. */
function makerJson({ sequence, transactionId }: ExplorerOutput) {
  return sequence > 0n && { madeBy: toHex(transactionId) }
}

type Decoded = Omit<ExplorerTransactionAnswer, 'acceptedAt' | 'block' | 'position'>

async function decode(
  cbor: Uint8Array,
  index: ExplorerIndex | undefined,
  usedUnits: ReturnType<typeof createUsedUnits> | undefined,
): Promise<Decoded> {
  const transaction = decodeTransaction(cbor)
  const { id, body, witnesses, isValid, auxiliaryData } = transaction
  const json = new Budget(jsonBytes)
  const found = await read(index, [...body.inputs, ...body.referenceInputs, ...body.collateralInputs])
  const inputs = resolver(found, json)
  const usedBy = await usedUnits?.(transaction, found)
  const { produced } = effects(transaction)
  const spenders = await spendersOf(index, id, produced.length)
  const { invalidBefore, invalidHereafter } = body.validityInterval
  return {
    hash: toHex(id),
    bytes: cbor.length,
    fee: String(body.fee),
    valid: isValid,
    inputs: body.inputs.map(inputs),
    referenceInputs: body.referenceInputs.map(inputs),
    collateralInputs: body.collateralInputs.map(inputs),
    outputs: produced.map(({ reference, output }) => ({
      ...outputJson(reference, output, json),
      ...spenderJson(spenders.get(reference.index)),
    })),
    spendersKnown: produced.every(({ reference }) => spenders.has(reference.index)),
    mint: isValid ? amountJson({ lovelace: 0n, assets: body.mint }).slice(1) : [],
    ...(invalidBefore !== undefined && { validFromSlot: String(invalidBefore) }),
    ...(invalidHereafter !== undefined && { validUntilSlot: String(invalidHereafter) }),
    metadata: (auxiliaryData === undefined ? [] : metadataLabels(auxiliaryData)).map(({ label, cbor }) => ({
      label: String(label),
      ...(json.take(cbor.length) && { json: plain(metadatumJson(cbor), numberIfExact) }),
    })),
    datums: Array.from(witnesses.datums, ([hash, datum]) => ({ hash, ...dataJson(datum, json) })),
    scripts: witnesses.scripts.map(scriptJson),
    redeemers: witnesses.redeemers.map(({ purpose, index: at, data, executionUnits }) => ({
      purpose,
      index: at,
      memory: String(executionUnits.memory),
      steps: String(executionUnits.steps),
      ...usedJson(usedBy?.({ purpose, index: at })),
      ...dataJson(data, json),
    })),
    fields: fieldsOf(cbor),
    cbor: toHex(cbor),
  }
}

async function read(index: ExplorerIndex | undefined, named: readonly OutputReference[]) {
  const references = named.slice(0, maxInputs)
  if (index === undefined || references.length === 0) return []
  return index.outputs({ references }, { offset: 0, limit: references.length })
}

function resolver(found: readonly ExplorerOutput[], json: Budget) {
  const left = new Budget(outputBytes)
  const resolved = new Map(
    found
      .filter(({ output }) => left.take(output.length))
      .map((each) => [outputReferenceKey(each), { output: foundJson(each, json), ...makerJson(each) }]),
  )
  return (reference: OutputReference) => {
    const outref = outputReferenceKey(reference)
    return { outref, ...resolved.get(outref) }
  }
}

async function spendersOf(index: ExplorerIndex | undefined, transaction: Uint8Array, limit: number) {
  const outputs =
    index === undefined || limit === 0 ? [] : await index.outputs({ transaction }, { offset: 0, limit })
  return new Map(outputs.map((each) => [each.index, each.spent]))
}

function foundJson(found: ExplorerOutput, json: Budget): ExplorerOutputAnswer {
  return {
    ...outputJson(found, decodeTransactionOutput(found.output), json),
    ...spenderJson(found.spent),
  }
}

function spenderJson(spent: ExplorerOutput['spent']) {
  return spent && { spentBy: { txHash: toHex(spent.id), valid: spent.valid } }
}

function outputJson(
  reference: OutputReference,
  { address, value, datum, referenceScript }: TransactionOutput,
  json: Budget,
): ExplorerOutputAnswer {
  const inline = datum.kind === 'inline' ? datum.data : undefined
  const hash = datum.kind === 'hash' ? datum.hash : inline && blake2b256(inline)
  return {
    outref: outputReferenceKey(reference),
    address: addressText(address),
    amount: amountJson(value),
    ...(hash && { datumHash: toHex(hash) }),
    ...(inline && json.take(inline.length) && { datum: plain(plutusJson(inline)) }),
    ...(referenceScript && { referenceScript: scriptJson(referenceScript) }),
  }
}

function dataJson(data: Uint8Array, json: Budget) {
  return json.take(data.length) ? { json: plain(plutusJson(data)) } : {}
}

function usedJson(used: Units | undefined) {
  return used && { used: { memory: String(used.memory), steps: String(used.steps) } }
}

function scriptJson({ hash, language, bytes }: Script) {
  return { hash: toHex(hash), language, bytes: bytes.length }
}

/** Plain JSON: integers of any size as decimal digits, or as `integer` says. */
function plain(value: unknown, integer: (value: bigint) => unknown = String): unknown {
  return JSON.parse(JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? integer(part) : part)))
}

const numberIfExact = (value: bigint): number | string =>
  Number.isSafeInteger(Number(value)) ? Number(value) : String(value)

/** Transactions whose units are kept: they never change. */
const maxKept = 1_000
/** How long an answer waits for scripts, in milliseconds; it is then without their units. */
const timeoutMs = 2_000

interface Spending {
  readonly transaction: Transaction
  readonly outputs: ReadonlyMap<string, TransactionOutput>
}

const unitsResult = Type.Object({ memory: Type.BigInt(), steps: Type.BigInt() })
const reportResult = Type.Object({
  purpose: Type.String(),
  index: Type.Integer(),
  outcome: Type.Object({ kind: Type.String(), used: Type.Optional(unitsResult) }),
})
/** The result of the option `runScripts`. */
const scriptsResult = Type.Object({ redeemers: Type.Array(reportResult) }, { title: '{ redeemers }' })

type UnitsOf = (redeemer: Pick<RedeemerReport, 'purpose' | 'index'>) => Units | undefined

/** Measures the units that scripts of accepted transactions use: of each once, also for readers at once. */
export function createUsedUnits(runScripts: NonNullable<ExplorerOptions['runScripts']>) {
  const reports = new LRUCache<string, readonly RedeemerReport[], Spending>({
    max: maxKept,
    ignoreFetchAbort: true,
    fetchMethod: async (_key, _stale, { context: { transaction, outputs } }) =>
      portResult('runScripts', scriptsResult, await runScripts(transaction, outputs)).redeemers,
  })

  /** @param found what the index has of the outputs that it names */
  return async (transaction: Transaction, found: readonly ExplorerOutput[]): Promise<UnitsOf> => {
    const { id, body, witnesses } = transaction
    if (witnesses.redeemers.length === 0) return () => undefined
    const outputs = new Map(
      found.map((each) => [outputReferenceKey(each), decodeTransactionOutput(each.output)]),
    )
    const isComplete = [...body.inputs, ...body.referenceInputs].every((reference) =>
      outputs.has(outputReferenceKey(reference)),
    )
    if (!isComplete) return () => undefined
    const measured = reports.fetch(toHex(id), { context: { transaction, outputs } })
    const known = await unlessItFails(measured, timeoutMs)
    return ({ purpose, index }) => {
      const report = known?.find((each) => each.purpose === purpose && each.index === index)
      return report?.outcome.kind === 'Succeeded' ? report.outcome.used : undefined
    }
  }
}
