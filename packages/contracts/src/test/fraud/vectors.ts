import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CborReader, fromHex, isDecodeError } from '@ratatosk/cbor'
import { decodeTransaction, judgeProfile, type ProtocolParameters } from '@ratatosk/ledger'
import { vectors, vectorsFolder } from '@ratatosk/test-vectors'
import { parameters as mainnet } from '../evaluate.js'
import type { Entries } from './blocks.js'

export const hasVectors = vectorsFolder('midgard-txs') !== undefined

/** The transactions of the Midgard chains, as encoded. */
export function* midgardTransactions(): Generator<Uint8Array, void> {
  for (const name of ['txs_0.json', 'txs_1.json']) {
    for (const { cborHex } of json<readonly { cborHex: string }[]>('midgard-txs', name))
      yield fromHex(cborHex)
  }
}

/** The bodies in the vectors, as encoded: of the Midgard chains, the ledger's scenarios and its runs of events. */
export function* vectorBodies(): Generator<Uint8Array, void> {
  for (const transaction of midgardTransactions()) yield* bodiesIn(transaction)
  for (const name of readdirSync(join(vectors, 'ledger-scenarios', 'scenarios'))) {
    const { transaction } = json<{ transaction: string }>('ledger-scenarios', 'scenarios', name)
    yield* bodiesIn(fromHex(transaction))
  }
  const eras = join(vectors, 'ledger-rules', 'eras')
  for (const file of readdirSync(eras, { recursive: true, withFileTypes: true })) {
    if (file.isFile()) yield* bodiesInRun(readFileSync(join(file.parentPath, file.name)))
  }
  const samples = join(vectors, 'cbor-decode', 'transaction_body', 'conway')
  for (const name of readdirSync(samples)) yield readFileSync(join(samples, name, 'sample.cbor'))
}

const json = <T>(...path: readonly string[]): T => JSON.parse(readFileSync(join(vectors, ...path), 'utf8'))

/** `[config, initialState, finalState, events, title]`; the event of a transaction is `[0, bytes, accepted, slot]`. */
function* bodiesInRun(run: Uint8Array): Generator<Uint8Array, void> {
  const reader = new CborReader(run)
  reader.readArray()
  for (let i = 0; i < 3; i++) reader.skip()
  const events = reader.readArray()
  for (let i = 0; reader.hasNext(events, i); i++) {
    const start = reader.position
    reader.readArray()
    const bytes = reader.readUint() === 0 ? reader.readBytes() : undefined
    reader.position = start
    reader.skip()
    if (bytes !== undefined) yield* bodiesIn(bytes)
  }
}

/** The body of a transaction, if the transaction is well-formed so far. */
function* bodiesIn(transaction: Uint8Array): Generator<Uint8Array, void> {
  const reader = new CborReader(transaction)
  try {
    reader.readArray()
    const start = reader.position
    reader.skip()
    yield reader.since(start)
  } catch {
    // Some vectors are transactions that do not decode.
  }
}

/** A transaction that the Haskell ledger accepts, and layer 2 does too. */
export interface AcceptedScenario {
  readonly name: string
  readonly transaction: Uint8Array
  /** What is unspent before it: output CBOR by reference in hex. */
  readonly unspent: Entries
  readonly parameters: ProtocolParameters
  readonly networkId: number
  readonly slot: bigint
}

interface Rate {
  readonly numerator: number
  readonly denominator: number
}

interface ScenarioParameters {
  readonly minFeeCoefficient: number
  readonly minFeeConstant: number
  readonly minFeeReferenceScripts: { readonly base: Rate }
  readonly minUtxoDepositCoefficient: number
  readonly scriptExecutionPrices: { readonly memory: Rate; readonly cpu: Rate }
  readonly plutusCostModels: { readonly [language: string]: readonly number[] }
  readonly version: { readonly major: number; readonly minor: number }
}

/** The scenarios of the Haskell ledger that pass and are of layer 2. */
export function* acceptedScenarios(): Generator<AcceptedScenario, void> {
  for (const name of readdirSync(join(vectors, 'ledger-scenarios', 'scenarios')).sort()) {
    const scenario = json<{
      readonly network: string
      readonly protocolParameters: { readonly $ref: string }
      readonly initialState: {
        readonly utxo?: readonly { readonly input: string; readonly output: string }[]
      }
      readonly point: { readonly slot: number }
      readonly transaction: string
      readonly expected: unknown
    }>('ledger-scenarios', 'scenarios', name)
    const transaction = fromHex(scenario.transaction)
    if (scenario.expected !== 'Pass' || !isOfLayer2(transaction)) continue
    yield {
      name,
      transaction,
      unspent: new Map(
        (scenario.initialState.utxo ?? []).map(({ input, output }) => [input, fromHex(output)]),
      ),
      parameters: parametersOf(json('ledger-scenarios', scenario.protocolParameters.$ref)),
      networkId: scenario.network === 'mainnet' ? 1 : 0,
      slot: BigInt(scenario.point.slot),
    }
  }
}

const rate = ({ numerator, denominator }: Rate) => ({
  numerator: BigInt(numerator),
  denominator: BigInt(denominator),
})

/** The parameters by which the policies judge; the others are those of mainnet. */
function parametersOf(stated: ScenarioParameters): ProtocolParameters {
  return {
    ...mainnet,
    minFeeA: BigInt(stated.minFeeCoefficient),
    minFeeB: BigInt(stated.minFeeConstant),
    referenceScriptCostPerByte: rate(stated.minFeeReferenceScripts.base),
    coinsPerUtxoByte: BigInt(stated.minUtxoDepositCoefficient),
    executionPrices: {
      memory: rate(stated.scriptExecutionPrices.memory),
      steps: rate(stated.scriptExecutionPrices.cpu),
    },
    costModels: Object.fromEntries(
      Object.entries(stated.plutusCostModels).map(([language, model]) => [
        language.replace('plutus', 'Plutus'),
        model.map(BigInt),
      ]),
    ),
    protocolVersion: stated.version,
  }
}

function isOfLayer2(transaction: Uint8Array): boolean {
  try {
    return judgeProfile(decodeTransaction(transaction)).length === 0
  } catch (error) {
    if (isDecodeError(error)) return false
    throw error
  }
}
