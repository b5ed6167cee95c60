import {
  encodeRegistryAction,
  encodeRegistryDatum,
  type RegistryAction,
  type RegistryDatum,
} from '../../datum/registry.js'
import { timeOf } from '../evaluate.js'
import type { TestOutput, TestTransaction, Token } from '../transaction.js'
import {
  ada,
  administrator,
  bond,
  operator,
  otherOperator,
  registryName,
  releaseDelay,
  scriptReference,
  type World,
  wallet,
} from '../world.js'

/*
 * Transactions that keep every rule of the operator registry.
 */

export const registryToken = ({ registry }: World, quantity = 1n): Token => ({
  policy: registry.policy,
  name: registryName,
  quantity,
})

export const nobody: RegistryDatum = { active: [], retired: [] }
export const one: RegistryDatum = { active: [{ vkey: operator.hash, bond }], retired: [] }
export const both: RegistryDatum = {
  active: [{ vkey: otherOperator.hash, bond }, ...one.active],
  retired: [],
}
/** In the validity of `retire`. */
const releaseTime = timeOf(60n) + releaseDelay
export const oneRetired: RegistryDatum = {
  active: [{ vkey: otherOperator.hash, bond }],
  retired: [{ vkey: operator.hash, bond, releaseTime }],
}
export const oneReleased: RegistryDatum = { active: oneRetired.active, retired: [] }

/** Holds five ada, and all bonds. */
export const registryOf = (world: World, datum: RegistryDatum): TestOutput => ({
  address: world.registry.address,
  lovelace: ada(5) + bond * BigInt(datum.active.length + datum.retired.length),
  tokens: [registryToken(world)],
  datum: encodeRegistryDatum(datum),
})

const minting = (world: World, action: RegistryAction, ...mint: Token[]) => ({
  mint,
  mintRedeemers: [{ policy: world.registry.policy, redeemer: encodeRegistryAction(action) }],
})

export const init = (world: World): TestTransaction => ({
  inputs: [{ id: 1, output: wallet(ada(100)) }],
  referenceInputs: [scriptReference(world.registry)],
  outputs: [registryOf(world, nobody), wallet(ada(95))],
  ...minting(world, { kind: 'init' }, registryToken(world)),
  signatories: [administrator.hash],
})

export const deinit = (world: World): TestTransaction => ({
  inputs: [
    { id: 1, output: wallet(ada(100)) },
    { id: 2, output: registryOf(world, nobody), redeemer: encodeRegistryAction({ kind: 'deinit' }) },
  ],
  referenceInputs: [scriptReference(world.registry)],
  outputs: [wallet(ada(105))],
  ...minting(world, { kind: 'deinit' }, registryToken(world, -1n)),
  signatories: [administrator.hash],
})

export const change = (
  world: World,
  action: RegistryAction,
  before: RegistryDatum,
  after: RegistryDatum,
): TestTransaction => ({
  inputs: [
    { id: 1, output: wallet(ada(2000)) },
    { id: 2, output: registryOf(world, before), redeemer: encodeRegistryAction(action) },
  ],
  referenceInputs: [scriptReference(world.registry)],
  outputs: [registryOf(world, after), wallet(ada(1500))],
  mint: [],
  mintRedeemers: [],
  signatories: [otherOperator.hash],
})

export const registerFirst = (world: World): TestTransaction => ({
  ...change(world, { kind: 'register', operator: operator.hash }, nobody, one),
  signatories: [operator.hash],
})

export const registerSecond = (world: World): TestTransaction =>
  change(world, { kind: 'register', operator: otherOperator.hash }, one, both)

export const retire = (world: World): TestTransaction => ({
  ...change(world, { kind: 'retire', operator: operator.hash }, both, oneRetired),
  signatories: [operator.hash],
  validTo: 60n,
})

/** In the first slot in which it may be. */
export const release = (world: World): TestTransaction => ({
  ...change(world, { kind: 'release', operator: operator.hash }, oneRetired, oneReleased),
  signatories: [operator.hash],
  validFrom: 180n,
})
