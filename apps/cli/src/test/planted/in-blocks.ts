import { bodyOf, encodeBlockBody, type Header } from '@ratatosk/block'
import { CborWriter, concatBytes, equalBytes, fromHex } from '@ratatosk/cbor'
import { blake2b, encodeAssets, encodeBytes, encodeList, encodeOutput, encodeUint } from '@ratatosk/fixtures'
import { encodeOutputReference } from '@ratatosk/ledger'
import { keyOf } from '@ratatosk/test-kit'
import {
  fee,
  inputs,
  lovelace,
  madeBy,
  neverMade,
  neverMadeKey,
  outputs,
  type Planted,
  payment,
  type Scene,
} from './scene.js'

/** `all` of no scripts, which everyone satisfies, and a script that needs the key of a stranger. */
const anyone = fromHex('820180')
const strangers = concatBytes(fromHex('8200581c'), blake2b(28, keyOf(77).publicKey))
const policyOf = (script: Uint8Array): Uint8Array => blake2b(28, concatBytes(Uint8Array.of(0), script))
const gold = '476f6c64'

/** The assets of an output or of a mint. */
const assets = (quantity: bigint, policy = policyOf(anyone), name = gold) =>
  [[policy, name, quantity]] as const

const minting = (quantity: bigint, script = anyone) => ({
  body: { 9: encodeAssets(assets(quantity, policyOf(script))) },
  witnesses: { 1: encodeList([script]) },
})

/** A block of one payment of a coin with these fields, which its operator commits to. */
const one = (
  name: string,
  code: string,
  draft: (coin: Scene['chain']['coins'][number], scene: Scene) => ReturnType<typeof payment>,
): Planted => [name, code, async (scene) => void (await scene.commit(draft(scene.coin(5), scene)))]

const held = (quantity: bigint, policy?: Uint8Array, name?: string) => ({
  assets: assets(quantity, policy, name),
})
const slotAt = (milliseconds: bigint): bigint => (milliseconds - 1_704_067_200_000n) / 1000n

