import { encodeRegistryAction, encodeRegistryDatum, type RegistryDatum } from '../../datum/registry.js'
import { type Breach, breach } from '../breach.js'
import { timeOf } from '../evaluate.js'
import { adaBreach, outputBreaches } from '../output-breaches.js'
import type { TestTransaction } from '../transaction.js'
import {
  ada,
  administrator,
  bond,
  changeInput,
  changeOutput,
  maxOperators,
  operator,
  releaseDelay,
  stranger,
  type World,
  wallet,
} from '../world.js'
import {
  both,
  change,
  deinit,
  init,
  nobody,
  one,
  oneReleased,
  oneRetired,
  registerFirst,
  registerSecond,
  registryOf,
  registryToken,
  release,
  retire,
} from './scenarios.js'

const signedBy = (transaction: TestTransaction, hash: Uint8Array): TestTransaction => ({
  ...transaction,
  signatories: [hash],
})

const withDatum = (transaction: TestTransaction, datum: RegistryDatum): TestTransaction =>
  changeOutput(transaction, 0, { datum: encodeRegistryDatum(datum) })

/** Carries off another registry with whatever redeemer suits the thief. */
const withRider = (transaction: TestTransaction, world: World, redeemer: Uint8Array): TestTransaction => ({
  ...transaction,
  inputs: [...transaction.inputs, { id: 9, output: registryOf(world, nobody), redeemer }],
  outputs: [...transaction.outputs, wallet(ada(5), [registryToken(world)])],
})

const lifeBreaches: readonly Breach[] = [
  breach('registry-init-signed', 'an operator signs', (world) => signedBy(init(world), operator.hash)),
  breach('registry-init-mints-its-token', 'two tokens are minted', (world) => ({
    ...init(world),
    outputs: [registryOf(world, nobody), wallet(ada(95), [registryToken(world)])],
    mint: [registryToken(world, 2n)],
  })),
  breach('registry-init-spends-nothing', 'a registry is carried off meanwhile', (world) =>
    withRider(init(world), world, encodeRegistryAction({ kind: 'deinit' })),
  ),
  ...outputBreaches('registry-init', init, 0, 'registry'),
  breach('registry-init-datum', 'an operator is in it who has left no bond', (world) =>
    withDatum(init(world), one),
  ),
  breach('registry-deinit-signed', 'an operator signs', (world) => signedBy(deinit(world), operator.hash)),
  breach('registry-deinit-burns-its-token', 'the token goes to a wallet and another is minted', (world) => ({
    ...deinit(world),
    outputs: [wallet(ada(105), [registryToken(world), { ...registryToken(world), name: Uint8Array.of(1) }])],
    mint: [{ ...registryToken(world), name: Uint8Array.of(1) }],
  })),
  breach('registry-deinit-spends-one', 'another registry is carried off', (world) =>
    withRider(deinit(world), world, encodeRegistryAction({ kind: 'deinit' })),
  ),
  breach('registry-deinit-empty', 'an operator is active', (world) =>
    changeInput(deinit(world), 2, { datum: encodeRegistryDatum(one) }),
  ),
  breach('registry-deinit-empty', 'an operator waits for the bond', (world) =>
    changeInput(deinit(world), 2, {
      datum: encodeRegistryDatum({ active: [], retired: oneRetired.retired }),
    }),
  ),
  breach('registry-spend-by-policy', 'the registry is carried off without any action', (world) => ({
    ...deinit(world),
    outputs: [wallet(ada(105), [registryToken(world)])],
    mint: [],
    mintRedeemers: [],
    signatories: [administrator.hash, operator.hash],
  })),
]

