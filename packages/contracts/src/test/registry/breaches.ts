import { encodeRegistryDatum } from '../../datum/registry.js'
import { renouncedAdministrator } from '../../script/scripts.js'
import { type Breach, breach } from '../breach.js'
import { outputBreaches } from '../output-breaches.js'
import { ada, administrator, changeInput, deploymentInput, operator, wallet } from '../world.js'
import { registerBreaches, releaseBreaches, retireBreaches } from './change-breaches.js'
import { signedBy, withDatum } from './edits.js'
import { deinit, entry, init, registryOf, registryToken, retired, running, stopped } from './scenarios.js'
import { setQueueBreaches } from './set-queue-breaches.js'
import { slashBreaches } from './slash-breaches.js'

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
