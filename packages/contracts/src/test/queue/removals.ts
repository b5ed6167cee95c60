import { type Header, headerHash } from '@ratatosk/block'
import type { QueueAction, SlashingApproach } from '../../datum/state-queue.js'
import { timeOf } from '../evaluate.js'
import { entry, registryOf, retired, running, spendRegistry } from '../registry/scenarios.js'
import type { TestInput, TestTransaction } from '../transaction.js'
import {
  ada,
  type Contract,
  convicting,
  operator,
  otherOperator,
  root,
  scriptReference,
  slashPenalty,
  turnLength,
  verdict,
  verdictToken,
  type World,
  wallet,
} from '../world.js'
import {
  blockOutput,
  blockToken,
  commitSecond,
  deinitBlocks,
  firstHeader,
  genesis,
  minting,
  references,
  refund,
  rootOutput,
  secondHeader,
  spend,
} from './scenarios.js'

/*
 * Removals by a verdict, whose prover receives all ada, and prunings. No one signs.
 */

export const removal = (
  approach: (QueueAction & { kind: 'remove' })['approach'],
  header: Header = firstHeader,
): QueueAction => ({
  kind: 'remove',
  headerHash: headerHash(header),
  approach,
})

/** The parts that convict a block: its header, the policy and its redeemer. */
interface Conviction {
  readonly header: Header
  readonly policy: Pick<Contract, 'script'>
  readonly redeemer: Uint8Array
}
const firstConviction: Conviction = {
  header: firstHeader,
  policy: verdict,
  redeemer: convicting(firstHeader).redeemer,
}

/** Removes the first of two blocks in the transaction that mints the verdict, and slashes its operator. */
const slashing = (
  world: World,
  approach: SlashingApproach,
  own: typeof retired,
  { header, policy, redeemer }: Conviction = firstConviction,
): TestTransaction => ({
  inputs: [
    { id: 1, output: wallet(ada(100)) },
    spend(2, rootOutput(world, genesis, header)),
    spend(3, blockOutput(world, header, secondHeader)),
    spendRegistry(world, 5, running(world, entry(otherOperator), own), {
      kind: 'slash',
      operator: operator.hash,
      approach,
    }),
  ],
  referenceInputs: [...references(world), scriptReference(policy, 252)],
  outputs: [
    rootOutput(world, genesis, secondHeader),
    withPenalty(world, running(world, entry(otherOperator))),
    wallet(ada(500), [verdictToken(header, policy.script.hash)]),
  ],
  mint: [blockToken(world, header, -1n), verdictToken(header, policy.script.hash)],
  mintRedeemers: [
    ...minting(world, removal(approach, header)).mintRedeemers,
    { policy: policy.script.hash, redeemer },
  ],
  signatories: [],
})

/** The registry with the penalty of one slashed operator. */
export const withPenalty = (...[world, datum]: Parameters<typeof registryOf>) => {
  const output = registryOf(world, datum)
  return { ...output, lovelace: output.lovelace + slashPenalty }
}

export const removeActive = (world: World): TestTransaction => slashing(world, 'active', entry(operator))
/** The same by any verdict policy, of a block by any header of the operator's. */
export const removeByProof = (world: World, conviction: Conviction): TestTransaction =>
  slashing(world, 'active', entry(operator), conviction)
export const removeRetired = (world: World): TestTransaction => slashing(world, 'retired', retired)

/** The registry beside a removal of a block whose operator is no longer in it. */
const emptied = (world: World): TestInput => ({
  id: 200,
  output: registryOf(world, running(world, entry(otherOperator))),
})

export const removeAlreadySlashed = (world: World): TestTransaction => {
  const transaction = removeActive(world)
  return {
    ...transaction,
    inputs: transaction.inputs.filter(({ id }) => id !== 5),
    referenceInputs: [emptied(world), scriptReference(world.queue), scriptReference(verdict, 252)],
    outputs: [transaction.outputs[0]!, wallet(ada(100), [verdictToken(firstHeader)])],
    mintRedeemers: [...minting(world, removal('already-slashed')).mintRedeemers, convicting(firstHeader)],
  }
}

/** Removes by a verdict that was minted earlier: a reference input holds its token. */
export const removeByHeldVerdict = (world: World): TestTransaction => {
  const transaction = removeActive(world)
  return {
    ...transaction,
    referenceInputs: [...references(world), { id: 201, output: wallet(ada(2), [verdictToken(firstHeader)]) }],
    outputs: [...transaction.outputs.slice(0, 2), wallet(ada(500))],
    ...minting(world, removal('active'), blockToken(world, firstHeader, -1n)),
  }
}

