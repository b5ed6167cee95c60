import type { Header } from '@ratatosk/block'
import { describe, expect, it } from 'vitest'
import { encodeRegistryAction } from '../datum/registry.js'
import { encodeRootDatum } from '../datum/state-queue.js'
import { renouncedAdministrator } from '../scripts.js'
import { testedEngines, timeOf } from '../test/evaluate.js'
import { describeProtocol, withNeighbor } from '../test/judge-rules.js'
import {
  chain,
  honestHeader,
  prune,
  pruneBlocks,
  removeActive,
  removeAlreadySlashed,
  removeByHeldVerdict,
  removeRetired,
  thirdHeader,
} from '../test/queue/removals.js'
import {
  blockOutput,
  commitFirst,
  commitSecond,
  deinit,
  deploy,
  firstHeader,
  genesis,
  init,
  merge,
  merged,
  remove,
  secondHeader,
} from '../test/queue/scenarios.js'
import {
  deinit as deinitRegistry,
  entry,
  evict,
  init as initRegistry,
  registerSecond,
  registryOf,
  retire,
  running,
} from '../test/registry/scenarios.js'
import type { TestKey, TestTransaction, Token } from '../test/transaction.js'
import {
  ada,
  administrator,
  byMultisig,
  changeInput,
  changeOutput,
  convicting,
  createWorld,
  deploymentInput,
  multisig,
  multisigInput,
  operator,
  otherOperator,
  scriptReference,
  stranger,
  verdict,
  verdictToken,
  wallet,
} from '../test/world.js'

const published = createWorld()

it('spends in each scenario what the previous scenario paid', () => {
  const [begun, first, second] = [init(published), commitFirst(published), commitSecond(published)]
  const spent = (transaction: TestTransaction, id: number) =>
    transaction.inputs.find((input) => input.id === id)?.output
  expect(spent(first, 2)).toEqual(begun.outputs[1])
  expect(spent(second, 2)).toEqual(first.outputs[1])
  expect(spent(merge(published), 2)).toEqual(first.outputs[0])
  expect(spent(merge(published), 3)).toEqual(second.outputs[0])
})

