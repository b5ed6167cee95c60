import type { RegistryDatum } from '../../datum/registry.js'
import { encodeRootDatum } from '../../datum/state-queue.js'
import { type Breach, breach } from '../breach.js'
import { withConstructor, withField } from '../data-edit.js'
import { timeOf } from '../evaluate.js'
import { outputBreaches } from '../output-breaches.js'
import { entry, registryOf, retired, running, spendRegistry, stopped } from '../registry/scenarios.js'
import type { TestTransaction } from '../transaction.js'
import {
  ada,
  administrator,
  changeOutput,
  foreignPolicy,
  foreignScript,
  operator,
  rootName,
  scriptReference,
  stranger,
  type World,
  wallet,
} from '../world.js'
import { otherHash, rider, signedBy, withRider } from './edits.js'
import {
  blockOutput,
  blockToken,
  deinit,
  deinitBlocks,
  firstHeader,
  genesis,
  init,
  rootOutput,
  rootToken,
  spend,
} from './scenarios.js'

/** Starts a queue while the registry spends its turn on registering a stranger. */
const initBesideRegistration = (world: World, registryOfQueue: typeof running): TestTransaction => {
  const before = registryOfQueue(world, entry(operator))
  const newcomer = entry(stranger, { activeFrom: timeOf(before.running ? 160n : 40n) })
  return {
    ...init(world),
    inputs: [
      { id: 1, output: wallet(ada(1000)) },
      spendRegistry(world, 2, before, { kind: 'register', operator: stranger.hash }),
    ],
    outputs: [
      registryOf(world, registryOfQueue(world, newcomer, entry(operator))),
      ...init(world).outputs.slice(1),
    ],
    signatories: [administrator.hash, stranger.hash],
    validFrom: 50n,
    validTo: 60n,
  }
}

export const initBreaches: readonly Breach[] = [
  breach('init-mints-root-only', 'a block is minted as well', (world) => ({
    ...init(world),
    outputs: [...init(world).outputs.slice(0, 2), wallet(ada(96), [blockToken(world, firstHeader)])],
    mint: [rootToken(world), blockToken(world, firstHeader)],
  })),
  breach('init-spends-no-element', 'a block leaves the queue in the same transaction', (world) =>
    withRider(init(world), world, firstHeader),
  ),
  breach('init-not-running', 'the queue runs already: a second root', (world) =>
    initBesideRegistration(world, running),
  ),
  breach('init-registry-notes', 'the registry does not note that the queue runs', (world) =>
    initBesideRegistration(world, stopped),
  ),
  breach('init-registry-notes', 'the registry names another queue', (world) => {
    const other = (datum: RegistryDatum) => ({ ...datum, queue: foreignPolicy })
    const transaction = init(world)
    return {
      ...transaction,
      inputs: [
        transaction.inputs[0]!,
        spendRegistry(world, 2, other(stopped(world, entry(operator))), { kind: 'set-queue', running: true }),
      ],
      outputs: [
        registryOf(world, other(running(world, entry(operator)))),
        ...transaction.outputs.slice(1, 2),
        wallet(ada(96), [{ policy: foreignPolicy, name: rootName, quantity: 1n }]),
      ],
      mint: [...transaction.mint, { policy: foreignPolicy, name: rootName, quantity: 1n }],
      nativeScripts: [foreignScript],
    }
  }),
  ...(
    [
      ['the header hash has 27 bytes', { headerHash: new Uint8Array(27) }],
      ['the previous header hash has 29 bytes', { prevHeaderHash: new Uint8Array(29) }],
      ['the ledger root has 31 bytes', { utxoRoot: new Uint8Array(31) }],
      ['the state ends before it starts', { startTime: genesis.endTime + 1n }],
      ['the block version is negative', { blockVersion: -1n }],
      ['the block version is 2^32', { blockVersion: 2n ** 32n }],
    ] as const
  ).map(([what, change]) =>
    breach('init-state-well-formed', what, (world) =>
      changeOutput(init(world), 1, { datum: encodeRootDatum({ state: { ...genesis, ...change } }) }),
    ),
  ),
  breach('init-state-well-formed', 'the state has a seventh field', (world) =>
    changeOutput(init(world), 1, { datum: withField(encodeRootDatum({ state: genesis }), [0, 6], 0n) }),
  ),
  breach('init-state-well-formed', 'the content is constructor 1', (world) =>
    changeOutput(init(world), 1, { datum: withConstructor(encodeRootDatum({ state: genesis }), [0], 1) }),
  ),
  ...outputBreaches('init-root', init, 1, 'queue'),
  breach('init-root-datum', 'the root links to a block', (world) =>
    changeOutput(init(world), 1, { datum: encodeRootDatum({ state: genesis, link: otherHash }) }),
  ),
  breach('init-root-datum', 'the datum has a third field', (world) =>
    changeOutput(init(world), 1, { datum: withField(encodeRootDatum({ state: genesis }), [2], 0n) }),
  ),
]

export const deinitBreaches: readonly Breach[] = [
  breach('deinit-by-administrator', 'an operator signs instead of the administrator', (world) =>
    signedBy(deinitBlocks(world, firstHeader), operator.hash),
  ),
  breach('deinit-by-administrator', 'no one signs', (world) => ({
    ...deinitBlocks(world, firstHeader),
    signatories: [],
  })),
  breach('deinit-leaves-no-token', "a block's token goes to a wallet", (world) => ({
    ...deinitBlocks(world, firstHeader, rider),
    outputs: [wallet(ada(108), [blockToken(world, rider)])],
    mint: [blockToken(world, firstHeader, -1n)],
  })),
  breach('deinit-leaves-no-token', 'a block is paid back to the queue', (world) => ({
    ...deinitBlocks(world, firstHeader, rider),
    outputs: [wallet(ada(104)), blockOutput(world, rider)],
    mint: [blockToken(world, firstHeader, -1n)],
  })),
  breach('deinit-leaves-no-token', 'a block is minted and kept in a wallet', (world) => ({
    ...deinitBlocks(world, firstHeader),
    outputs: [wallet(ada(104), [blockToken(world, rider)])],
    mint: [blockToken(world, rider), blockToken(world, firstHeader, -1n)],
  })),
  breach('deinit-registry-notes', 'the registry is not spent', (world) => ({
    ...deinit(world),
    inputs: deinit(world).inputs.filter(({ id }) => id !== 5),
    outputs: [wallet(ada(108))],
  })),
  breach('deinit-registry-notes', 'the registry notes that the queue still runs', (world) => ({
    ...deinit(world),
    inputs: [
      ...deinit(world).inputs.filter(({ id }) => id !== 5),
      spendRegistry(world, 5, running(world, entry(operator)), { kind: 'retire', operator: operator.hash }),
    ],
    outputs: [registryOf(world, running(world, retired)), wallet(ada(108))],
    signatories: [administrator.hash, operator.hash],
    validFrom: 50n,
    validTo: 60n,
  })),
]

export const spendBreaches: readonly Breach[] = [
  breach('spend-under-policy', 'the root leaves the queue without any action of the policy', (world) => ({
    inputs: [spend(2, rootOutput(world, genesis))],
    referenceInputs: [scriptReference(world.queue)],
    outputs: [wallet(ada(3), [rootToken(world)])],
    mint: [],
    mintRedeemers: [],
    signatories: [administrator.hash, operator.hash],
  })),
]
