// Each engine of JavaScript, and the bundle of a page, has to compute this alike.
import { CborReader, CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import { createClient, verifyUtxoProof } from '@ratatosk/client'
import { layer2 } from '@ratatosk/client/wallet'
import { blake2b256, decodeTransaction, validateProfile, verifySignature } from '@ratatosk/ledger'
import { createMemoryStore, createTrie, proofToCbor, verifyInclusion } from '@ratatosk/trie'

const text = (value: string) => new TextEncoder().encode(value)

function cbor() {
  const bytes = new CborWriter()
    .array(3)
    .uint(2n ** 63n)
    .text('ö')
    .bytes(Uint8Array.of(1, 2))
    .toBytes()
  const reader = new CborReader(bytes)
  return { hex: toHex(bytes), members: Number(reader.readArray()), first: String(reader.readUint64()) }
}

function trie() {
  const map = createTrie({ store: createMemoryStore() })
  const entries = ['apple', 'plum', 'fig'].map((key) => ({ key: text(key), value: text(`${key} tree`) }))
  map.update(entries.map((entry) => ({ type: 'insert' as const, ...entry })))
  const proof = map.prove(text('fig'))
  return {
    root: toHex(map.root),
    proof: toHex(proofToCbor(proof)),
    isIncluded: verifyInclusion(map.root, text('fig'), text('fig tree'), proof),
  }
}

/** Of RFC 8032, section 7.1, test 2. */
const signed = {
  publicKey: fromHex('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c'),
  message: Uint8Array.of(0x72),
  signature: fromHex(
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da' +
      '085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  ),
}

function ledger() {
  const { signature, message, publicKey } = signed
  const transaction = decodeTransaction(fromHex('84a3008001800200a0f5f6'))
  return {
    id: toHex(blake2b256(transaction.body.bytes)),
    failures: validateProfile(transaction).map(({ predicate }) => predicate),
    isValid: verifySignature(signature, message, publicKey),
    isForged: verifySignature(signature, Uint8Array.of(0x73), publicKey),
  }
}

function client() {
  const outref = `${'00'.repeat(32)}#0`
  try {
    verifyUtxoProof({} as Parameters<typeof verifyUtxoProof>[0], { outref, headerHash: '00'.repeat(28) })
  } catch (error) {
    const { getNetwork } = createClient('http://127.0.0.1')
    return { getNetwork: typeof getNetwork, layer2: typeof layer2, code: codeOf(error) }
  }
  return {}
}

/** A page is minified: it has other names of classes. */
const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown }).code

export const withoutNetwork = () => ({ cbor: cbor(), trie: trie(), ledger: ledger(), client: client() })
