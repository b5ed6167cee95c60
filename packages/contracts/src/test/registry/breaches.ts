import { encodeRegistryDatum, type RegistryDatum } from '../../datum/registry.js'
import { encodeQueueAction } from '../../datum/state-queue.js'
import { renouncedAdministrator } from '../../scripts.js'
import { adaBreach, type Breach, breach, outputBreaches } from '../breach.js'
import { timeOf } from '../evaluate.js'
import { removal, removeActive, removeRetired } from '../queue/removals.js'
import { deinitBlocks, firstHeader, init as initQueue, minting } from '../queue/scenarios.js'
import type { TestTransaction } from '../transaction.js'
import {
  ada,
  administrator,
  bond,
  changeInput,
  changeOutput,
  convicting,
  deploymentInput,
  foreignPolicy,
  foreignScript,
  maxOperators,
  operator,
  otherOperator,
  rootName,
  stranger,
  type World,
  wallet,
} from '../world.js'
import {
  change,
  deinit,
  entry,
  evict,
  init,
  newcomer,
  registerFirst,
  registerSecond,
  registryOf,
  registryToken,
  release,
  retire,
  retired,
  running,
  spendRegistry,
  stopped,
} from './scenarios.js'

const signedBy = (transaction: TestTransaction, ...hashes: Uint8Array[]): TestTransaction => ({
  ...transaction,
  signatories: hashes,
})

const withDatum = (transaction: TestTransaction, datum: RegistryDatum): TestTransaction =>
  changeOutput(transaction, 0, { datum: encodeRegistryDatum(datum) })

const withSlashed = (transaction: TestTransaction, datum: RegistryDatum): TestTransaction =>
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

const slashBreaches: readonly Breach[] = [
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
    withSlashed(removeActive(world), running(world)),
  ),
  breach('slash-continues-datum', 'an honest operator is deleted instead', (world) =>
    withSlashed(removeActive(world), running(world, entry(operator))),
  ),
  breach('slash-continues-datum', 'the operator remains', (world) =>
    withSlashed(removeActive(world), running(world, entry(otherOperator), entry(operator))),
  ),
  breach('slash-continues-datum', "an honest operator's bond becomes smaller", (world) =>
    withSlashed(removeActive(world), running(world, { ...entry(otherOperator), bond: 0n })),
  ),
  breach('slash-continues-datum', 'a stranger is added without a bond', (world) =>
    withSlashed(removeActive(world), running(world, entry(stranger), entry(otherOperator))),
  ),
  breach('slash-continues-datum', 'the registry notes that the queue does not run', (world) =>
    withSlashed(removeActive(world), stopped(world, entry(otherOperator))),
  ),
]

/** Operators who exist only to fill the registry. */
const crowd = (count: number, times: Parameters<typeof entry>[1] = {}) =>
  Array.from({ length: count }, (_, i) => entry({ hash: new Uint8Array(28).fill(i + 1) }, times))

function changeBreaches(name: string, scenario: (world: World) => TestTransaction): Breach[] {
  return [
    ...outputBreaches(`${name}-continues`, scenario, 0, 'registry'),
    adaBreach(`${name}-continues`, scenario, 0),
    breach(`${name}-continues-datum`, 'another operator is added without a bond', (world) =>
      withDatum(scenario(world), running(world, entry(stranger), entry(otherOperator), entry(operator))),
    ),
    breach(`${name}-continues-datum`, 'all operators are deleted', (world) =>
      withDatum(scenario(world), running(world)),
    ),
  ]
}

