import { toHex } from '../../bytes.js'
import { verifySignature } from '../../crypto/ed25519.js'
import type { Transaction } from '../../transaction/types.js'
import type { Findings } from '../verdict.js'

/** UTXOW: InvalidWitnessesUTXOW. Every signature is checked over the transaction id, needed or not. */
export function judgeSignatures({ id, witnesses }: Transaction, findings: Findings): void {
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
