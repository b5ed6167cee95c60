import { BytesSet, toHex } from '@ratatosk/cbor'
import { blake2b224 } from '#crypto'
import { bootstrapRoot } from '../../address/byron-attributes.js'
import type { Address, Credential } from '../../address/types.js'
import type { Transaction } from '../../transaction/types.js'
import type { Findings } from '../failures.js'
import type { Resolution, ResolvedInput } from '../resolution.js'

/** The hashes of the keys that have signed. Bootstrap witnesses do not count for native scripts. */
export function signatories({ witnesses }: Transaction): BytesSet {
  return new BytesSet(witnesses.keyWitnesses.map(({ publicKey }) => blake2b224(publicKey)))
}

/**
 * UTXOW: MissingVKeyWitnessesUTXOW. Signatures are required for spent and collateral inputs (a Byron address
 * needs a bootstrap witness with its root), withdrawals, certificates, pool owners, required signers, voters.
 */
export function validateKeyWitnesses(
  transaction: Transaction,
  signed: BytesSet,
  { inputs, collateral }: Resolution,
  findings: Findings,
): void {
  const { body, witnesses } = transaction
  const missing = new BytesSet()
  let roots: BytesSet | undefined
  const needAddress = (address: Address): void => {
    if (address.kind === 'byron') {
      roots ??= new BytesSet(witnesses.bootstrapWitnesses.map(bootstrapRoot))
      if (!roots.has(address.root)) needHash(address.root)
    } else if (address.kind !== 'reward') needCredential(address.payment)
  }
  const needCredential = (credential: Credential): void => {
    if (credential.kind === 'key') needHash(credential.hash)
  }
  const needHash = (hash: Uint8Array): void => {
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
    owners?.forEach(needHash)
  }
  body.requiredSigners.forEach(needHash)
  for (const { voter } of body.votingProcedures) needCredential(voter.credential)

  if (missing.size === 0) return
  findings.add('MissingVKeyWitnessesUTXOW', `${missing.size} of the keys that are needed have not signed`, {
    keyHashes: Array.from(missing, (hash) => toHex(hash)),
  })
}
