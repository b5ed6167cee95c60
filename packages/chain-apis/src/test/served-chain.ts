import { CborWriter, fromHex } from '@ratatosk/cbor'
import { decodeTransactionOutput } from '@ratatosk/ledger'
import { documentFees, slots } from '@ratatosk/test-kit'
import { listening } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import type { Test } from 'tap'
import { type ClientOptions, WebSocket } from 'ws'
import { apis } from '../apis.js'
import { type ApisOptions, chainMembers } from '../options.js'
import type { ChainOutput, ChainView } from '../view/chain-view.js'

const genesisHash = '00'.repeat(32)

/** A chain without blocks; tests replace the methods that they are about. */
const emptyChain: Partial<ChainView> = {
  parameters: documentFees,
  slots,
  networkMagic: 42,
  networkId: 0,
  genesisHash,
  maxBlockSize: 90_112,
  securityParameter: 2160,
  currentSlot: () => 0n,
  tip: () => ({ height: 0, slot: 0n, hash: genesisHash }),
  block: () => undefined,
  blockAfter: () => undefined,
  blockUntil: () => ({ height: 0, slot: 0n, hash: genesisHash }),
  indexedSlot: () => 0n,
  version: () => genesisHash,
  mempool: () => [],
  subscribe: () => () => undefined,
  submit: () => Promise.reject(new Error('not here')),
}

/** Every method of a chain; each says that a test has to replace it. */
const missing = Object.fromEntries(
  Object.entries(chainMembers).flatMap(([name, type]) => {
    if (type !== 'function') return []
    const fail = () => {
      throw new Error(`The chain of this test has no ${name}()`)
    }
    return [[name, fail]]
  }),
)

/** A served chain, closed when the test ends. */
export async function serve(
  t: Test,
  methods: Partial<ChainView> = {},
  options: Omit<ApisOptions, 'chain'> = {},
) {
  // Clients keep connections, also ones without a request, on which `close` would wait.
  const server = fastify({ forceCloseConnections: true })
  await server.register(apis, { chain: chainWith(methods), ...options })
  const { url } = await listening(server)
  t.teardown(() => server.close())
  const webSocket = `${url.replace('http', 'ws')}/ogmios`
  return { server, url, connect: (options?: ClientOptions) => connect(t, webSocket, options) }
}

/** The chain without blocks, with other methods. */
export function chainWith(methods: Partial<ChainView>): ChainView {
  return { ...missing, ...emptyChain, ...methods } as ChainView
}

async function connect(t: Test, url: string, options?: ClientOptions) {
  const socket = new WebSocket(url, options)
  t.teardown(() => socket.terminate())
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  const answers: (({ result, error }: { result?: unknown; error?: unknown }) => void)[] = []
  socket.on('message', (data) => answers.shift()?.(JSON.parse(String(data))))
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  return {
    socket,
    /** The code with which the connection was closed. */
    closed,
    /** For requests whose answers come in their order. */
    ask(method: string, params?: object) {
      socket.send(JSON.stringify({ jsonrpc: '2.0', method, params }))
      // biome-ignore lint/suspicious/noExplicitAny: tests compare parts of answers.
      return new Promise<any>((resolve) => answers.push(resolve))
    },
  }
}

/** The address of the output. */
export const addressBytes = `60${'11'.repeat(28)}`
/** The slot of the block. */
export const slot = 14n
/** The hash of the block. */
export const blockHash = '22'.repeat(32)

const place = { block: { height: 1, slot, hash: blockHash }, position: 0 }
const output: ChainOutput = {
  key: `${'33'.repeat(32)}#0`,
  transactionHash: '33'.repeat(32),
  index: 0,
  output: decodeTransactionOutput(new CborWriter().array(2).bytes(fromHex(addressBytes)).uint(1n).toBytes()),
  created: place,
  collateralReturn: false,
}

/** One block with one output. */
export const oneOutputChain = chainWith({
  tip: () => place.block,
  blockUntil: (at) => (at < slot ? { height: 0, slot: 0n, hash: '00'.repeat(32) } : place.block),
  version: () => place.block.hash,
  datums: () => new Map(),
  script: () => undefined,
  async *outputPages() {
    yield [output]
  },
})
