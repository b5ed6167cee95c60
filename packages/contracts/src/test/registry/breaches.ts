import { encodeRegistryDatum, type RegistryDatum } from '../../datum/registry.js'
import { renouncedAdministrator } from '../../script/scripts.js'
import { type Breach, breach } from '../breach.js'
import { outputBreaches } from '../output-breaches.js'
import { init as initQueue } from '../queue/scenarios.js'
import type { TestTransaction } from '../transaction.js'
import {
  ada,
  administrator,
  changeInput,
  deploymentInput,
  foreignPolicy,
  foreignScript,
  operator,
  rootName,
  wallet,
} from '../world.js'
import { changeBreaches, registerBreaches, releaseBreaches, retireBreaches } from './change-breaches.js'
import { signedBy, withDatum } from './edits.js'
import {
  change,
  deinit,
  entry,
  init,
  registryOf,
  registryToken,
  retired,
  running,
  stopped,
} from './scenarios.js'
import { slashBreaches } from './slash-breaches.js'

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
