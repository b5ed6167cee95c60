import { encodeRootDatum } from '../../datum/state-queue.js'
import { type Breach, breach } from '../breach.js'
import { withConstructor, withField } from '../data-edit.js'
import { outputBreaches } from '../output-breaches.js'
import { ada, administrator, changeOutput, operator, scriptReference, wallet } from '../world.js'
import { otherHash, signedBy, withRider } from './edits.js'
import {
  blockOutput,
  blockToken,
  deinit,
  firstHeader,
  genesis,
  init,
  rootOutput,
  rootToken,
  spend,
} from './scenarios.js'

export const initBreaches: readonly Breach[] = [
  breach('init-signed', 'an operator signs', (world) => signedBy(init(world), operator.hash)),
  breach('init-mints-a-root', 'two roots are minted', (world) => ({
    ...init(world),
    outputs: [rootOutput(world, genesis), wallet(ada(96), [rootToken(world)])],
    mint: [rootToken(world, 2n)],
  })),
  breach('init-mints-a-root', 'a block is minted beside the root', (world) => ({
    ...init(world),
    outputs: [rootOutput(world, genesis), wallet(ada(96), [blockToken(world, firstHeader)])],
    mint: [rootToken(world), blockToken(world, firstHeader)],
  })),
  breach('init-spends-nothing', 'a block is carried off meanwhile', (world) =>
    withRider(init(world), world, firstHeader),
  ),
  ...(
    [
      ['the header hash is short', { headerHash: new Uint8Array(27) }],
      ['the previous header hash is long', { prevHeaderHash: new Uint8Array(29) }],
      ['the root is short', { utxoRoot: new Uint8Array(31) }],
      ['it ends before it starts', { startTime: genesis.endTime + 1n }],
      ['the protocol version is negative', { protocolVersion: -1n }],
      ['the protocol version is 2^32', { protocolVersion: 2n ** 32n }],
    ] as const
  ).map(([what, change]) =>
    breach('init-state', what, (world) =>
      changeOutput(init(world), 0, { datum: encodeRootDatum({ state: { ...genesis, ...change } }) }),
    ),
  ),
  breach('init-state', 'it has a seventh field', (world) =>
    changeOutput(init(world), 0, { datum: withField(encodeRootDatum({ state: genesis }), [0, 6], 0n) }),
  ),
  breach('init-state', 'it is another constructor', (world) =>
    changeOutput(init(world), 0, { datum: withConstructor(encodeRootDatum({ state: genesis }), [0], 1) }),
  ),
  ...outputBreaches('init', init, 0, 'queue'),
  breach('init-datum', 'it links to a block', (world) =>
    changeOutput(init(world), 0, { datum: encodeRootDatum({ state: genesis, link: otherHash }) }),
  ),
  breach('init-datum', 'it has a third field', (world) =>
    changeOutput(init(world), 0, { datum: withField(encodeRootDatum({ state: genesis }), [2], 0n) }),
  ),
]

export const deinitBreaches: readonly Breach[] = [
  breach('deinit-signed', 'an operator signs', (world) => signedBy(deinit(world), operator.hash)),
  breach('deinit-leaves-no-token', 'a block goes on to a wallet', (world) => ({
    ...deinit(world),
    outputs: [wallet(ada(108), [blockToken(world, firstHeader)])],
    mint: [rootToken(world, -1n)],
  })),
  breach('deinit-leaves-no-token', 'a block stays where it is', (world) => ({
    ...deinit(world),
    outputs: [wallet(ada(104)), blockOutput(world, firstHeader)],
    mint: [rootToken(world, -1n)],
  })),
  breach('deinit-leaves-no-token', 'a root is minted', (world) => ({
    ...deinit(world),
    outputs: [wallet(ada(104), [rootToken(world)])],
    mint: [rootToken(world, 1n), blockToken(world, firstHeader, -1n)],
    inputs: deinit(world).inputs.filter(({ id }) => id !== 2),
  })),
]

export const spendBreaches: readonly Breach[] = [
  breach('spend-by-policy', 'the root is carried off without any action', (world) => ({
    inputs: [spend(2, rootOutput(world, genesis))],
    referenceInputs: [scriptReference(world.queue)],
    outputs: [wallet(ada(3), [rootToken(world)])],
    mint: [],
    mintRedeemers: [],
    signatories: [administrator.hash, operator.hash],
  })),
]
