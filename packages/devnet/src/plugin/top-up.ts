import { CborWriter, concatBytes, fromHex, isDecodeError } from '@ratatosk/cbor'
import type { PublicWallet } from '@ratatosk/client/wallet/script'
import { blake2b256, decodeBech32Address, isAddressError, outputReferenceKey } from '@ratatosk/ledger'
import { Mutex } from 'async-mutex'
import type { FastifyInstance } from 'fastify'
import type { ChainOutput } from '../chain/types.js'
import { testWallets } from '../genesis.js'
import type { Devnet } from '../types.js'
import { type ControlOptions, guardControls, onlyFields } from './control-api.js'

/** Returned to the wallet with the rest; above the least that an output must hold. */
const leastChange = 2_000_000n

/** A node on this devnet pays from the accounts below this one by default. */
const firstFreeAccount = 3

interface Source {
  readonly wallet: PublicWallet
  readonly transactionHash: string
  readonly index: number
  readonly lovelace: bigint
}

type TopUp =
  | { readonly kind: 'paid'; readonly hash: string }
  | { readonly kind: 'refused'; readonly status: 400 | 409; readonly reason: string }

interface Body {
  readonly address: string
  readonly adaAmount: number
}

const bodySchema = {
  type: 'object',
  required: ['address', 'adaAmount'],
  properties: {
    address: { type: 'string', maxLength: 200, description: 'Bech32 address of a test network.' },
    adaAmount: { type: 'number', minimum: 1, maximum: 1e9, description: 'Ada, with up to 6 decimals.' },
  },
} as const

const paidSchema = {
  type: 'object',
  required: ['status', 'message', 'txHash'],
  properties: {
    status: { const: true },
    message: { type: 'string' },
    txHash: { type: 'string', description: 'Id of the payment, which the next block contains.' },
  },
} as const

const refusedSchema = {
  type: 'object',
  required: ['error'],
  properties: { error: { type: 'string' }, code: { type: 'string' } },
} as const

/** `POST /addresses/topup`, as Yaci DevKit has it: pays an address from the test wallets. */
export async function topUpApi(fastify: FastifyInstance, options: ControlOptions): Promise<void> {
  const { devnet, route = {} } = options
  guardControls(fastify, options)
  // Two payments at once would choose the same outputs.
  const mutex = new Mutex()
  const response = { 200: paidSchema, '4xx': refusedSchema, '5xx': refusedSchema }
  fastify.post<{ Body: Body }>(
    '/addresses/topup',
    { ...route, preValidation: onlyFields('address', 'adaAmount'), schema: { body: bodySchema, response } },
    async ({ body: { address, adaAmount } }, reply) => {
      const lovelace = BigInt(Math.round(adaAmount * 1_000_000))
      const result = await mutex.runExclusive(() => topUp(devnet(), address, lovelace))
      if (result.kind === 'refused') return reply.code(result.status).send({ error: result.reason })
      return { status: true, message: `${adaAmount} ada are in the mempool`, txHash: result.hash }
    },
  )
}

async function topUp(devnet: Devnet, text: string, lovelace: bigint): Promise<TopUp> {
  const address = paymentAddress(text)
  if (address === undefined) {
    const reason = `${JSON.stringify(text)} is not a bech32 payment address of a test network`
    return { kind: 'refused', status: 400, reason }
  }
  const { minFeeA, minFeeB, maxTransactionSize } = devnet.parameters
  const fee = minFeeA * BigInt(maxTransactionSize) + minFeeB
  const sources = choose(sourcesOf(devnet), lovelace + fee + leastChange)
  const [first] = sources
  if (first === undefined) {
    return { kind: 'refused', status: 409, reason: 'The test wallets hold too little: ask for less' }
  }
  const result = await devnet.submit(await payment(sources, address, lovelace, fee))
  if (result.kind === 'accepted') return { kind: 'paid', hash: result.hash }
  const reason = result.kind === 'rejected' ? JSON.stringify(result.failures) : result.message
  return { kind: 'refused', status: 409, reason: `The payment was not accepted. Repeat it: ${reason}` }
}

