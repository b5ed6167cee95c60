import { bodyOf, encodeBlockBody, type Header } from '@ratatosk/block'
import { concatBytes, equalBytes } from '@ratatosk/cbor'
import type { Planted } from './planted.js'
import { payment, type Scene } from './scene.js'

const junk = new Uint8Array(32).fill(0xee)

/** A block of one payment with another field in its header. */
const header = (name: string, code: string, wrong: (tip: Header) => Partial<Header>): Planted => [
  name,
  code,
  async ({ chain, coin }) =>
    void (await chain.commitAny([payment(coin(5)).cbor], [], wrong(chain.tip!.fields))),
]

/** The body of the newest block, changed on its way from the archive. */
const body = (
  name: string,
  code: string,
  lie: (body: Uint8Array, scene: Scene) => Uint8Array | undefined,
): Planted => [
  name,
  code,
  async (scene) => {
    const { archive, chain } = scene
    const last = chain.tip!.headerHash
    scene.archive = {
      ...archive,
      async body(hash, signal) {
        const honest = await archive.body(hash, signal)
        return honest && equalBytes(hash, last) ? lie(honest, scene) : honest
      },
    }
  },
]

/** The lists of the newest body with others in them. */
const lists = (
  name: string,
  change: (parts: ReturnType<typeof bodyOf>) => Partial<ReturnType<typeof bodyOf>>,
): Planted =>
  body(name, 'body', (_, { chain }) => {
    const parts = bodyOf(chain.tip!.cbors)
    return encodeBlockBody({ ...parts, ...change(parts) })
  })

