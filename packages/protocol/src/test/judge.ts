import { toHex } from '@ratatosk/cbor'
import { openWallet } from '@ratatosk/layer1'
import { outputReferenceKey, type TransactionOutput } from '@ratatosk/ledger'
import { isWalletError, type TransactionDraft, type WalletKeys } from '@ratatosk/ledger/builder'
import type { EvaluationResult } from '@ratatosk/ledger/plutus'
import { evaluator, type Scene } from './protocol-scene.js'
import { verdictPolicy } from './verdict-policy.js'

/** Finds the script that refuses a draft: `queue`, `registry`, `bridge`, … ; undefined if valid. */
export function openJudge({ contracts: { scripts, bridge }, layer1 }: Scene, keys: WalletKeys) {
  const names = new Map([
    [scripts.queue.policy, 'queue'],
    [scripts.registry.policy, 'registry'],
    [toHex(verdictPolicy.hash), 'verdict'],
    ...(bridge
      ? ([
          [bridge.place.policy, 'bridge'],
          [bridge.events.policy, 'events'],
        ] as const)
      : []),
  ])
  let refuser: string | undefined
  const evaluate: typeof evaluator.evaluate = async (transaction, utxos, parameters, slots) => {
    const result = await evaluator.evaluate(transaction, utxos, parameters, slots)
    const { inputs, mint } = transaction.body
    const spent = inputs.map((input) => scriptOf(utxos.get(outputReferenceKey(input))))
    refuser = names.get(failedOf(result, spent, [...mint.keys()].sort()) ?? '')
    return result
  }
  const wallet = openWallet({ layer1, keys, evaluator: { evaluate } })
  return async (draft: TransactionDraft): Promise<string | undefined> => {
    try {
      wallet.release((await wallet.build(draft)).id)
      return undefined
    } catch (error) {
      const byScript = isWalletError(error) && error.failures?.[0]?.predicate === 'ScriptFailure'
      if (!byScript || refuser === undefined) throw error
      return refuser
    }
  }
}

function scriptOf(output: TransactionOutput | undefined): string {
  return output && 'payment' in output.address ? toHex(output.address.payment.hash) : ''
}

function failedOf({ redeemers }: EvaluationResult, spent: readonly string[], policies: readonly string[]) {
  const failed = redeemers.find(({ outcome }) => outcome.kind === 'ScriptFailure')
  return failed && (failed.purpose === 'mint' ? policies : spent)[failed.index]
}
