import { headerHash } from '@ratatosk/block'
import { encodeBridgeDatum, encodeSettle } from '../../datum/bridge.js'
import { type Breach, breach } from '../breach.js'
import { outputBreaches } from '../output-breaches.js'
import { registryOutput, remove } from '../queue/scenarios.js'
import { registerSecond } from '../registry/scenarios.js'
import { ada, changeOutput, root, scriptReference, type World, wallet } from '../world.js'
import {
  follow,
  mergeAndSettle,
  owing,
  payOne,
  reserve,
  settlement,
  settlementToken,
  withOutput,
} from './scenarios.js'

const settlementPlace = 2
const owed = { kind: 'settlement', root: owing.withdrawalsRoot, time: owing.endTime } as const

/** The administrator removes a block, and makes its settlement. */
function removeAndSettle(world: World) {
  const transaction = remove(world, owing)
  const token = settlementToken(world, headerHash(owing))
  return {
    ...transaction,
    referenceInputs: [
      { id: 200, output: registryOutput(world) },
      ...transaction.referenceInputs,
      scriptReference(world.bridge, 251),
    ],
    outputs: [
      transaction.outputs[0]!,
      wallet(ada(100)),
      { ...settlement(world, owed.root, { time: owed.time }), tokens: [token] },
      wallet(ada(2)),
    ],
    mint: [...transaction.mint, token],
    mintRedeemers: [...transaction.mintRedeemers, { policy: world.bridge.policy, redeemer: encodeSettle() }],
  }
}

/** Breaches of the rules by which the bridge makes settlements. */
export const settleBreaches: readonly Breach[] = [
  breach('settle-mints-one', 'a token of another name is minted as well', (world) => {
    const transaction = mergeAndSettle(world)
    const other = settlementToken(world, new Uint8Array(28).fill(0xff))
    return {
      ...withOutput(transaction, 3, () => ({ tokens: [other] })),
      mint: [...transaction.mint, other],
    }
  }),
  breach('settle-by-merge', 'the block is removed', removeAndSettle),
  ...outputBreaches('settle', mergeAndSettle, settlementPlace, 'bridge'),
  ...(
    [
      ['of another map', { root: root(8) }],
      ['of a block that ends later', { time: owed.time + 1n }],
    ] as const
  ).map(([what, edit]) =>
    breach('settle-datum', `the settlement is ${what}`, (world) =>
      changeOutput(mergeAndSettle(world), settlementPlace, {
        datum: encodeBridgeDatum({ ...owed, ...edit }),
      }),
    ),
  ),
]

/** Breaches of the rules of inputs that follow. */
export const followBreaches: readonly Breach[] = [
  breach(
    'follow-at-bridge',
    'a reserve follows the registry, whose action has the number of tidying',
    (world) => {
      const transaction = registerSecond(world)
      return {
        ...transaction,
        inputs: [...transaction.inputs, { id: 9, output: reserve(world, ada(50)), redeemer: follow(1) }],
        referenceInputs: [...transaction.referenceInputs, scriptReference(world.bridge, 251)],
      }
    },
  ),
  breach('follow-leader', 'a reserve follows itself', (world) => ({
    ...payOne(world),
    inputs: [
      { id: 1, output: wallet(ada(100)) },
      { id: 10, output: reserve(world, ada(50)), redeemer: follow(1) },
    ],
  })),
  breach('follow-leader', 'two reserves follow each other', (world) => ({
    ...payOne(world),
    inputs: [
      { id: 10, output: reserve(world, ada(50)), redeemer: follow(1) },
      { id: 11, output: reserve(world, ada(50)), redeemer: follow(0) },
    ],
  })),
]
