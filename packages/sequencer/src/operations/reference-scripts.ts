import type { Wallet } from '@ratatosk/layer1'
import type { Utxo } from '@ratatosk/ledger'
import {
  administratorAddress,
  publishScripts,
  referenceScriptsOf,
  scriptsToPublish,
} from '@ratatosk/protocol'
import type { SequencerContext } from '../context.js'
import { submitAndConfirm } from './submit-and-confirm.js'

/** The outputs at the administrator's address that hold the protocol's scripts, for transactions to refer to. */
export async function readReferenceScripts(context: SequencerContext): Promise<readonly Utxo[]> {
  const { layer1, contracts, memory, signal } = context
  memory.referenceScripts ??= referenceScriptsOf(
    contracts,
    await layer1.utxosAt(administratorAddress(contracts), { signal }),
  )
  return memory.referenceScripts
}

/**
 * Publishes the scripts that no output holds yet, the verdict policies included, in as many transactions as they need.
 *
 * @param wallet pays
 * @param spared outputs of the wallet that do not pay
 * @throws {Layer1Error} as `submitAndConfirm`
 */
export async function publishMissingScripts(
  context: SequencerContext,
  wallet: Wallet,
  spared: readonly Utxo[] = [],
): Promise<void> {
  const { contracts, memory, log } = context
  const missing = async () => {
    memory.referenceScripts = undefined
    return scriptsToPublish(contracts, await readReferenceScripts(context))
  }
  for (const scripts of await missing()) {
    const isPublished = async () => !(await missing()).flat().some((script) => scripts.includes(script))
    const draft = publishScripts(contracts, scripts)
    const id = await submitAndConfirm(context, wallet, draft, isPublished, spared)
    context.step('scripts-published')
    log.info({ transactionId: id, scripts: scripts.length }, 'Published reference scripts')
  }
  memory.referenceScripts = undefined
}