const registerBreaches: readonly Breach[] = [
  ...changeBreaches('register', registerSecond),
  breach('register-signed-by-operator', 'another operator signs', (world) =>
    signedBy(registerSecond(world), stranger.hash, administrator.hash),
  ),
  breach('register-signed-by-operator', 'the administrator signs instead of the operator', (world) =>
    signedBy(registerSecond(world), administrator.hash),
  ),
  breach('register-by-administrator', 'a stranger registers alone', (world) =>
    signedBy(registerSecond(world), otherOperator.hash),
  ),
  breach('register-once', 'the operator is registered already', (world) => ({
    ...change(
      world,
      { kind: 'register', operator: operator.hash },
      running(world, entry(operator)),
      running(world, entry(operator, { activeFrom: timeOf(160n) }), entry(operator)),
    ),
    signatories: [operator.hash, administrator.hash],
  })),
  breach('register-once', "the operator's bond from an earlier registration is still locked", (world) => ({
    ...change(
      world,
      { kind: 'register', operator: operator.hash },
      running(world, retired),
      running(world, entry(operator, { activeFrom: timeOf(160n) }), retired),
    ),
    signatories: [operator.hash, administrator.hash],
  })),
  breach('register-below-maximum', 'the registry is full', (world) => {
    const full = crowd(Number(maxOperators))
    return {
      ...change(
        world,
        { kind: 'register', operator: otherOperator.hash },
        running(world, ...full),
        running(world, newcomer, ...full),
      ),
      signatories: [otherOperator.hash, administrator.hash],
    }
  }),
  breach('register-datum-bounded', 'twice the maximum of entries exists, most of them retired', (world) => {
    const full = crowd(2 * Number(maxOperators), { activeUntil: timeOf(40n) })
    return {
      ...change(
        world,
        { kind: 'register', operator: otherOperator.hash },
        running(world, ...full),
        running(world, newcomer, ...full),
      ),
      signatories: [otherOperator.hash, administrator.hash],
    }
  }),
  breach('register-continues-datum', 'the turn in progress changes hands', (world) =>
    withDatum(
      registerSecond(world),
      running(world, entry(otherOperator, { activeFrom: timeOf(40n) }), entry(operator)),
    ),
  ),
  breach('register-continues-datum', 'the next turn changes hands', (world) =>
    withDatum(
      registerSecond(world),
      running(world, entry(otherOperator, { activeFrom: timeOf(100n) }), entry(operator)),
    ),
  ),
  breach('register-continues-datum', 'the operator counts from a turn before the one in progress', (world) =>
    withDatum(registerFirst(world), stopped(world, entry(operator, { activeFrom: timeOf(-20n) }))),
  ),
  breach('register-continues-ada', 'the bond is not paid', (world) =>
    changeOutput(registerFirst(world), 0, { lovelace: ada(5) }),
  ),
  breach('register-continues-datum', 'the entry states a larger bond than was paid', (world) =>
    withDatum(registerSecond(world), running(world, { ...newcomer, bond: bond + 1n }, entry(operator))),
  ),
]

const retireBreaches: readonly Breach[] = [
  ...changeBreaches('retire', retire),
  breach('retire-by-operator-or-administrator', 'another operator signs', (world) =>
    signedBy(retire(world), stranger.hash),
  ),
  breach('retire-by-operator-or-administrator', 'no one signs', (world) => signedBy(retire(world))),
  breach('retire-once', 'the administrator retires an operator again, to lock the bond longer', (world) => {
    const earlier = entry(operator, { activeUntil: timeOf(100n) })
    return {
      ...evict(world),
      inputs: [
        evict(world).inputs[0]!,
        change(
          world,
          { kind: 'retire', operator: operator.hash },
          running(world, entry(otherOperator), earlier),
          running(world),
        ).inputs[1]!,
      ],
    }
  }),
  breach(
    'retire-soon',
    'the administrator retires an operator at a later time, to lock the bond longer',
    (world) => ({
      ...withDatum(
        evict(world),
        running(world, entry(otherOperator), entry(operator, { activeUntil: timeOf(220n) })),
      ),
      validFrom: 40n,
      validTo: 101n,
    }),
  ),
  breach('retire-soon', 'the transaction has no lower validity bound', (world) => {
    const { validFrom: _, ...rest } = retire(world)
    return rest
  }),
  breach('retire-continues-datum', 'the operator loses the next turn', (world) =>
    withDatum(
      evict(world),
      running(world, entry(otherOperator), entry(operator, { activeUntil: timeOf(100n) })),
    ),
  ),
  breach('retire-continues-datum', 'the operators change places', (world) =>
    withDatum(retire(world), running(world, retired, entry(otherOperator))),
  ),
  breach('retire-continues-datum', "the operator's entry is deleted", (world) =>
    withDatum(retire(world), running(world, entry(otherOperator))),
  ),
  breach('retire-continues-datum', 'the entry states a smaller bond', (world) =>
    withDatum(evict(world), running(world, entry(otherOperator), { ...retired, bond: 0n })),
  ),
  breach('retire-continues-ada', 'the administrator withdraws the bond', (world) =>
    changeOutput(evict(world), 0, { lovelace: ada(5) + bond }),
  ),
]

