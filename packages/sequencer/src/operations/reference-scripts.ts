import type { Wallet } from '@ratatosk/layer1'
import type { Utxo } from '@ratatosk/ledger'
import {
  administratorAddress,
  publishScripts,
  referenceScriptsOf,
  scriptsToPublish,
} from '@ratatosk/protocol'
import type { SequencerContext } from '../context.js'
import { sendChain } from './send-chain.js'

/**
 * The outputs at the administrator's address that hold the protocol's scripts, for transactions to refer to.
 */
export async function readReferenceScripts(context: SequencerContext): Promise<readonly Utxo[]> {
  const { layer1, contracts, memory, signal } = context
  memory.referenceScripts ??= referenceScriptsOf(
    contracts,
    await layer1.utxosAt(administratorAddress(contracts), { signal }),
  )
  return memory.referenceScripts
}

/**
 * Publishes the scripts that no output holds yet, the verdict policies included, in a chain of as many
 * transactions as they need.
 *
 * @param wallet pays
 * @param spared outputs of the wallet that do not pay
 * @throws {Layer1Error} as `sendChain`
 */
export async function publishMissingScripts(
  context: SequencerContext,
  wallet: Wallet,
  spared: readonly Utxo[] = [],
): Promise<void> {
  const { contracts, memory, log } = context
  memory.referenceScripts = undefined
  const groups = scriptsToPublish(contracts, await readReferenceScripts(context))
  const published = await sendChain(context, wallet, ({ length }) => {
    const scripts = groups[length]
    return scripts && { spends: [], draft: publishScripts(contracts, scripts), spared }
  })
  for (const [place, { id }] of published.entries()) {
    context.step('scripts-published')
    log.info({ transactionId: id, scripts: groups[place]?.length }, 'Published reference scripts')
  }
  memory.referenceScripts = undefined
}
