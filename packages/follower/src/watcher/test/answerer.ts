import { chunkKey, deriveBlock, headerFieldIndex } from '@ratatosk/block'
import type { SummonsQuestion } from '@ratatosk/contracts'
import type { Layer1, Wallet } from '@ratatosk/layer1'
import { blake2b256, outputReferenceKey, type Utxo } from '@ratatosk/ledger'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { answerQuestion, type Contracts, type OpenQuestion, readQuestions } from '@ratatosk/protocol'
import {
  type AnsweringMap,
  answerAboutNode,
  type ChunkAnswer,
  encodeChunkAnswer,
  encodeNodeAnswer,
} from '@ratatosk/protocol/fraud'
import { createMemoryStore, createTrie, type TrieView } from '@ratatosk/trie'
import { type Committed, chunksOf } from '../../../../protocol/dist/fraud/test/lying-blocks.js'

/** Bytes of a chunk that an answer holds itself. */
const keptBytes = 12_000
const hashBytes = 32

interface Means extends AnswererOptions {
  readonly contracts: Contracts
  readonly layer1: Layer1
  readonly wallet: Wallet
  readonly referenceScripts: readonly Utxo[]
}

export interface AnswererOptions {
  /** From the first such question on, none is answered. */
  readonly isSilent?: (question: SummonsQuestion) => boolean
  readonly whenDue?: (asked: OpenQuestion, answer: () => Promise<void>) => Promise<void>
  /** The transactions map that the operator answers with, if it is not that of the block's entries. */
  readonly records?: TrieView
  /** The map of outputs that it answers with, if it is not that after the block. */
  readonly outputs?: TrieView
  /** The redeemer that is sent, in another form. */
  readonly form?: (redeemer: Uint8Array) => Uint8Array
  /** Shows the first 32 bytes of each chunk by an output with this hash of an unknown datum. */
  readonly hidesInHashes?: boolean
}

/** An operator who answers questions about a block with the maps that its header commits to. */
export interface Answerer {
  readonly answered: readonly SummonsQuestion[]
  /** Ends, and rejects if an answer has failed. */
  close(): Promise<void>
}

export async function openAnswerer(
  { contracts, layer1, wallet, referenceScripts, ...options }: Means,
  { transactions, before, after, entries, chunks: stated }: Committed,
): Promise<Answerer> {
  const { isSilent = () => false, whenDue = (_asked, answer) => answer() } = options
  const { form = (redeemer) => redeemer, hidesInHashes = false } = options
  const own = createTrie({ store: createMemoryStore(), history: 0 })
  const records = new Map(
    Array.from(entries ?? deriveBlock(transactions, before.valueHash).entries(), ([key, value]) => [
      key.join(),
      [key, value] as const,
    ]),
  )
  await own.rebuild(records.values())
  const map = options.records ?? own
  const byPath = new Map(Array.from(records.values(), (entry) => [blake2b256(entry[0]).join(), entry]))
  const entryAt = (path: Uint8Array) => byPath.get(path.join())
  const chunks = stated ? [...stated] : chunksOf(transactions)

  /** Pays the part of a chunk that an answer cannot hold. */
  async function hold(bytes: Uint8Array): Promise<Utxo> {
    const isHash = hidesInHashes && bytes.length === hashBytes
    const datum = isHash
      ? ({ kind: 'hash', hash: bytes } as const)
      : ({ kind: 'inline', data: encodePlutusData(bytes) } as const)
    const { produced } = await wallet.send({ outputs: [{ address: wallet.keys.address.bytes, datum }] })
    return produced[0]!
  }

  async function aboutChunk({ key }: SummonsQuestion) {
    const number = new DataView(key.buffer, key.byteOffset).getUint32(0)
    const bytes = chunks[number]
    if (bytes === undefined)
      return {
        holders: [],
        redeemer: () => encodeChunkAnswer(0, { absent: map.proveAbsence(chunkKey(number)) }),
      }
    const [, entry] = records.get(chunkKey(number).join())!
    const shown = (parts: readonly (Uint8Array | number)[]): ChunkAnswer => ({
      entry,
      proof: map.openPath(blake2b256(chunkKey(number))).proof,
      parts,
    })
    if (hidesInHashes)
      return {
        holders: [await hold(bytes.subarray(0, hashBytes))],
        redeemer: (indexes: readonly number[]) =>
          encodeChunkAnswer(0, shown([...indexes, bytes.subarray(hashBytes)])),
      }
    const holders = bytes.length > keptBytes ? [await hold(bytes.subarray(keptBytes))] : []
    return {
      holders,
      redeemer: (indexes: readonly number[]) =>
        encodeChunkAnswer(0, shown([bytes.subarray(0, keptBytes), ...indexes])),
    }
  }

  async function answer(asked: OpenQuestion): Promise<void> {
    const { question } = asked
    const isOfOutputs = question.root === headerFieldIndex.utxosRoot
    const known: AnsweringMap = isOfOutputs ? { trie: options.outputs ?? after } : { trie: map, entryAt }
    const node = question.kind === 'chunk' ? undefined : answerAboutNode(question, known)
    const answering =
      node === undefined
        ? await aboutChunk(question)
        : { holders: [], redeemer: () => encodeNodeAnswer(0, question.key, node) }
    const redeemer = (indexes: readonly number[]) => form(answering.redeemer(indexes))
    await wallet.send(answerQuestion(contracts, { ...answering, asked, redeemer }, referenceScripts))
  }

  const done = new Set<string>()
  const answered: SummonsQuestion[] = []
  let ended = false
  const running = (async () => {
    for (let isOpen = true; isOpen && !ended; ) {
      const open = readQuestions(contracts, await layer1.utxosByPolicy(contracts.summons!.policy))
      for (const asked of open) {
        const key = outputReferenceKey(asked.utxo.reference)
        if (done.has(key)) continue
        done.add(key)
        isOpen = !isSilent(asked.question)
        if (!isOpen) break
        await whenDue(asked, () => answer(asked))
        answered.push(asked.question)
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()
  let failure: unknown
  const settled = running.catch((error: unknown) => {
    failure = error
  })
  return {
    answered,
    async close() {
      ended = true
      await settled
      if (failure !== undefined) throw failure
    },
  }
}