const after = (header: Header, byte: number): Header => ({
  ...header,
  prevUtxosRoot: header.utxosRoot,
  utxosRoot: root(byte),
  startTime: header.endTime,
  endTime: header.endTime + 1000n,
  prevHeaderHash: headerHash(header),
})

/** Blocks that stand behind one another, from the second on. */
export const chain = (count: number): Header[] => {
  const headers = [secondHeader]
  while (headers.length < count) headers.push(after(headers.at(-1)!, headers.length % 256))
  return headers
}

export const [, thirdHeader = secondHeader, fourthHeader = secondHeader] = chain(3)

/**
 * Prunes the blocks behind the root up to `next`: the first block was removed. The inputs are in another
 * order than the list: the root is the last of them, the blocks go backwards.
 */
export const pruneBlocks = (world: World, headers: readonly Header[], next?: Header): TestTransaction => {
  const places = [headers.length, ...headers.map((_, place) => headers.length - 1 - place)]
  const inputs = headers.map((header, place) =>
    spend(
      2 + (places[place + 1] ?? 0),
      blockOutput(world, header, headers[place + 1] ?? next),
      places[place + 1],
    ),
  )
  return {
    inputs: [
      { id: 1, output: wallet(ada(100)) },
      ...inputs,
      spend(2 + headers.length, rootOutput(world, genesis, headers[0]), headers.length),
    ],
    referenceInputs: [scriptReference(world.queue)],
    outputs: [rootOutput(world, genesis, next), ...headers.map(refund), wallet(ada(90))],
    ...minting(
      world,
      { kind: 'prune', positions: places },
      ...headers.map((header) => blockToken(world, header, -1n)),
    ),
    signatories: [],
  }
}

/** Prunes all blocks behind the root. */
export const prune = (world: World): TestTransaction => pruneBlocks(world, [secondHeader, thirdHeader])

export const pruneBehindBlock = (world: World): TestTransaction => ({
  ...pruneBlocks(world, [thirdHeader]),
  inputs: [
    { id: 1, output: wallet(ada(100)) },
    spend(2, blockOutput(world, firstHeader, thirdHeader)),
    spend(3, blockOutput(world, thirdHeader, fourthHeader)),
  ],
  outputs: [blockOutput(world, firstHeader, fourthHeader), refund(thirdHeader), wallet(ada(90))],
  ...minting(world, { kind: 'prune', positions: [0, 1] }, blockToken(world, thirdHeader, -1n)),
})

/** A block of an honest operator, with nothing against it: the verdict policy refuses it. */
export const honestHeader: Header = {
  ...firstHeader,
  transactionsRoot: root(5),
  operatorVkey: otherOperator.hash,
  endTime: timeOf(61n),
}

/** The registry when it is as full as it can be; the operator is the one in turn. */
function fullRegistry(from: World) {
  const count = 100
  const serving = Array.from({ length: count }, (_, i) => entry({ hash: new Uint8Array(28).fill(i + 1) }))
  serving[Number((timeOf(50n) / turnLength) % BigInt(count))] = entry(operator)
  const retired = serving.map((_, i) =>
    entry({ hash: new Uint8Array(28).fill(i + 101) }, { activeUntil: timeOf(0n) }),
  )
  return running(from, ...retired, ...serving)
}

export function slashInFullRegistry(from: World): TestTransaction {
  const before = fullRegistry(from)
  const operators = before.operators.filter(({ vkey }) => vkey !== operator.hash)
  const transaction = removeActive(from)
  const slash = { kind: 'slash', operator: operator.hash, approach: 'active' } as const
  const [element, , ...others] = transaction.outputs
  return {
    ...transaction,
    inputs: [...transaction.inputs.filter(({ id }) => id !== 5), spendRegistry(from, 5, before, slash)],
    outputs: [element!, withPenalty(from, { ...before, operators }), ...others],
  }
}

/** A commit beside a registry that is as full as it can be: half of its entries are retired. */
export function commitBesideFullRegistry(from: World): TestTransaction {
  const datum = fullRegistry(from)
  const transaction = commitSecond(from)
  const referenceInputs = transaction.referenceInputs.map((input) =>
    input.id === 200 ? { id: 200, output: registryOf(from, datum) } : input,
  )
  return { ...transaction, referenceInputs }
}

export const burnedBlocks = 100

/** Burns as many blocks as `maxBurnedElements` of `@ratatosk/protocol` allows. */
export function deinitManyBlocks(from: World): TestTransaction {
  const headers = Array.from({ length: burnedBlocks }, (_, i) => ({
    ...firstHeader,
    endTime: firstHeader.endTime + BigInt(i),
  }))
  return deinitBlocks(from, ...headers)
}
