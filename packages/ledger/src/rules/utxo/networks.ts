import { toHex } from '@ratatosk/cbor'
import type { Transaction, TransactionOutput } from '../../transaction/types.js'
import type { RuleContext } from '../context.js'
import type { Findings } from '../failures.js'

/** UTXO: WrongNetwork, WrongNetworkWithdrawal, WrongNetworkInTxBody. */
export function validateNetworks(
  { body }: Transaction,
  outputs: readonly TransactionOutput[],
  { networkId }: RuleContext,
  findings: Findings,
): void {
  const strangers = outputs.filter(({ address }) => address.networkId !== networkId)
  if (strangers.length > 0) {
    findings.add('WrongNetwork', 'An output pays to an address of another network', {
      networkId,
      addresses: strangers.map(({ address }) => toHex(address.bytes)),
    })
  }
  const accounts = body.withdrawals.filter(({ account }) => account.networkId !== networkId)
  if (accounts.length > 0) {
    findings.add('WrongNetworkWithdrawal', 'A withdrawal is from an account of another network', {
      networkId,
      accounts: accounts.map(({ account }) => toHex(account.bytes)),
    })
  }
  if (body.networkId !== undefined && body.networkId !== networkId) {
    findings.add(
      'WrongNetworkInTxBody',
      `The transaction is for network ${body.networkId}, but this is network ${networkId}`,
      {
        networkId,
        transactionNetworkId: body.networkId,
      },
    )
  }
}
