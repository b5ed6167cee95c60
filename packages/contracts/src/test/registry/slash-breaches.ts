import { encodeRegistryDatum, type RegistryDatum } from '../../datum/registry.js'
import { encodeQueueAction } from '../../datum/state-queue.js'
import { type Breach, breach } from '../breach.js'
import { adaBreach, outputBreaches } from '../output-breaches.js'
import { removal, removeActive, removeRetired } from '../queue/removals.js'
import { deinitBlocks, firstHeader, minting } from '../queue/scenarios.js'
import type { TestTransaction } from '../transaction.js'
import { convicting } from '../verdict.js'
import {
  ada,
  administrator,
  bond,
  changeOutput,
  operator,
  otherOperator,
  stranger,
  type World,
} from '../world.js'
import { entry, retired, running, spendRegistry, stopped } from './scenarios.js'

const withDatum = (transaction: TestTransaction, datum: RegistryDatum): TestTransaction =>
  changeOutput(transaction, 1, { datum: encodeRegistryDatum(datum) })

/** Another action of the queue, or none, while the registry slashes an honest operator. */
const besideSlash = (world: World, transaction: Partial<TestTransaction>): TestTransaction => {
  const slash = removeActive(world)
  const { inputs = [], outputs = [] } = transaction
  return {
    ...slash,
    mint: [],
    mintRedeemers: [],
    ...transaction,
    inputs: [
      ...inputs.map((input) => (input.redeemer ? { ...input, id: input.id + 20 } : input)),
      ...slash.inputs.filter(({ id }) => id === 5),
    ],
    referenceInputs: slash.referenceInputs,
    outputs: [outputs[0] ?? slash.outputs[2]!, slash.outputs[1]!, ...outputs.slice(1)],
  }
}

/** A removal as the queue judges it, with another approach for the registry. */
const withApproaches = (
  transaction: TestTransaction,
  world: World,
  own: typeof retired,
  approach: 'active' | 'retired',
): TestTransaction => ({
  ...transaction,
  inputs: [
    ...transaction.inputs.filter(({ id }) => id !== 5),
    spendRegistry(world, 5, running(world, entry(otherOperator), own), {
      kind: 'slash',
      operator: operator.hash,
      approach,
    }),
  ],
  mintRedeemers: [...minting(world, removal(approach)).mintRedeemers, convicting(firstHeader)],
})

export const slashBreaches: readonly Breach[] = [
  breach('slash-by-removal', 'the queue does nothing', (world) =>
    besideSlash(world, { inputs: removeActive(world).inputs.slice(0, 1) }),
  ),
  breach('slash-by-removal', 'the administrator removes the block, without a verdict', (world) => ({
    ...removeActive(world),
    mint: removeActive(world).mint.slice(0, 1),
    mintRedeemers: [
      {
        policy: world.queue.policy,
        redeemer: encodeQueueAction(removal('by-administrator')),
      },
    ],
    signatories: [administrator.hash],
  })),
  breach('slash-by-removal', 'the administrator burns the block', (world) =>
    besideSlash(world, deinitBlocks(world, firstHeader)),
  ),
  breach('slash-approach', 'an operator who serves is slashed as retired', (world) =>
    withApproaches(removeActive(world), world, entry(operator), 'retired'),
  ),
  breach('slash-approach', 'a retired operator is slashed as one who serves', (world) =>
    withApproaches(removeRetired(world), world, retired, 'active'),
  ),
  ...outputBreaches('slash-continues', removeActive, 1, 'registry'),
  adaBreach('slash-continues', removeActive, 1),
  breach('slash-continues-ada', "an honest operator's bond is taken as well", (world) =>
    changeOutput(removeActive(world), 1, { lovelace: ada(5) }),
  ),
  breach('slash-continues-ada', 'the prover takes the penalty', (world) =>
    changeOutput(removeActive(world), 1, { lovelace: ada(5) + bond }),
  ),
  breach('slash-continues-datum', 'an honest operator is deleted as well', (world) =>
    withDatum(removeActive(world), running(world)),
  ),
  breach('slash-continues-datum', 'an honest operator is deleted instead', (world) =>
    withDatum(removeActive(world), running(world, entry(operator))),
  ),
  breach('slash-continues-datum', 'the operator remains', (world) =>
    withDatum(removeActive(world), running(world, entry(otherOperator), entry(operator))),
  ),
  breach('slash-continues-datum', "an honest operator's bond becomes smaller", (world) =>
    withDatum(removeActive(world), running(world, { ...entry(otherOperator), bond: 0n })),
  ),
  breach('slash-continues-datum', 'a stranger is added without a bond', (world) =>
    withDatum(removeActive(world), running(world, entry(stranger), entry(otherOperator))),
  ),
  breach('slash-continues-datum', 'the registry notes that the queue does not run', (world) =>
    withDatum(removeActive(world), stopped(world, entry(otherOperator))),
  ),
]
