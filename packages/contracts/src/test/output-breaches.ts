import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { type Breach, breach } from './breach.js'
import type { TestTransaction } from './transaction.js'
import { changeOutput, foreign, stranger, type World, walletAddress } from './world.js'

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
