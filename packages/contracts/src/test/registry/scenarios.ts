import {
  encodeRegistryAction,
  encodeRegistryDatum,
  type RegisteredOperator,
  type RegistryAction,
  type RegistryDatum,
} from '../../datum/registry.js'
import { timeOf } from '../evaluate.js'
import type { TestInput, TestKey, TestOutput, TestTransaction, Token } from '../transaction.js'
import {
  ada,
  administrator,
  bond,
  deploymentInput,
  operator,
  otherOperator,
  registryName,
  scriptReference,
  type World,
  wallet,
} from '../world.js'

/*
 * Transactions that the operator registry accepts. Turns start at slots 40, 100, 160, …; changes happen in
 * slots 50 to 59, and so take effect in slot 160 while the queue runs.
 */

export const registryToken = ({ registry }: World, quantity = 1n): Token => ({
  policy: registry.policy,
  name: registryName,
  quantity,
})

/** An operator who counts since long ago, unless `times` say otherwise. */
export const entry = (
  { hash }: Pick<TestKey, 'hash'>,
  times: Partial<Pick<RegisteredOperator, 'activeFrom' | 'activeUntil'>> = {},
): RegisteredOperator => ({ vkey: hash, bond, activeFrom: timeOf(-1000n), ...times })

/** The registry's datum while the queue runs. */
export const running = ({ queue }: World, ...operators: RegisteredOperator[]): RegistryDatum => ({
  operators,
  queue: queue.policy,
  running: true,
})
/** The registry's datum while it does not. */
export const stopped = (world: World, ...operators: RegisteredOperator[]): RegistryDatum => ({
  ...running(world, ...operators),
  running: false,
})

export const retired = entry(operator, { activeUntil: timeOf(160n) })
export const newcomer = entry(otherOperator, { activeFrom: timeOf(160n) })

/** The registry's output: five ada and all bonds. */
export const registryOf = (world: World, datum: RegistryDatum): TestOutput => ({
  address: world.registry.address,
  lovelace: ada(5) + bond * BigInt(datum.operators.length),
  tokens: [registryToken(world)],
  datum: encodeRegistryDatum(datum),
})

export const spendRegistry = (
  world: World,
  id: number,
  datum: RegistryDatum,
  action: RegistryAction,
): TestInput => ({ id, output: registryOf(world, datum), redeemer: encodeRegistryAction(action) })

const minting = (world: World, action: RegistryAction, ...mint: Token[]) => ({
  mint,
  mintRedeemers: [{ policy: world.registry.policy, redeemer: encodeRegistryAction(action) }],
})

export const init = (world: World): TestTransaction => ({
  inputs: [
    { id: 1, output: wallet(ada(100)) },
    { id: deploymentInput, output: wallet(ada(10)) },
  ],
  referenceInputs: [scriptReference(world.registry)],
  outputs: [registryOf(world, stopped(world)), wallet(ada(105))],
  ...minting(world, { kind: 'init' }, registryToken(world)),
  signatories: [administrator.hash],
})

export const deinit = (world: World): TestTransaction => ({
  inputs: [{ id: 1, output: wallet(ada(100)) }, spendRegistry(world, 2, stopped(world), { kind: 'deinit' })],
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
  inputs: [{ id: 1, output: wallet(ada(2000)) }, spendRegistry(world, 2, before, action)],
  referenceInputs: [scriptReference(world.registry)],
  outputs: [registryOf(world, after), wallet(ada(1500))],
  mint: [],
  mintRedeemers: [],
  signatories: [administrator.hash],
  validFrom: 50n,
  validTo: 60n,
})

/** Registers before there is a queue: the operator counts from the turn in progress on. */
export const registerFirst = (world: World): TestTransaction => ({
  ...change(
    world,
    { kind: 'register', operator: operator.hash },
    stopped(world),
    stopped(world, entry(operator, { activeFrom: timeOf(40n) })),
  ),
  signatories: [operator.hash, administrator.hash],
})

/** Registers while the queue exists: the operator counts from the turn after next on. */
export const registerSecond = (world: World): TestTransaction => ({
  ...change(
    world,
    { kind: 'register', operator: otherOperator.hash },
    running(world, entry(operator)),
    running(world, newcomer, entry(operator)),
  ),
  signatories: [otherOperator.hash, administrator.hash],
})

export const retire = (world: World): TestTransaction => ({
  ...change(
    world,
    { kind: 'retire', operator: operator.hash },
    running(world, entry(otherOperator), entry(operator)),
    running(world, entry(otherOperator), retired),
  ),
  signatories: [operator.hash],
})

/** The administrator retires an operator. */
export const evict = (world: World): TestTransaction => ({
  ...retire(world),
  signatories: [administrator.hash],
})

/** Releases a bond in the first slot in which that is allowed. */
export const release = (world: World): TestTransaction => ({
  ...change(
    world,
    { kind: 'release', operator: operator.hash },
    running(world, entry(otherOperator), retired),
    running(world, entry(otherOperator)),
  ),
  signatories: [operator.hash],
  validFrom: 280n,
  validTo: 290n,
})
