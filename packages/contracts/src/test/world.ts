import type { PlutusData } from '../datum/plutus-data.js'
import { registryTokenName } from '../datum/registry.js'
import { rootTokenName } from '../datum/state-queue.js'
import { applyParameters, type PlutusScript } from '../script/apply.js'
import { compiledCode } from '../script/blueprint.js'
import { scriptAddress } from '../script/scripts.js'
import { testKey } from './keys.js'
import type { TestInput, TestOutput, TestTransaction, Token } from './transaction.js'

export const administrator = testKey('administrator')
export const operator = testKey('operator')
export const otherOperator = testKey('other operator')
export const stranger = testKey('stranger')

export const maturityWindow = 30_000n
export const turnLength = 60_000n
export const bond = 500_000_000n
export const releaseDelay = 120_000n
export const maxOperators = 4n

export const rootName = rootTokenName('RATATOSK')
export const registryName = registryTokenName('RATATOSK')

/** A script with its address and policy. */
export interface Contract {
  readonly script: PlutusScript
  readonly policy: Uint8Array
  readonly address: Uint8Array
  /** The same with a staking part. */
  readonly stakedAddress: Uint8Array
}

/** Both contracts, as they are or with one condition left out. */
export interface World {
  readonly queue: Contract
  readonly registry: Contract
}

export function createWorld(
  codes: {
    readonly queue?: Uint8Array
    readonly registry?: Uint8Array
    readonly maturityWindow?: bigint
  } = {},
): World {
  const registry = contract(codes.registry ?? compiledCode('operator_registry'), [
    registryName,
    administrator.hash,
    bond,
    releaseDelay,
    maxOperators,
  ])
  const queue = contract(codes.queue ?? compiledCode('state_queue'), [
    rootName,
    administrator.hash,
    codes.maturityWindow ?? maturityWindow,
    registry.policy,
    turnLength,
  ])
  return { queue, registry }
}

function contract(code: Uint8Array, parameters: readonly PlutusData[]): Contract {
  const script = applyParameters(code, parameters)
  return {
    script,
    policy: script.hash,
    address: scriptAddress(script.hash, 0),
    stakedAddress: Uint8Array.of(0x10, ...script.hash, ...stranger.hash),
  }
}

export const walletAddress = (hash: Uint8Array): Uint8Array => Uint8Array.of(0x60, ...hash)

export const ada = (amount: number): bigint => BigInt(amount) * 1_000_000n

export const wallet = (lovelace: bigint, tokens: readonly Token[] = []): TestOutput => ({
  address: walletAddress(operator.hash),
  lovelace,
  tokens,
})

/** A policy that has nothing to do with the protocol. */
export const foreignPolicy = new Uint8Array(28).fill(0xf0)
export const foreign = (name: Uint8Array): Token => ({ policy: foreignPolicy, name, quantity: 1n })

export const root = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)

/** The output that holds the script of a contract for reference. */
export const scriptReference = ({ script }: Contract, id = 250): TestInput => ({
  id,
  output: { ...wallet(ada(20)), script },
})

export const changeOutput = (
  transaction: TestTransaction,
  index: number,
  change: Partial<TestOutput>,
): TestTransaction => ({
  ...transaction,
  outputs: transaction.outputs.map((output, i) => (i === index ? { ...output, ...change } : output)),
})

export const changeInput = (
  transaction: TestTransaction,
  id: number,
  change: Partial<TestOutput>,
): TestTransaction => ({
  ...transaction,
  inputs: transaction.inputs.map((input) =>
    input.id === id ? { ...input, output: { ...input.output, ...change } } : input,
  ),
})
