import { ada } from '../../frame/ada.js'
import { CommandError } from '../../frame/errors.js'
import type { Story } from '../story.js'
import type { DemoNetwork } from './network.js'

export interface Stake {
  /** Key hash of the operator that cheats. */
  readonly cheatKey: string
  /** Its bond, in lovelace. */
  readonly bond: bigint
  /** The lovelace of the watcher's wallet on layer 1. */
  readonly watcherHas: bigint
}

/** Initialises the rollup with the cheat as its operator, and registers the honest operator. */
export async function admitOperators(
  { cheat, honest, watcher, lovelaceOn1 }: DemoNetwork,
  { say, step }: Story,
): Promise<Stake> {
  step('Three nodes on one devnet, each with a ledger of its own')
  await cheat.client.init()
  const [first] = (await honest.client.listOperators()).operators
  if (first === undefined) throw new CommandError('CLI_DEMO', 'No operator is registered.')
  say(`an operator     ${cheat.node.url}, with a bond of ${ada(first.bond)} on layer 1`)
  await honest.client.init()
  const { operators } = await honest.client.listOperators()
  const second = operators.find(({ operatorKey }) => operatorKey !== first.operatorKey)
  if (second === undefined) throw new CommandError('CLI_DEMO', 'The second operator is not registered.')
  const from = new Date(second.activeFrom).toLocaleTimeString()
  say(`an honest one   ${honest.node.url}, with the same bond; its turns begin at ${from}`)
  const watcherHas = lovelaceOn1(watcher.node.watcherAddress ?? '')
  say(`a watcher       ${watcher.node.url}, with ${ada(watcherHas)} for fees`)
  return { cheatKey: first.operatorKey, bond: BigInt(first.bond), watcherHas }
}
