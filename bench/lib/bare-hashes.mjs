// Bare Blake2b-256 of what has to be hashed for the roots of a block, whatever the trie: the transactions'
// bodies and, as keys and values, their inputs, outputs, hashes and bytes.
import { decodeTransaction, effects, encodeOutputReference } from '@ratatosk/ledger'
import sodium from 'sodium-native'

export function messagesOf(block) {
  return block.flatMap((cbor) => {
    const transaction = decodeTransaction(cbor)
    const { spent, produced } = effects(transaction)
    return [
      transaction.body.bytes,
      transaction.id,
      cbor,
      ...spent.map(encodeOutputReference),
      ...produced.flatMap(({ reference, output }) => [encodeOutputReference(reference), output.bytes]),
    ]
  })
}

export function hashAll(messages) {
  const hash = Buffer.alloc(32)
  for (const message of messages) sodium.crypto_generichash(hash, message)
}
