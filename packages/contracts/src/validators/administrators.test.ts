import { describe, expect, it } from 'vitest'
import { renouncedAdministrator } from '../script/scripts.js'
import { byMultisig, multisig, multisigInput } from '../test/multisig.js'
import { describeProtocol } from '../test/protocol.js'
import { prune, removeActive, removeAlreadySlashed } from '../test/queue/removals.js'
import { commitFirst, deinit, deploy, init, merge, remove } from '../test/queue/scenarios.js'
import {
  deinit as deinitRegistry,
  evict,
  init as initRegistry,
  registerSecond,
  registryOf,
  retire,
  running,
} from '../test/registry/scenarios.js'
import { administrator, changeInput, deploymentInput, otherOperator } from '../test/world.js'

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
