import { decodePlutusData, encodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'
import type { TestTransaction } from './transaction.js'
import { changeOutput, foreign, stranger, type World, type WorldOptions, walletAddress } from './world.js'

/** A transaction that breaks exactly one rule: the script accepts it once it lacks that rule. */
export interface Breach {
  readonly rule: string
  /** The fault of the transaction: completes the name of a test. */
  readonly what: string
  readonly transaction: (world: World) => TestTransaction
  /** The world that it happens in, where that is not the usual one. */
  readonly options?: WorldOptions
}

export const breach = (
  rule: string,
  what: string,
  transaction: (world: World) => TestTransaction,
  options?: WorldOptions,
): Breach => ({ rule, what, transaction, ...(options && { options }) })

/** Breaches of the `outputRules` named `name`, by the output at `index`. */
export function outputBreaches(
  name: string,
  scenario: (world: World) => TestTransaction,
  index: number,
  contract: 'queue' | 'registry' | 'bridge',
): Breach[] {
  const extra = foreign(Uint8Array.of(1))
  return [
    breach(`${name}-address`, 'the address has a staking part', (world) =>
      changeOutput(scenario(world), index, { address: world[contract].stakedAddress }),
    ),
    breach(`${name}-address`, 'the output is at a wallet', (world) =>
      changeOutput(scenario(world), index, { address: walletAddress(stranger.hash) }),
    ),
    breach(`${name}-tokens`, 'a foreign token is added', (world) => {
      const transaction = scenario(world)
      return {
        ...changeOutput(transaction, index, {
          tokens: [...(transaction.outputs[index]?.tokens ?? []), extra],
        }),
        inputs: transaction.inputs.map((input) =>
          input.id === 1 ? { ...input, output: { ...input.output, tokens: [extra] } } : input,
        ),
      }
    }),
    breach(`${name}-no-script`, 'the output holds a reference script', (world) =>
      changeOutput(scenario(world), index, { script: world.registry.script }),
    ),
    breach(`${name}-datum`, 'the datum is another constructor', (world) => {
      const transaction = scenario(world)
      const datum = transaction.outputs[index]!.datum!
      return changeOutput(transaction, index, { datum: otherConstructor(datum) })
    }),
  ]
}

/** A breach of the rule on an output's least ada. */
export const adaBreach = (name: string, scenario: (world: World) => TestTransaction, index: number): Breach =>
  breach(`${name}-ada`, 'one lovelace is missing', (world) => {
    const transaction = scenario(world)
    return changeOutput(transaction, index, { lovelace: transaction.outputs[index]!.lovelace - 1n })
  })

function otherConstructor(datum: Uint8Array): Uint8Array {
  // Constructor 0 becomes constructor 1; anything else becomes 28 zero bytes.
  if (datum[0] === 0xd8 && datum[1] === 121) return Uint8Array.of(0xd8, 122, ...datum.subarray(2))
  return encodePlutusData(new Uint8Array(28))
}

/** A datum with the field at a path replaced; an index past the last field appends one. */
export function withField(cbor: Uint8Array, path: readonly number[], value: PlutusData): Uint8Array {
  return encodePlutusData(replaced(decodePlutusData(cbor), path, value))
}

export function withConstructor(cbor: Uint8Array, path: readonly number[], index: number): Uint8Array {
  const data = dataAt(cbor, path)
  if (typeof data !== 'object' || !('fields' in data)) throw new TypeError('no constructor there')
  return encodePlutusData(replaced(decodePlutusData(cbor), path, { ...data, index }))
}

export function dataAt(cbor: Uint8Array, path: readonly number[]): PlutusData {
  return path.reduce((inner, step) => partsOf(inner)[step]!, decodePlutusData(cbor))
}

function replaced(data: PlutusData, path: readonly number[], value: PlutusData): PlutusData {
  const [step, ...rest] = path
  if (step === undefined) return value
  const parts = [...partsOf(data)]
  parts[step] = rest.length === 0 ? value : replaced(parts[step]!, rest, value)
  return typeof data === 'object' && 'fields' in data ? { ...data, fields: parts } : parts
}

function partsOf(data: PlutusData): readonly PlutusData[] {
  if (typeof data === 'object' && 'fields' in data) return data.fields
  if (Array.isArray(data)) return data
  throw new TypeError('nothing inside')
}