/** What no change may do, whoever it is about. */
function changeBreaches(name: string, scenario: (world: World) => TestTransaction): Breach[] {
  return [
    breach(`${name}-signed`, 'another operator signs', (world) => signedBy(scenario(world), stranger.hash)),
    breach(`${name}-signed`, 'nobody signs', (world) => ({ ...scenario(world), signatories: [] })),
    breach(`${name}-spends-one`, 'one output satisfies two registries', (world) => {
      const transaction = scenario(world)
      const spent = transaction.inputs.find(({ id }) => id === 2)!
      return {
        ...transaction,
        inputs: [...transaction.inputs, { ...spent, id: 9 }],
        outputs: [...transaction.outputs, wallet(spent.output.lovelace, spent.output.tokens)],
      }
    }),
    ...outputBreaches(`${name}-carries`, scenario, 0, 'registry'),
    adaBreach(`${name}-carries`, scenario, 0),
    breach(`${name}-carries-datum`, 'another operator is added without a bond', (world) =>
      withDatum(scenario(world), {
        active: [{ vkey: stranger.hash, bond }, ...both.active],
        retired: [],
      }),
    ),
    breach(`${name}-carries-datum`, 'everybody is struck out', (world) => withDatum(scenario(world), nobody)),
    breach(`${name}-signed`, 'the administrator signs', (world) =>
      signedBy(scenario(world), administrator.hash),
    ),
  ]
}

const full: RegistryDatum = {
  active: Array.from({ length: Number(maxOperators) - 1 }, (_, i) => ({
    vkey: new Uint8Array(28).fill(i + 1),
    bond,
  })),
  retired: oneRetired.retired,
}

const operatorBreaches: readonly Breach[] = [
  ...changeBreaches('register', registerSecond),
  breach('register-carries-ada', 'there is no bond', (world) =>
    changeOutput(registerFirst(world), 0, { lovelace: ada(5) }),
  ),
  breach('register-carries-datum', 'the bond is said to be more', (world) =>
    withDatum(registerFirst(world), { active: [{ vkey: operator.hash, bond: bond + 1n }], retired: [] }),
  ),
  breach('register-unknown', 'the operator is active already', (world) => ({
    ...change(world, { kind: 'register', operator: operator.hash }, one, {
      active: [...one.active, ...one.active],
      retired: [],
    }),
    signatories: [operator.hash],
  })),
  breach('register-not-retired', 'the operator still waits for the bond', (world) => ({
    ...change(world, { kind: 'register', operator: operator.hash }, oneRetired, {
      active: [...one.active, ...oneRetired.active],
      retired: oneRetired.retired,
    }),
    signatories: [operator.hash],
  })),
  breach('register-room', 'the registry is full', (world) => ({
    ...change(world, { kind: 'register', operator: stranger.hash }, full, {
      active: [{ vkey: stranger.hash, bond }, ...full.active],
      retired: full.retired,
    }),
    signatories: [stranger.hash],
  })),
  ...changeBreaches('retire', retire),
  breach('retire-carries-datum', 'the bond is free a millisecond early', (world) =>
    withDatum(retire(world), {
      active: oneRetired.active,
      retired: [{ vkey: operator.hash, bond, releaseTime: timeOf(60n) + releaseDelay - 1n }],
    }),
  ),
  breach('retire-carries-datum', 'the operator is forgotten, bond and all', (world) =>
    withDatum(retire(world), oneReleased),
  ),
  breach('retire-carries-ada', 'the bond is taken at once', (world) =>
    changeOutput(retire(world), 0, { lovelace: ada(5) + bond }),
  ),
  ...changeBreaches('release', release),
  breach('release-time', 'it is one slot early', (world) => ({ ...release(world), validFrom: 179n })),
  breach('release-time', 'nothing says what time it is', (world) => {
    const { validFrom: _, ...rest } = release(world)
    return rest
  }),
  breach('release-carries-ada', 'the bond of the other operator is taken too', (world) =>
    changeOutput(release(world), 0, { lovelace: ada(5) }),
  ),
]

export const registryBreaches: readonly Breach[] = [...lifeBreaches, ...operatorBreaches]