/** Defects of transactions in blocks whose roots follow from them. */
export const inTransactions: readonly Planted[] = [
  one('more lovelace than was spent', 'value', (coin) =>
    payment(coin, { 1: outputs(coin, { lovelace: lovelace + 1n }) }),
  ),
  one('lovelace that vanishes', 'value', (coin) =>
    payment(coin, { 1: outputs(coin, { lovelace: 1_000_000n }) }),
  ),
  one('a fee that is not what is missing', 'value', (coin) => payment(coin, { 2: encodeUint(fee + 1n) })),
  one('a fee below the minimum', 'rule', (coin) =>
    payment(coin, { 1: outputs(coin, { lovelace: lovelace - 10n }), 2: encodeUint(10n) }),
  ),
  one('tokens that nothing minted', 'value', (coin) => payment(coin, { 1: outputs(coin, held(7n)) })),
  one('fewer tokens than were minted', 'value', (coin) => {
    const { body, witnesses } = minting(8n)
    return payment(coin, { ...body, 1: outputs(coin, held(7n)) }, witnesses)
  }),
  one('tokens against as many that are negative', 'transaction', (coin) =>
    payment(coin, {
      1: outputs(coin, { assets: [...assets(1_000_000n), ...assets(-1_000_000n, policyOf(anyone), 'ff')] }),
    }),
  ),
  one('a policy of 32 bytes that spells a policy and a name', 'transaction', (coin) => {
    const { body, witnesses } = minting(7n)
    const spelled = concatBytes(policyOf(anyone), fromHex(gold))
    return payment(coin, { ...body, 1: outputs(coin, held(7n, spelled, '')) }, witnesses)
  }),
  one('a name of 33 bytes', 'transaction', (coin) =>
    payment(coin, { 1: outputs(coin, held(7n, policyOf(anyone), 'aa'.repeat(33))) }),
  ),
  one('a quantity of zero', 'transaction', (coin) => payment(coin, { 1: outputs(coin, held(0n)) })),
  one('a mint of nothing', 'transaction', (coin) => payment(coin, { 9: encodeAssets(assets(0n)) })),
  one('a mint of 2^63', 'transaction', (coin) => {
    const { body, witnesses } = minting(2n ** 63n)
    return payment(coin, { ...body, 1: outputs(coin, held(2n ** 63n)) }, witnesses)
  }),
  one('a mint without its script', 'rule', (coin) => {
    const { body } = minting(7n)
    return payment(coin, { ...body, 1: outputs(coin, held(7n)) })
  }),
  one('a mint whose script needs the key of a stranger', 'rule', (coin) => {
    const { body, witnesses } = minting(7n, strangers)
    return payment(coin, { ...body, 1: outputs(coin, held(7n, policyOf(strangers))) }, witnesses)
  }),
  one('a transaction marked as invalid, whose collateral would be taken', 'transaction', (coin) =>
    payment(coin, { 13: inputs(coin.reference) }, {}, (draft) => ({ ...draft, isValid: false })),
  ),
  one('a certificate', 'transaction', (coin) =>
    payment(coin, { 4: concatBytes(fromHex('8182008200581c'), new Uint8Array(28)) }),
  ),
  one('rewards that are withdrawn', 'transaction', (coin) =>
    payment(coin, { 5: concatBytes(fromHex('a1581de0'), new Uint8Array(28), Uint8Array.of(1)) }),
  ),
  one('a donation', 'transaction', (coin) => payment(coin, { 22: encodeUint(1n) })),
  one('an interval that ended before the block', 'rule', (coin) => payment(coin, { 3: encodeUint(5n) })),
  one('an interval that begins after the block', 'rule', (coin, { chain }) =>
    payment(coin, { 8: encodeUint(slotAt(chain.tip!.fields.endTime) + 100n) }),
  ),
  one('an output of a stranger, spent without a signature', 'rule', (coin) =>
    payment(coin, {}, {}, (draft) => ({ ...draft, signers: [] })),
  ),
  one('a signature of another key', 'rule', (coin) =>
    payment(coin, {}, {}, (draft) => ({ ...draft, signers: [keyOf(77)] })),
  ),
  one('a signature of other bytes', 'rule', (coin) => {
    const { id, cbor } = payment(coin)
    // Before the end: true and null.
    return { id, cbor: cbor.with(cbor.length - 10, cbor[cbor.length - 10]! ^ 1) }
  }),
  one('a hash of auxiliary data without the data', 'transaction', (coin) =>
    payment(coin, { 7: encodeBytes(new Uint8Array(32)) }),
  ),
  one('auxiliary data that the body does not name', 'transaction', (coin) =>
    payment(coin, {}, {}, (draft) => ({ ...draft, auxiliaryData: fromHex('a10101') })),
  ),
  one('metadata that are none', 'transaction', (coin) => {
    const auxiliaryData = fromHex('a101f5')
    return payment(coin, { 7: encodeBytes(blake2b(32, auxiliaryData)) }, {}, (draft) => ({
      ...draft,
      auxiliaryData,
    }))
  }),
  one('an output below the least ada', 'rule', (coin) =>
    payment(coin, {
      1: outputs(
        coin,
        { lovelace: lovelace - fee - 1000n },
        encodeOutput({ address: coin.key.address, lovelace: 1000n }),
      ),
    }),
  ),
  one('an address of another network', 'rule', (coin) =>
    payment(coin, { 1: outputs(coin, { address: coin.key.address.with(0, 0x61) }) }),
  ),
  one('an address of no kind', 'transaction', (coin) =>
    payment(coin, { 1: outputs(coin, { address: coin.key.address.slice(0, 20) }) }),
  ),
  one('the network of another', 'rule', (coin) => payment(coin, { 15: encodeUint(1n) })),
  one('one input twice', 'transaction', (coin) =>
    payment(coin, { 0: inputs(coin.reference, coin.reference) }),
  ),
  one('a signer that is required and does not sign', 'rule', (coin) =>
    payment(coin, { 14: encodeList([encodeBytes(blake2b(28, keyOf(77).publicKey))]) }),
  ),
  one('a reference input that was never made', 'unknown-input', (coin) =>
    payment(coin, { 18: inputs(neverMade) }),
  ),
  one('a reference input that the transaction spends', 'rule', (coin) =>
    payment(coin, { 18: inputs(coin.reference) }),
  ),
  one('a field that the ledger does not know', 'transaction', (coin) =>
    payment(coin, { 23: encodeUint(0n) }),
  ),
  one('a fee of another type', 'transaction', (coin) => payment(coin, { 2: encodeBytes(new Uint8Array(1)) })),
  one('more bytes than a transaction may have', 'rule', (coin) =>
    payment(coin, { 1: outputs(coin, { inlineDatum: longDatum }) }),
  ),
  [
    'an input that was never made',
    'unknown-input',
    async ({ chain, coin }) => {
      const { cbor } = payment(coin(5), { 0: inputs(neverMade) })
      await chain.commitAny([cbor], [neverMadeKey])
    },
  ],
  [
    'a transaction twice in a block',
    'two-places',
    async ({ commit, coin }) => void (await commit(payment(coin(5)), payment(coin(5)))),
  ],
  [
    'a transaction again in a later block',
    'two-places',
    async ({ chain, commit, coin }) => {
      const first = payment(coin(5))
      await commit(first)
      await commit(
        payment(madeBy(first, coin(5)), { 1: outputs(coin(5), { lovelace: lovelace - 2n * fee }) }),
      )
      await chain.commitAny([first.cbor], [encodeOutputReference(coin(5).reference)])
    },
  ],
  [
    'an output that two transactions of a block spend',
    'double-spend',
    async ({ commit, coin }) => {
      const other = payment(coin(5), { 1: outputs(coin(5), { lovelace: lovelace - fee - 1n }) })
      await commit(payment(coin(5)), other)
    },
  ],
  [
    'an output that two blocks spend',
    'double-spend',
    async ({ chain, coin }) => {
      const { cbor } = payment(coin(0), { 3: encodeUint(2n ** 40n) })
      await chain.commitAny([cbor], [encodeOutputReference(coin(0).reference)])
    },
  ],
  [
    'a child before its parent',
    'unknown-input',
    async ({ commit, coin }) => {
      const parent = payment(coin(5))
      const child = payment(madeBy(parent, coin(5)), {
        1: outputs(coin(5), { lovelace: lovelace - 2n * fee }),
      })
      await commit(child, parent)
    },
  ],
  [
    'bytes that are no transaction',
    'transaction',
    async ({ chain }) => void (await chain.commitAny([fromHex('8401'), Uint8Array.of(0xff)])),
  ],
]

/** Of 17,000 bytes, in parts of 64. */
const longDatum = new CborWriter().boundedBytes(new Uint8Array(17_000)).toBytes()

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
