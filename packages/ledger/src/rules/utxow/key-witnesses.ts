import { toHex } from '@ratatosk/cbor'
import { blake2b224 } from '#crypto'
import { bootstrapRoot } from '../../address/byron-attributes.js'
import type { Address, Credential } from '../../address/types.js'
import type { Transaction } from '../../transaction/types.js'
import type { Findings } from '../failures.js'
import type { Resolution, ResolvedInput } from '../resolution.js'

/** The hashes of the keys that have signed, in hex. Bootstrap witnesses do not count for native scripts. */
export function signatories({ witnesses }: Transaction): Set<string> {
  const hashes = new Set<string>()
  for (const { publicKey } of witnesses.keyWitnesses) hashes.add(toHex(blake2b224(publicKey)))
  return hashes
}

/**
 * UTXOW: MissingVKeyWitnessesUTXOW. Signatures are required for spent and collateral inputs (a Byron address
 * needs a bootstrap witness with its root), withdrawals, certificates, pool owners, required signers and
 * voters.
 */
export function validateKeyWitnesses(
  transaction: Transaction,
  signed: ReadonlySet<string>,
  { inputs, collateral }: Resolution,
  findings: Findings,
): void {
  const { body, witnesses } = transaction
  const missing = new Set<string>()
  let roots: Set<string> | undefined
  const needAddress = (address: Address): void => {
    if (address.kind === 'byron') {
      roots ??= new Set(witnesses.bootstrapWitnesses.map((witness) => toHex(bootstrapRoot(witness))))
      const root = toHex(address.root)
      if (!roots.has(root)) needHash(root)
    } else if (address.kind !== 'reward') needCredential(address.payment)
  }
  const needCredential = (credential: Credential): void => {
    if (credential.kind === 'key') needHash(toHex(credential.hash))
  }
  const needHash = (hash: string): void => {
    if (!signed.has(hash)) missing.add(hash)
  }
  const needInput = ({ output }: ResolvedInput): void => {
    if (output) needAddress(output.address)
  }

  inputs.forEach(needInput)
  collateral.forEach(needInput)
  for (const { account } of body.withdrawals) if (account.kind === 'reward') needCredential(account.stake)
  for (const { witness, owners } of body.certificates) {
    if (witness) needCredential(witness)
    for (const owner of owners ?? []) needHash(toHex(owner))
  }
  for (const hash of body.requiredSigners) needHash(toHex(hash))
  for (const { voter } of body.votingProcedures) needCredential(voter.credential)

  if (missing.size === 0) return
  findings.add('MissingVKeyWitnessesUTXOW', `${missing.size} of the keys that are needed have not signed`, {
    keyHashes: [...missing],
  })
}
