import { setTimeout as pause } from 'node:timers/promises'
import type { BlockVerdict } from '@ratatosk/client'
import { ada } from '../../frame/ada.js'
import { CommandError } from '../../frame/errors.js'
import type { Story } from '../story.js'
import type { DemoNetwork } from './network.js'
import type { Stake } from './operators.js'

/** Generous, because a loaded machine is slow. */
const timeoutMs = 120_000
const pollMs = 100

interface Removal {
  readonly verdict: BlockVerdict
  /** The gain of the watcher's wallet, in lovelace. */
  readonly gain: bigint
}

/** Shows the proof, the removal and the slashing. @throws CommandError if they fail or take too long */
export async function showRemoval(
  { honest, watcher, lovelaceOn1 }: DemoNetwork,
  { cheatKey, bond, watcherHas }: Stake,
  headerHash: string,
  { say, step }: Story,
): Promise<Removal> {
  step('The watcher gets the body of the block from the operator, and judges it')
  const found = await verdictThat('the watcher finds the fraud', () => true)
  say('GET /verdicts: the block is invalid')
  say(found.reason)

  step('The proof')
  const verdict = await verdictThat('the block is removed', ({ state }) => state === 'removed')
  const { policy, fraud, transactions } = verdict
  say(`It shows the fraud \`${fraud}\` to a script of layer 1, the ${policy} policy. No one is trusted.`)
  const fees = transactions.reduce((sum, { fee }) => sum + BigInt(fee), 0n)
  for (const { stage, txHash, fee } of transactions) say(`${stage} ${txHash}, for a fee of ${ada(fee)}`)

  step('The slash')
  const { operators } = await honest.client.listOperators()
  if (operators.some(({ operatorKey }) => operatorKey === cheatKey))
    throw new CommandError('CLI_DEMO', 'The operator is not slashed.')
  say('GET /operators: the same transaction has removed the block and its operator.')
  const gain = lovelaceOn1(watcher.node.watcherAddress ?? '') - watcherHas
  if (gain < bond - fees) throw new CommandError('CLI_DEMO', 'The watcher does not have the bond.')
  say(`The watcher has ${ada(gain)} more: the bond of ${ada(bond)} and the ada of the block, less the fee.`)
  return { verdict, gain }

  async function verdictThat(what: string, isSo: (verdict: BlockVerdict) => boolean): Promise<BlockVerdict> {
    for (const end = performance.now() + timeoutMs; performance.now() < end; ) {
      const { verdicts } = await watcher.client.listVerdicts()
      const verdict = verdicts.find((each) => each.headerHash === headerHash)
      if (verdict !== undefined && isSo(verdict)) return verdict
      if (verdict?.state === 'unprovable')
        throw new CommandError('CLI_DEMO', `The watcher proves nothing: ${verdict.reason}`)
      await pause(pollMs)
    }
    throw new CommandError('CLI_DEMO', `The demo waited ${timeoutMs / 1000} s until ${what}.`)
  }
}