/** Defects of headers, roots, bodies, and of what layer 1 shows. */
export const inChain: readonly Planted[] = [
  header('a root of outputs that do not follow', 'utxos-root', () => ({ utxosRoot: junk })),
  header('a block that changes no output by its root', 'utxos-root', ({ utxosRoot }) => ({ utxosRoot })),
  header('a root of other transactions', 'transactions-root', () => ({ transactionsRoot: junk })),
  header('a block that begins with other outputs', 'prev-utxos-root', () => ({ prevUtxosRoot: junk })),
  header('a block that names another before it', 'link', () => ({ prevHeaderHash: junk.slice(0, 28) })),
  header('a gap in time', 'times', ({ endTime }) => ({ startTime: endTime + 1n })),
  header('an overlap in time', 'times', ({ endTime }) => ({ startTime: endTime - 1n })),
  header('a block that ends before it begins', 'times', ({ endTime }) => ({ endTime: endTime - 1n })),
  header('an older block version', 'version', () => ({ blockVersion: 2n })),
  header('deposits', 'deposits-root', () => ({ depositsRoot: junk })),
  header('withdrawals', 'withdrawals-root', () => ({ withdrawalsRoot: junk })),
  body('a byte behind the body', 'body', (bytes) => concatBytes(bytes, Uint8Array.of(0))),
  body('a number in a longer form', 'body', (bytes) =>
    concatBytes(bytes.subarray(0, 1), Uint8Array.of(0x98, bytes[1]! & 31), bytes.subarray(2)),
  ),
  body('a list of indefinite length', 'body', (bytes) =>
    concatBytes(Uint8Array.of(0x9f), bytes.subarray(1), Uint8Array.of(0xff)),
  ),
  body('a body that ends in its middle', 'body', (bytes) => bytes.slice(0, bytes.length >> 1)),
  body('JSON in place of a body', 'body', () => new TextEncoder().encode('{"transactions":[]}')),
  body('deposits in a body', 'body', (bytes) =>
    concatBytes(bytes.subarray(0, -2), Uint8Array.of(0x81, 0x82, 0x40, 0x40, 0x80)),
  ),
  body('withdrawals in a body', 'body', (bytes) =>
    concatBytes(bytes.subarray(0, -1), Uint8Array.of(0x81, 0x40)),
  ),
  body('the body of another block', 'transactions-root', (_, { chain }) =>
    encodeBlockBody(bodyOf(chain.blocks[0]!.cbors)),
  ),
  body('a body without its transactions', 'transactions-root', () => encodeBlockBody(bodyOf([]))),
  body('a body that the archive lacks', 'body-missing', () => undefined),
  body('a body of 500,000 empty transactions', 'body', () => {
    const bytes = new Uint8Array(500_010).fill(0x40)
    bytes.set([0x85, 0x9a, 0, 0x07, 0xa1, 0x20], 0)
    bytes.set([0x80, 0x80, 0x80, 0x80], 500_006)
    return bytes
  }),
  body('a body of 300,000 broken transactions', 'body', () => {
    const bytes = new Uint8Array(300_010).fill(0x40)
    bytes.set([0x85, 0x9a, 0, 0x04, 0x93, 0xe0], 0)
    bytes.set([0x80, 0x80, 0x80, 0x80], 300_006)
    return bytes
  }),
  lists('a list of spent outputs that lacks one', () => ({ spent: [] })),
  lists('a list of spent outputs with one too many', ({ spent }) => ({ spent: [...spent, ...spent] })),
  lists('a list of produced outputs that lacks one', () => ({ produced: [] })),
  lists('a produced output with another amount', ({ produced }) => ({
    produced: produced.map(({ outref, output }) => ({
      outref,
      output: output.with(output.length - 1, output.at(-1)! ^ 1),
    })),
  })),
  [
    'a first block that does not begin with the genesis',
    'prev-utxos-root',
    async (scene) => {
      const { chain } = scene
      chain.remove(2)
      await chain.commitAny([payment(scene.coin(5)).cbor], [], { prevUtxosRoot: junk })
      scene.layer1 = (queue) => ({
        ...queue,
        confirmed: { headerHash: new Uint8Array(28), utxosRoot: genesisRoot(chain), endTime: 0n },
      })
    },
  ],
  [
    'a confirmed state with another root',
    'confirmed-state',
    async (scene) => {
      scene.layer1 = ({ confirmed, blocks }) => ({ confirmed: { ...confirmed!, utxosRoot: junk }, blocks })
    },
  ],
  [
    'a confirmed state that ends at another time',
    'confirmed-state',
    async (scene) => {
      scene.layer1 = ({ confirmed, blocks }) => ({
        confirmed: { ...confirmed!, endTime: confirmed!.endTime + 1n },
        blocks,
      })
    },
  ],
  [
    'a confirmed state of a block that no header leads to',
    'block-missing',
    async (scene) => {
      scene.layer1 = ({ confirmed, blocks }) => ({
        confirmed: { ...confirmed!, headerHash: junk.slice(0, 28) },
        blocks,
      })
    },
  ],
  [
    'blocks of layer 1 in another order',
    'block-missing',
    async (scene) => {
      await scene.commit(payment(scene.coin(5)))
      scene.layer1 = (queue) => ({ ...queue, blocks: [...queue.blocks].reverse() })
    },
  ],
  [
    'a header on layer 1 that does not have its hash',
    'header',
    async (scene) => {
      scene.layer1 = (queue) => ({
        ...queue,
        blocks: queue.blocks.map(({ headerHash, header }) => ({
          headerHash,
          header: header.with(-1 + header.length, 0),
        })),
      })
    },
  ],
  [
    'a state queue of two roots',
    'queue-broken',
    async (scene) => {
      scene.layer1 = () => ({ fault: '2 roots', blocks: [] })
    },
  ],
  [
    'a block that only the archive has',
    'block-extra',
    async (scene) => {
      scene.layer1 = (queue) => ({ ...queue, blocks: [] })
    },
  ],
  [
    'a header of the archive that layer 1 does not vouch for',
    'header',
    async (scene) => {
      const { archive, chain } = scene
      scene.archive = {
        ...archive,
        async header(id, signal) {
          const named = await archive.header(id, signal)
          return named && id === 2 ? { ...named, header: chain.blocks[0]!.header } : named
        },
      }
    },
  ],
  [
    'headers that an archive makes without an end',
    'block-missing',
    async (scene) => {
      const { archive, chain } = scene
      scene.archive = {
        ...archive,
        header: async (id) => ({
          headerHash: typeof id === 'number' ? new Uint8Array(28).fill(id) : id,
          header: chain.blocks[0]!.header,
        }),
      }
    },
  ],
]

const genesisRoot = (chain: Scene['chain']): Uint8Array => chain.all[0]!.fields.prevUtxosRoot
