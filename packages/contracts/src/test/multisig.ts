import { CborWriter } from '@ratatosk/cbor'
import { scriptHash } from '@ratatosk/ledger'
import type { TestTransaction } from './transaction.js'
import { ada, administrator, operator, otherOperator } from './world.js'

/** A native script that asks for two of three signatures. */
export const multisig = (() => {
  const writer = new CborWriter().array(3).uint(3).uint(2).array(3)
  for (const { hash } of [administrator, operator, otherOperator]) writer.array(2).uint(0).bytes(hash)
  const bytes = writer.toBytes()
  return { bytes, hash: scriptHash('native', bytes) }
})()

/** The input that shows the authority of the script; it sorts behind all others. */
export const multisigInput = 60

/** The same transaction, authorised by the native script instead of the administrator's key. */
export const byMultisig = (transaction: TestTransaction): TestTransaction => ({
  ...transaction,
  inputs: [
    ...transaction.inputs,
    {
      id: multisigInput,
      output: { address: Uint8Array.of(0x70, ...multisig.hash), lovelace: ada(5) },
    },
  ],
  signatories: transaction.signatories.filter((hash) => hash !== administrator.hash),
  nativeScripts: [multisig.bytes],
})
