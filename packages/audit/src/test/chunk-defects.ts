import { chunkKey, deriveBlock } from '@ratatosk/block'
import { concatBytes, equalBytes, fromHex, toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import { rootOf } from '@ratatosk/trie'
import type { Defect } from './defects.js'
import { name } from './honest.js'
import { type Scene, spending } from './scene.js'

/** Where a chunk's record has the last byte of its first position, that of the count, and its hash. */
const places = [
  ['first transaction', 8],
  ['number of chunks', 16],
  ['hash', 17],
] as const

/** Commits to a map whose first chunk has another byte in its record. */
async function commitWithChunk({ chain }: Scene, place: number): Promise<void> {
  const cbors = [spending([chain.coins[7]!]).cbor]
  const before = (outref: Uint8Array) => blake2b256(chain.utxos.get(toHex(outref))!)
  const entries = Array.from(deriveBlock(cbors, before).entries(), ([key, value]) => {
    if (equalBytes(key, chunkKey(0))) value[place]! ^= 1
    return [key, value] as const
  })
  await chain.commitAny(cbors, [], { transactionsRoot: await rootOf(entries) })
}

export const chunkDefects: readonly Defect[] = [
  ...places.map(
    ([what, place]): Defect => [
      `a chunk that states another ${what}`,
      ['transactions-root'],
      (scene) => commitWithChunk(scene, place),
    ],
  ),
  [
    'a block of too many chunks',
    ['body'],
    async ({ chain }) => {
      // Two transactions with so much metadata do not fit into one chunk.
      const strings = Array.from({ length: 95 }, () => concatBytes(fromHex('5840'), new Uint8Array(64)))
      const auxiliaryData = concatBytes(fromHex('a101985f'), ...strings)
      const cbors: Uint8Array[] = []
      let coin = chain.coins[7]!
      while (cbors.length < 1025) {
        const { cbor, id } = spending([coin], { auxiliaryData })
        cbors.push(cbor)
        coin = { key: coin.key, reference: { transactionId: id, index: 0 } }
      }
      await chain.commitAny(cbors)
    },
  ],
]

/** Defects that the ledger does not decode. */
export const grammarDefects: readonly Defect[] = [
  [
    'a token made from nothing, and as many that are negative beside it',
    ['transaction'],
    async (scene) => {
      const assets = [
        [name, 1_000_000n],
        [`${name}ff`, -1_000_000n],
      ] as const
      await scene.chain.commitAny([spending([scene.chain.coins[7]!], { assets }).cbor])
    },
  ],
]