describeProtocol('commits and merges', ({ open, evaluate, refuses }) => {
  const world = open()
  /** Another rollup with the same code. */
  const neighbor = open({ maturityWindow: 29_000n })

  it('accepts a block that ends with the turn', () => {
    const header: Header = { ...secondHeader, endTime: timeOf(100n) }
    expect(evaluate(commitSecond(world, header))).toMatchObject({ ok: true })
  })

  it('accepts a block of the next operator in the next turn', () => {
    const header: Header = { ...secondHeader, endTime: timeOf(120n), operatorVkey: otherOperator.hash }
    const transaction = { ...commitSecond(world, header), validFrom: 100n }
    expect(evaluate({ ...transaction, signatories: [otherOperator.hash] })).toMatchObject({ ok: true })
    refuses({ ...transaction, signatories: [operator.hash] }, 'commit-signed-by-operator')
  })

  it('accepts more ada than an element held', () => {
    const [root, ...others] = commitFirst(world).outputs
    const outputs = [{ ...root!, lovelace: ada(7) }, ...others]
    expect(evaluate({ ...commitFirst(world), outputs })).toMatchObject({ ok: true })
  })

  it('merges with root and block in either input order', () => {
    const transaction = merge(world)
    const swapped = transaction.inputs.map((input) => ({ ...input, id: 10 - input.id }))
    expect(evaluate({ ...transaction, inputs: swapped })).toMatchObject({ ok: true })
  })

  it('merges the last block into an empty queue', () => {
    const transaction = changeInput(merge(world), 3, { datum: blockOutput(world, firstHeader).datum! })
    const ended = changeOutput(transaction, 0, { datum: encodeRootDatum({ state: merged }) })
    expect(evaluate(ended)).toMatchObject({ ok: true })
  })

  it.each([
    ['validFrom', 'commit-in-turn'],
    ['validTo', 'commit-end-time'],
  ] as const)('refuses a block without %s', (missing, rule) => {
    const { [missing]: _, ...transaction } = commitFirst(world)
    refuses(transaction, rule)
  })

  it('refuses a root beside which the registry is not spent', () => {
    const { inputs, outputs, ...rest } = init(world)
    refuses({ ...rest, inputs: inputs.slice(0, 1), outputs: [outputs[2]!, outputs[1]!] }, undefined)
  })

  it('refuses an unknown action', () => {
    const unknown = Uint8Array.of(0xd8, 121 + 6, 0x80)
    const transaction = commitFirst(world)
    const mintRedeemers = [{ policy: world.queue.policy, redeemer: unknown }]
    refuses({ ...transaction, mintRedeemers }, undefined)
  })

  it('refuses to mint a registry under the redeemer of register', () => {
    const transaction = registerSecond(world)
    const token = transaction.outputs[0]!.tokens![0]!
    refuses(
      {
        ...transaction,
        mint: [token],
        mintRedeemers: [
          {
            policy: world.registry.policy,
            redeemer: encodeRegistryAction({ kind: 'register', operator: operator.hash }),
          },
        ],
      },
      undefined,
    )
  })

  it('refuses one output that serves two rollups', () => {
    refuses(withNeighbor(commitFirst(world), commitFirst(neighbor)), 'commit-continues-address')
    refuses(withNeighbor(commitFirst(neighbor), commitFirst(world)), 'commit-continues-address')
    refuses(withNeighbor(merge(world), merge(neighbor)), 'merge-continues-address')
  })

  it('keeps the operators of the turn in progress and the next when one registers and one retires', () => {
    const [first, second] = [entry(operator), entry(otherOperator)]
    const changed = running(
      world,
      entry(stranger, { activeFrom: timeOf(160n) }),
      { ...first, activeUntil: timeOf(160n) },
      second,
    )
    const by = (committer: TestKey, validFrom: bigint) => {
      const header = { ...secondHeader, endTime: timeOf(validFrom + 20n), operatorVkey: committer.hash }
      const transaction = commitSecond(world, header)
      return evaluate({
        ...transaction,
        validFrom,
        signatories: [committer.hash],
        referenceInputs: transaction.referenceInputs.map((input) =>
          input.id === 200 ? { id: 200, output: registryOf(world, changed) } : input,
        ),
      }).ok
    }
    expect([by(operator, 50n), by(otherOperator, 110n)]).toEqual([true, true])
    expect([by(stranger, 50n), by(stranger, 110n)]).toEqual([false, false])
    // From slot 160 on the newcomer and the other operator share the turns.
    expect([by(stranger, 170n), by(otherOperator, 230n), by(operator, 170n)]).toEqual([true, true, false])
  })
})

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

describe.each(Object.entries(testedEngines))('the verdict policy of tests, run by %s', (_name, evaluate) => {
  const minting = (header: typeof firstHeader, ...mint: Token[]): TestTransaction => ({
    inputs: [{ id: 1, output: wallet(ada(100)) }],
    referenceInputs: [scriptReference(verdict)],
    outputs: [wallet(ada(99), mint)],
    mint,
    mintRedeemers: [convicting(header)],
    signatories: [],
  })

  it('convicts an invalid header, and no other', () => {
    expect(evaluate(minting(firstHeader, verdictToken(firstHeader)))).toMatchObject({ ok: true })
    expect(evaluate(minting(honestHeader, verdictToken(honestHeader)))).toMatchObject({ ok: false })
    expect(evaluate(minting(firstHeader, verdictToken(honestHeader)))).toMatchObject({ ok: false })
    const both = [verdictToken(firstHeader), verdictToken(secondHeader)]
    expect(evaluate(minting(firstHeader, ...both))).toMatchObject({ ok: false })
  })
})

