import { expect, it } from 'vitest'
import { encodeRegistryAction } from '../datum/registry.js'
import { encodeRootDatum } from '../datum/state-queue.js'
import { describeProtocol, withNeighbor } from '../test/protocol.js'
import {
  chain,
  pruneBlocks,
  removeActive,
  removeAlreadySlashed,
  removeByHeldVerdict,
  removeRetired,
  thirdHeader,
} from '../test/queue/removals.js'
import { blockOutput, firstHeader, genesis, remove, secondHeader } from '../test/queue/scenarios.js'
import { verdict, verdictToken } from '../test/verdict.js'
import {
  ada,
  changeInput,
  changeOutput,
  operator,
  otherOperator,
  scriptReference,
  stranger,
  wallet,
} from '../test/world.js'

describeProtocol('removals', ({ open, evaluate, refuses }) => {
  const world = open()
  /** Another rollup with the same code. */
  const neighbor = open({ maturityWindow: 29_000n })

  it('removes by a verdict with predecessor and block in either input order', () => {
    const transaction = removeActive(world)
    const swapped = transaction.inputs.map((input) => ({ ...input, id: 10 - input.id }))
    expect(evaluate({ ...transaction, inputs: swapped })).toMatchObject({ ok: true })
  })

  it('removes a block that was committed again, by the verdict of the first time', () => {
    const { inputs, outputs, ...transaction } = removeAlreadySlashed(world)
    const references = transaction.referenceInputs.filter(({ id }) => id !== 252)
    expect(
      evaluate({
        ...transaction,
        inputs,
        outputs,
        referenceInputs: [...references, { id: 201, output: wallet(ada(2), [verdictToken(firstHeader)]) }],
        mint: transaction.mint.slice(0, 1),
        mintRedeemers: transaction.mintRedeemers.slice(0, 1),
      }),
    ).toMatchObject({ ok: true })
  })

  it('removes the last block by a verdict, and leaves no link', () => {
    const transaction = changeInput(removeActive(world), 3, {
      datum: blockOutput(world, firstHeader).datum!,
    })
    const ended = changeOutput(transaction, 0, { datum: encodeRootDatum({ state: genesis }) })
    expect(evaluate(ended)).toMatchObject({ ok: true })
  })

  it('refuses every removal by a verdict where the list of policies is empty', () => {
    const unjudged = open({ verdictPolicies: [] })
    for (const scenario of [removeActive, removeRetired, removeAlreadySlashed, removeByHeldVerdict])
      refuses(scenario(unjudged), 'remove-by-verdict')
    expect(evaluate(remove(unjudged))).toMatchObject({ ok: true })
  })

  it('refuses a removal whose registry has another redeemer than the queue expects', () => {
    for (const [rule, action] of [
      ['release-not-early', { kind: 'release', operator: operator.hash }],
      ['retire-soon', { kind: 'retire', operator: operator.hash }],
      ['slash-by-removal', { kind: 'slash', operator: operator.hash, approach: 'retired' }],
      ['slash-continues-datum', { kind: 'slash', operator: otherOperator.hash, approach: 'active' }],
    ] as const) {
      const transaction = removeActive(world)
      const inputs = transaction.inputs.map((input) =>
        input.id === 5 ? { ...input, redeemer: encodeRegistryAction(action) } : input,
      )
      const signatories = [operator.hash, otherOperator.hash]
      refuses({ ...transaction, inputs, signatories }, rule)
    }
  })

  it("refuses to slash an operator by a removal in another rollup's queue", () => {
    const theirs = removeActive(neighbor)
    const own = removeActive(world)
    // The neighbor's operator is spared, and the same operator's bond with this registry is taken instead.
    refuses(
      {
        ...theirs,
        inputs: [...theirs.inputs.filter(({ id }) => id !== 5), ...own.inputs.filter(({ id }) => id === 5)],
        referenceInputs: [...theirs.referenceInputs, scriptReference(world.registry, 240)],
        outputs: [theirs.outputs[0]!, own.outputs[1]!, ...own.outputs.slice(2)],
      },
      'slash-by-removal',
    )
    // Both registries are spent under one removal.
    refuses(
      {
        ...theirs,
        inputs: [
          ...theirs.inputs,
          ...own.inputs.filter(({ id }) => id === 5).map((input) => ({ ...input, id: 6 })),
        ],
        referenceInputs: [...theirs.referenceInputs, scriptReference(world.registry, 240)],
        outputs: [...theirs.outputs.slice(0, 2), own.outputs[1]!, ...own.outputs.slice(2)],
      },
      'slash-by-removal',
    )
  })

  it('refuses one verdict, or two, for removals in two rollups at once', () => {
    for (const [first, second] of [
      [world, neighbor],
      [neighbor, world],
    ] as const) {
      const both = withNeighbor(removeActive(first), removeActive(second))
      const verdicts = both.mintRedeemers.slice(-1)
      const mint = both.mint.filter(
        ({ policy }, place, all) => all.findIndex((other) => other.policy === policy) === place,
      )
      const mintRedeemers = [
        ...both.mintRedeemers.filter(({ policy }) => policy !== verdict.hash),
        ...verdicts,
      ]
      refuses({ ...both, mint, mintRedeemers }, 'slash-continues-datum')
    }
  })

  it('prunes blocks behind a block that was removed, of any operator', () => {
    const theirs = { ...secondHeader, operatorVkey: stranger.hash }
    expect(evaluate(pruneBlocks(world, [theirs], thirdHeader))).toMatchObject({ ok: true })
  })

  it('prunes fifty blocks at once', () => {
    expect(evaluate(pruneBlocks(world, chain(50)))).toMatchObject({ ok: true })
  })

  it('removes with predecessor and block in either input order', () => {
    const transaction = remove(world)
    const swapped = transaction.inputs.map((input) => ({ ...input, id: 10 - input.id }))
    expect(evaluate({ ...transaction, inputs: swapped })).toMatchObject({ ok: true })
  })
})
