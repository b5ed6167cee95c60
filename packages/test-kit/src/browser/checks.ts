import {
  createOutputTrie,
  decodeBlockBody,
  decodeHeader,
  headerHash,
  isBlockError,
  verifyBody,
} from '@ratatosk/block'
import { fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import {
  blake2b224,
  decodeBech32Address,
  decodeTransaction,
  type Json,
  outputReferenceKey,
  validateProfile,
  validateStateless,
  verifySignature,
} from '@ratatosk/ledger'
import {
  createMemoryStore,
  isTrieError,
  proofFromCbor,
  verifyExclusion,
  verifyInclusion,
} from '@ratatosk/trie'
import { documentFees } from '../parameters.js'

/** Inputs for the packages. Bytes are hex, so that a browser can receive them as JSON. */
export interface Questions {
  readonly transactions: readonly string[]
  readonly addresses: readonly string[]
  readonly signatures: readonly (readonly [signature: string, message: string, publicKey: string])[]
  /** Without a value: a proof of absence. */
  readonly proofs: readonly {
    readonly root: string
    readonly key: string
    readonly value?: string
    readonly proof: string
  }[]
  readonly blocks: readonly {
    readonly header: string
    readonly body: string
    readonly before: readonly (readonly [outref: string, output: string])[]
  }[]
}

/** Calls the public APIs of cbor, ledger, trie and block, in Node.js or bundled for a browser. */
export async function answer(questions: Questions): Promise<Json> {
  const blocks: Json[] = []
  for (const block of questions.blocks) blocks.push(await verified(block))
  return {
    transactions: questions.transactions.map(validated),
    addresses: questions.addresses.map((text) => attempt(() => decodeBech32Address(text).kind)),
    signatures: questions.signatures.map((parts) => {
      const [signature, message, publicKey] = parts.map(fromHex) as [Uint8Array, Uint8Array, Uint8Array]
      return verifySignature(signature, message, publicKey)
    }),
    proofs: questions.proofs.map(proven),
    blocks,
  }
}

function validated(hex: string): Json {
  return attempt(() => {
    const transaction = decodeTransaction(fromHex(hex))
    const context = { parameters: documentFees, networkId: 0, slot: 0n }
    return {
      id: toHex(transaction.id),
      fee: String(transaction.body.fee),
      inputs: transaction.body.inputs.map(outputReferenceKey),
      scripts: transaction.witnesses.scripts.map(({ hash }) => toHex(hash)),
      failures: [...validateProfile(transaction), ...validateStateless(transaction, context)].map(
        (failure) => ({
          ...failure,
        }),
      ),
    }
  })
}

function proven({ root, key, value, proof: cbor }: Questions['proofs'][number]): Json {
  return attempt(() => {
    const proof = proofFromCbor(fromHex(cbor))
    return value === undefined
      ? verifyExclusion(fromHex(root), fromHex(key), proof)
      : verifyInclusion(fromHex(root), fromHex(key), fromHex(value), proof)
  })
}

async function verified({
  header: headerHex,
  body: bodyHex,
  before,
}: Questions['blocks'][number]): Promise<Json> {
  try {
    const header = decodeHeader(fromHex(headerHex))
    const body = decodeBlockBody(fromHex(bodyHex))
    const trie = createOutputTrie({ store: createMemoryStore() })
    await trie.rebuild(before.map(([outref, output]) => [fromHex(outref), fromHex(output)] as const))
    const right = await verifyBody(body, header, () => trie.outputHash)
    if (right.error !== undefined) throw right.error
    await trie.applyBlock(body, header)
    const hash = toHex(headerHash(header))
    return { hash, hashOfBytes: toHex(blake2b224(fromHex(headerHex))), root: toHex(trie.root) }
  } catch (error) {
    return refusal(error)
  }
}

function attempt(work: () => Json): Json {
  try {
    return work()
  } catch (error) {
    return refusal(error)
  }
}

function refusal(error: unknown): Json {
  if (isDecodeError(error)) return { code: error.code, path: error.path, offset: error.offset }
  if (isBlockError(error) || isTrieError(error)) return { code: error.code, message: error.message }
  throw error
}