describeProtocol('the administrator', ({ open, evaluate, refuses }) => {
  describe('with an open registry', () => {
    const unpermissioned = open({ permissioned: false })

    it('registers an operator without the administrator', () => {
      expect(
        evaluate({ ...registerSecond(unpermissioned), signatories: [otherOperator.hash] }),
      ).toMatchObject({
        ok: true,
      })
    })

    it('refuses to retire an operator against their will', () => {
      expect(evaluate(retire(unpermissioned))).toMatchObject({ ok: true })
      refuses(evict(unpermissioned), 'retire-by-operator-or-administrator')
    })
  })

  describe('with a renounced administrator', () => {
    const free = open({ administrator: renouncedAdministrator, permissioned: false })

    it('starts registry and queue in one transaction, which only the deployment output authorises', () => {
      expect(evaluate(deploy(free))).toMatchObject({ ok: true })
      const { inputs, ...rest } = deploy(free)
      refuses(
        { ...rest, inputs: inputs.filter(({ id }) => id !== deploymentInput) },
        'registry-init-spends-deployment-output',
      )
      refuses(deploy(open({ permissioned: false })), 'registry-init-by-administrator')
    })

    it('starts no second queue beside the first, and none later', () => {
      const again = { ...init(free), signatories: [renouncedAdministrator.hash] }
      refuses(again, 'set-queue-by-administrator')
      const { inputs, ...rest } = deploy(free)
      const spent = changeInput(init(free), 2, registryOf(free, running(free))).inputs[1]!
      refuses({ ...rest, inputs: [...inputs, spent] }, 'set-queue-by-administrator')
    })

    it.each([
      ['the start of a registry', 'registry-init-starts-queue', initRegistry],
      ['the start of a queue', 'set-queue-by-administrator', init],
      ['the end of the queue', 'set-queue-by-administrator', deinit],
      ['a removal without a verdict', 'remove-by-administrator', remove],
      ['the end of the registry', 'registry-deinit-by-administrator', deinitRegistry],
      ['the eviction of an operator', 'retire-by-operator-or-administrator', evict],
    ] as const)('refuses %s with any signature', (_what, rule, scenario) => {
      const signatories = [administrator.hash, renouncedAdministrator.hash]
      refuses({ ...scenario(free), signatories }, rule)
    })

    it('registers and retires operators; commits, merges, removes and prunes blocks', () => {
      const registered = { ...registerSecond(free), signatories: [otherOperator.hash] }
      expect(evaluate(registered)).toMatchObject({ ok: true })
      for (const scenario of [retire, commitFirst, merge, removeActive, removeAlreadySlashed, prune])
        expect(evaluate(scenario(free))).toMatchObject({ ok: true })
    })
  })

  describe('with a native script as administrator', () => {
    const shared = open({ administrator: { kind: 'script', hash: multisig.hash } })

    it.each(Object.entries({ init, deinit, remove, initRegistry, deinitRegistry, registerSecond, evict }))(
      'accepts %s that spends an output of the script',
      (_name, scenario) => {
        expect(evaluate(byMultisig(scenario(shared)))).toMatchObject({ ok: true })
      },
    )

    it('refuses the signature of a key in its place', () => {
      refuses(deinit(shared), 'set-queue-by-administrator')
      const signed = { ...deinit(shared), signatories: [multisig.hash] }
      refuses(signed, 'set-queue-by-administrator')
    })

    it('refuses an output of the script that is only referred to', () => {
      const { inputs, ...rest } = byMultisig(deinit(shared))
      const reference = inputs.find(({ id }) => id === multisigInput)!
      refuses(
        {
          ...rest,
          inputs: inputs.filter((input) => input !== reference),
          referenceInputs: [...rest.referenceInputs, reference],
        },
        'set-queue-by-administrator',
      )
    })
  })
})