const releaseBreaches: readonly Breach[] = [
  ...changeBreaches('release', release),
  breach('release-signed-by-operator', 'another operator signs', (world) =>
    signedBy(release(world), stranger.hash),
  ),
  breach('release-signed-by-operator', 'the administrator signs', (world) =>
    signedBy(release(world), administrator.hash),
  ),
  breach('release-not-early', 'the release is one slot early', (world) => ({
    ...release(world),
    validFrom: 279n,
  })),
  breach('release-not-early', 'the transaction has no lower validity bound', (world) => {
    const { validFrom: _, ...rest } = release(world)
    return rest
  }),
  breach('release-not-early', 'the operator has not retired', (world) =>
    changeInput(release(world), 2, {
      datum: encodeRegistryDatum(running(world, entry(otherOperator), entry(operator))),
    }),
  ),
  breach('release-continues-ada', "another operator's bond is withdrawn as well", (world) =>
    changeOutput(release(world), 0, { lovelace: ada(5) }),
  ),
]

const foreignRoot = (quantity: bigint) => ({ policy: foreignPolicy, name: rootName, quantity })

/** Mints or burns a root of a queue that the registry does not name. */
const besideForeignRoot = (transaction: TestTransaction, quantity: bigint): TestTransaction => ({
  ...transaction,
  outputs: [transaction.outputs[0]!, wallet(ada(1500), quantity > 0n ? [foreignRoot(quantity)] : [])],
  mint: [foreignRoot(quantity)],
  nativeScripts: [foreignScript],
})

/** The registry of a queue whose policy mints anything: what an administrator could start with. */
const ofForeign = (datum: RegistryDatum): RegistryDatum => ({ ...datum, queue: foreignPolicy })

const starts = { kind: 'set-queue', running: true } as const

const ends = { kind: 'set-queue', running: false } as const

const setQueueBreaches: readonly Breach[] = [
  ...changeBreaches('set-queue', initQueue),
  breach('set-queue-by-administrator', 'an operator signs instead of the administrator', (world) =>
    signedBy(initQueue(world), operator.hash),
  ),
  breach('set-queue-changes', 'the queue starts while it runs: a second root', (world) => {
    const datum = ofForeign(running(world, entry(operator)))
    return besideForeignRoot(change(world, starts, datum, datum), 1n)
  }),
  breach('set-queue-changes', 'the queue ends while it does not run', (world) => {
    const datum = ofForeign(stopped(world, entry(operator)))
    return besideForeignRoot(change(world, ends, datum, datum), -1n)
  }),
  breach('set-queue-with-root', 'the queue starts without a root', (world) =>
    change(world, starts, stopped(world, entry(operator)), running(world, entry(operator))),
  ),
  breach('set-queue-with-root', 'the root of another queue is minted', (world) =>
    besideForeignRoot(
      change(world, starts, stopped(world, entry(operator)), running(world, entry(operator))),
      1n,
    ),
  ),
  breach('set-queue-with-root', 'the queue ends while its root exists', (world) =>
    change(world, ends, running(world, entry(operator)), stopped(world, entry(operator))),
  ),
  breach('set-queue-with-root', 'the queue ends while a root is minted', (world) =>
    besideForeignRoot(
      change(
        world,
        ends,
        ofForeign(running(world, entry(operator))),
        ofForeign(stopped(world, entry(operator))),
      ),
      1n,
    ),
  ),
  breach('set-queue-continues-datum', 'the administrator has another queue slash from now on', (world) =>
    besideForeignRoot(
      change(world, starts, ofForeign(stopped(world, entry(operator))), running(world, entry(operator))),
      1n,
    ),
  ),
]

