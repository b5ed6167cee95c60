import { toHex } from '@ratatosk/cbor'
import { verifySignature } from '#crypto'
import type { Transaction } from '../../transaction/types.js'
import type { Findings } from '../failures.js'

/** UTXOW: InvalidWitnessesUTXOW. Every signature is verified, including those that are not required. */
export function validateWitnessSignatures({ id, witnesses }: Transaction, findings: Findings): void {
  const invalid: string[] = []
  for (const { publicKey, signature } of witnesses.keyWitnesses) {
    if (!verifySignature(signature, id, publicKey)) invalid.push(toHex(publicKey))
  }
  for (const { publicKey, signature } of witnesses.bootstrapWitnesses) {
    if (!verifySignature(signature, id, publicKey)) invalid.push(toHex(publicKey))
  }
  if (invalid.length === 0) return
  findings.add('InvalidWitnessesUTXOW', 'A signature does not fit the transaction id and its public key', {
    publicKeys: invalid,
  })
}
