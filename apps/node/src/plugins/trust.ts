import { isRenounced, verdictPolicies } from '@ratatosk/contracts'
import type { TrustAnswer } from '@ratatosk/explorer'
import { takeOverAfterOf } from '@ratatosk/protocol'
import type { Node } from '../node.js'

/** The trust assumptions of this deployment. Without layer 1, contracts are unknown: no answer. */
export function trustAnswers({ settlement, settings, duties }: Node): readonly TrustAnswer[] {
  if (settlement === undefined) return []
  const { parameters } = settlement.contracts
  const fact = (name: string, value: unknown) => ({ name, value: String(value) })
  const renounced = isRenounced(parameters.administrator)
  const maturity = fact('maturity window (ms)', parameters.maturityWindow)
  const administrator = fact('administrator', renounced ? 'renounced' : 'holds a key or script')
  const provable = `${parameters.verdictPolicies?.length ?? 0} of ${Object.keys(verdictPolicies).length}`
  return [
    {
      risk: 'state-validation',
      answer:
        'A block stands unless a fraud is proven within the maturity window. Only frauds that a ' +
        'verdict policy knows can be proven; against others there is only the administrator, if there ' +
        'is one.',
      facts: [fact('verdict policies', provable), maturity, administrator],
    },
    {
      risk: 'data-availability',
      answer:
        'Layer 1 holds headers only. Nodes and archivists serve the bodies; nothing on layer 1 ' +
        'forces them to, unless the deployment has a summons: an operator who does not answer a question ' +
        'about its block loses it.',
      facts: [
        fact('serves bodies', duties.bodies),
        fact('time for an answer (ms)', parameters.summons?.period ?? 'no summons'),
      ],
    },
    {
      risk: 'exit',
      answer: 'There is no withdrawal to layer 1 yet: headers commit to no withdrawals.',
      facts: [fact('withdrawals', 'none')],
    },
    {
      risk: 'sequencer-failure',
      answer:
        'Without a sequencer no block is committed. Another operator of the registry may commit in its ' +
        'turn, and takes over earlier if nothing is committed for a while; users cannot force a ' +
        'transaction into a block.',
      facts: [
        fact('operator turn (ms)', parameters.turnLength),
        fact('take-over after (ms)', takeOverAfterOf(parameters)),
        fact('lease (ms)', settings.SEQUENCER_LEASE_MS),
        fact('most operators', parameters.maxOperators),
      ],
    },
    {
      risk: 'proposer-failure',
      answer:
        'An operator that commits a provable fraud loses its block, and its bond to the prover but for the ' +
        'penalty, which stays in the registry. One that proves its own fraud first loses the penalty only.',
      facts: [
        fact('bond (lovelace)', parameters.bond),
        fact('penalty (lovelace)', parameters.slashPenalty ?? 0n),
        fact('permissioned', parameters.permissioned),
        administrator,
      ],
    },
  ]
}