const initBreaches: readonly Breach[] = [
  breach('registry-init-spends-deployment-output', 'a second registry is started later', (world) => ({
    ...init(world),
    inputs: init(world).inputs.filter(({ id }) => id !== deploymentInput),
    outputs: [registryOf(world, stopped(world)), wallet(ada(95))],
  })),
  breach('registry-init-by-administrator', 'an operator signs instead of the administrator', (world) =>
    signedBy(init(world), operator.hash),
  ),
  breach('registry-init-mints-token-only', 'two tokens are minted', (world) => ({
    ...init(world),
    outputs: [registryOf(world, stopped(world)), wallet(ada(105), [registryToken(world)])],
    mint: [registryToken(world, 2n)],
  })),
  ...outputBreaches('registry-init', init, 0, 'registry'),
  breach('registry-init-datum', 'the registry starts with an operator who paid no bond', (world) =>
    withDatum(init(world), stopped(world, entry(operator))),
  ),
  breach('registry-init-datum', 'the registry starts with a queue that runs', (world) =>
    withDatum(init(world), running(world)),
  ),
  breach('registry-init-names-queue', "the queue's policy has 27 bytes", (world) =>
    withDatum(init(world), { ...stopped(world), queue: new Uint8Array(27) }),
  ),
  breach(
    'registry-init-starts-queue',
    'no queue starts, though the administrator is renounced',
    (world) => ({
      ...init(world),
      outputs: [registryOf(world, running(world)), wallet(ada(105))],
      signatories: [],
    }),
    { administrator: renouncedAdministrator, permissioned: false },
  ),
  breach('registry-deinit-by-administrator', 'an operator signs instead of the administrator', (world) =>
    signedBy(deinit(world), operator.hash),
  ),
  breach(
    'registry-deinit-burns-token-only',
    'the token is kept in a wallet and another is minted',
    (world) => ({
      ...deinit(world),
      outputs: [
        wallet(ada(105), [registryToken(world), { ...registryToken(world), name: Uint8Array.of(1) }]),
      ],
      mint: [{ ...registryToken(world), name: Uint8Array.of(1) }],
    }),
  ),
  breach('registry-deinit-empty', 'an operator is registered', (world) =>
    changeInput(deinit(world), 2, { datum: encodeRegistryDatum(stopped(world, entry(operator))) }),
  ),
  breach('registry-deinit-empty', "a retired operator's bond is still locked", (world) =>
    changeInput(deinit(world), 2, { datum: encodeRegistryDatum(stopped(world, retired)) }),
  ),
  breach('registry-deinit-empty', 'the queue runs', (world) =>
    changeInput(deinit(world), 2, { datum: encodeRegistryDatum(running(world)) }),
  ),
  breach(
    'registry-spend-under-policy',
    'the registry leaves its address without any action of the policy',
    (world) => ({
      ...deinit(world),
      outputs: [wallet(ada(105), [registryToken(world)])],
      mint: [],
      mintRedeemers: [],
      signatories: [administrator.hash, operator.hash],
    }),
  ),
]

export const registryBreaches: readonly Breach[] = [
  ...initBreaches,
  ...registerBreaches,
  ...retireBreaches,
  ...releaseBreaches,
  ...slashBreaches,
  ...setQueueBreaches,
]
