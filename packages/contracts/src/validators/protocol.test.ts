import { describe, expect, it } from 'vitest'
import { type Header, headerHash } from '../datum/header.js'
import { encodeRegistryAction } from '../datum/registry.js'
import { encodeRootDatum } from '../datum/state-queue.js'
import { engines, timeOf } from '../test/evaluate.js'
import {
  blockOutput,
  blockToken,
  commitFirst,
  commitSecond,
  deinit,
  firstHeader,
  genesis,
  init,
  merge,
  merged,
  minting,
  rootOutput,
  rootToken,
  secondHeader,
  spend,
} from '../test/queue/scenarios.js'
import { both, change, one } from '../test/registry/scenarios.js'
import type { TestTransaction } from '../test/transaction.js'
import {
  ada,
  changeInput,
  changeOutput,
  createWorld,
  operator,
  otherOperator,
  type World,
  wallet,
} from '../test/world.js'

const world = createWorld()
/** Another rollup's, by the same code. */
const neighbor = createWorld({ maturityWindow: 29_000n })

/** The same transaction with a neighbor's actions beside its own: its outputs have to serve both. */
const withNeighbor = (transaction: TestTransaction, other: TestTransaction): TestTransaction => ({
  ...transaction,
  inputs: [
    ...transaction.inputs,
    ...other.inputs.filter(({ redeemer }) => redeemer).map((input) => ({ ...input, id: input.id + 20 })),
  ],
  outputs: [...transaction.outputs, ...other.outputs],
  mint: [...transaction.mint, ...other.mint],
  mintRedeemers: [...transaction.mintRedeemers, ...other.mintRedeemers],
  referenceInputs: [
    ...transaction.referenceInputs,
    ...other.referenceInputs.map((input) => ({ ...input, id: input.id + 1 - 100 })),
  ],
})

const removal = (from: World): TestTransaction => ({
  ...deinit(from),
  ...minting(
    from,
    { kind: 'remove', headerHash: headerHash(firstHeader), approach: 'active' },
    blockToken(from, firstHeader, -1n),
  ),
  inputs: [
    { id: 1, output: wallet(ada(100)) },
    spend(2, rootOutput(from, genesis, firstHeader)),
    spend(3, blockOutput(from, firstHeader)),
  ],
  outputs: [rootOutput(from, genesis), wallet(ada(104))],
})

it('spends in each action what the actions before have paid', () => {
  const [begun, first, second] = [init(world), commitFirst(world), commitSecond(world)]
  const spent = (transaction: TestTransaction, id: number) =>
    transaction.inputs.find((input) => input.id === id)?.output
  expect(spent(first, 2)).toEqual(begun.outputs[0])
  expect(spent(second, 2)).toEqual(first.outputs[1])
  expect(spent(merge(world), 2)).toEqual(first.outputs[0])
  expect(spent(merge(world), 3)).toEqual(second.outputs[0])
})

describe.each(Object.entries(engines))('the protocol, judged by %s', (_name, evaluate) => {
  it('takes a block that ends with the turn', () => {
    const header: Header = { ...secondHeader, endTime: timeOf(100n) }
    expect(evaluate(commitSecond(world, header))).toMatchObject({ ok: true })
  })

  it('takes a block of the next operator in the next turn', () => {
    const header: Header = { ...secondHeader, endTime: timeOf(120n), operatorVkey: otherOperator.hash }
    const transaction = { ...commitSecond(world, header), validFrom: 100n }
    expect(evaluate({ ...transaction, signatories: [otherOperator.hash] })).toMatchObject({ ok: true })
    expect(evaluate({ ...transaction, signatories: [operator.hash] })).toMatchObject({ ok: false })
  })

  it('takes more ada than an element held', () => {
    const [root, ...others] = commitFirst(world).outputs
    const outputs = [{ ...root!, lovelace: ada(7) }, ...others]
    expect(evaluate({ ...commitFirst(world), outputs })).toMatchObject({ ok: true })
  })

  it('merges whichever of the two inputs comes first', () => {
    const transaction = merge(world)
    const swapped = transaction.inputs.map((input) => ({ ...input, id: 10 - input.id }))
    expect(evaluate({ ...transaction, inputs: swapped })).toMatchObject({ ok: true })
  })

  it('merges the last block into an empty queue', () => {
    const transaction = changeInput(merge(world), 3, { datum: blockOutput(world, firstHeader).datum! })
    const ended = changeOutput(transaction, 0, { datum: encodeRootDatum({ state: merged }) })
    expect(evaluate(ended)).toMatchObject({ ok: true })
  })

  it('burns duplicate roots at once', () => {
    const transaction = deinit(world)
    const roots = [2, 3, 4].map((id) => spend(id, rootOutput(world, genesis)))
    const repair = {
      ...transaction,
      inputs: [transaction.inputs[0]!, ...roots],
      mint: [rootToken(world, -3n)],
    }
    expect(evaluate(repair)).toMatchObject({ ok: true })
  })

  it.each(['validFrom', 'validTo'] as const)('refuses a block without %s', (missing) => {
    const { [missing]: _, ...transaction } = commitFirst(world)
    expect(evaluate(transaction)).toMatchObject({ ok: false })
  })

  it('refuses removal, whose place is kept', () => {
    expect(evaluate(removal(world))).toMatchObject({ ok: false })
  })

  it('refuses slashing, whose place is kept', () => {
    const slash = { kind: 'slash', operator: operator.hash, approach: 'active' } as const
    expect(evaluate(change(world, slash, both, one))).toMatchObject({ ok: false })
  })

  it('refuses actions that are not among its own', () => {
    const unknown = Uint8Array.of(0xd8, 121 + 6, 0x80)
    const transaction = commitFirst(world)
    const mintRedeemers = [{ policy: world.queue.policy, redeemer: unknown }]
    expect(evaluate({ ...transaction, mintRedeemers })).toMatchObject({ ok: false })
  })

  it('refuses to mint registries by the redeemers of operators', () => {
    const transaction = change(world, { kind: 'register', operator: operator.hash }, one, both)
    const token = transaction.outputs[0]!.tokens![0]!
    expect(
      evaluate({
        ...transaction,
        mint: [token],
        mintRedeemers: [
          {
            policy: world.registry.policy,
            redeemer: encodeRegistryAction({ kind: 'register', operator: operator.hash }),
          },
        ],
      }),
    ).toMatchObject({ ok: false })
  })

  it('lets no output serve two rollups', () => {
    expect(evaluate(withNeighbor(commitFirst(world), commitFirst(neighbor)))).toMatchObject({ ok: false })
    expect(evaluate(withNeighbor(commitFirst(neighbor), commitFirst(world)))).toMatchObject({ ok: false })
    expect(evaluate(withNeighbor(merge(world), merge(neighbor)))).toMatchObject({ ok: false })
  })
})