function paymentAddress(text: string): Uint8Array | undefined {
  try {
    const { kind, networkId, bytes } = decodeBech32Address(text)
    return kind === 'reward' || networkId !== 0 ? undefined : bytes
  } catch (error) {
    if (isAddressError(error) || isDecodeError(error)) return undefined
    throw error
  }
}

/** The funds that the test wallets can spend now: ada-only outputs, with those of the mempool. */
function sourcesOf(devnet: Devnet): Source[] {
  const pending = devnet.mempool()
  const spent = new Set(pending.flatMap(({ transaction }) => transaction.body.inputs.map(outputReferenceKey)))
  const made = pending.flatMap(({ hash, transaction }) =>
    transaction.body.outputs.map((output, index) => ({
      key: `${hash}#${index}`,
      transactionHash: hash,
      index,
      output,
    })),
  )
  const owners = new Map(
    testWallets.wallets.map((wallet) => [
      Buffer.from(decodeBech32Address(wallet.address).bytes).toString('hex'),
      wallet,
    ]),
  )
  const confirmed = testWallets.wallets.flatMap(({ address }) => devnet.utxos({ address }))
  return [...confirmed, ...made].flatMap(
    ({
      key,
      transactionHash,
      index,
      output,
    }: Pick<ChainOutput, 'key' | 'transactionHash' | 'index' | 'output'>) => {
      const wallet = owners.get(Buffer.from(output.address.bytes).toString('hex'))
      const { value, datum, referenceScript } = output
      const isPlain = value.assets.size === 0 && datum.kind === 'none' && referenceScript === undefined
      if (wallet === undefined || !isPlain || spent.has(key)) return []
      return [{ wallet, transactionHash, index, lovelace: value.lovelace }]
    },
  )
}

/** Outputs that hold an amount, from otherwise unused accounts first; none if all hold less. */
function choose(sources: readonly Source[], lovelace: bigint): Source[] {
  const rank = ({ wallet }: Source): number => (wallet.account < firstFreeAccount ? 1 : 0)
  const sorted = [...sources].sort((a, b) => rank(a) - rank(b) || (a.lovelace > b.lovelace ? -1 : 1))
  const chosen: Source[] = []
  let missing = lovelace
  for (const source of sorted) {
    if (missing <= 0n) break
    chosen.push(source)
    missing -= source.lovelace
  }
  return missing > 0n ? [] : chosen
}

/** A signed transaction that pays an address and returns the rest to the first wallet. */
async function payment(
  sources: readonly Source[],
  address: Uint8Array,
  lovelace: bigint,
  fee: bigint,
): Promise<Uint8Array> {
  // A bundle, which not every use of the devnet has to load.
  const { publicSigningKey } = await import('@ratatosk/client/wallet/keys')
  const total = sources.reduce((sum, source) => sum + source.lovelace, 0n)
  const wallets = [...new Set(sources.map(({ wallet }) => wallet))]
  const change = decodeBech32Address(wallets[0]?.address ?? '').bytes
  const writer = new CborWriter().map(3).uint(0).array(sources.length)
  for (const { transactionHash, index } of sources) {
    writer.array(2).bytes(fromHex(transactionHash)).uint(index)
  }
  writer.uint(1).array(2)
  writer.array(2).bytes(address).uint(lovelace)
  writer
    .array(2)
    .bytes(change)
    .uint(total - lovelace - fee)
  const body = writer.uint(2).uint(fee).toBytes()
  const id = blake2b256(body)
  const witnesses = new CborWriter().map(1).uint(0).array(wallets.length)
  for (const { signingKey } of wallets) {
    const key = publicSigningKey(signingKey)
    witnesses.array(2).bytes(key.publicKey).bytes(key.sign(id))
  }
  return concatBytes(Uint8Array.of(0x84), body, witnesses.toBytes(), Uint8Array.of(0xf5, 0xf6))
}
