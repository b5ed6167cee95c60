import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { toHex } from '@ratatosk/cbor'
import { outputOf } from '@ratatosk/fixtures'
import { createBlockfrostLayer1, type Layer1 } from '@ratatosk/layer1'
import { blake2b256, type ProtocolParameters, type Utxo } from '@ratatosk/ledger'
import { buildTransaction, nativeScript, type WalletKeys } from '@ratatosk/ledger/builder'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { freePort, generator, pick } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import t, { type Test } from 'tap'
import { networkOf } from '../network/network.js'
import { temporaryDirectory } from '../test/backends.js'
import { Amounts, faultsOf, openSums, type Sums } from '../test/bridge-sums.js'
import { payment, signedBy, walletOf, walletOutputs } from '../test/bridge-wallet.js'
import { initialised } from '../test/node.js'
import { type NodeProcess, spawnNode } from '../test/node-process.js'
import { devnetParameters } from '../test/transfer.js'

const ada = (amount: number): bigint => BigInt(amount) * 1_000_000n
const patient = { timeoutMs: 180_000 }
const { slots } = networkOf('devnet')

/** Users have ada on both layers; exits have nothing on any. */
const users = [5, 6, 7].map(walletOf)
const exits = [25, 26, 27].map(walletOf)
const minter = users[0] as WalletKeys
const tokens = nativeScript(JSON.stringify({ type: 'sig', keyHash: toHex(minter.address.payment.hash) }))
const policy = toHex(tokens.hash)
const tokenName = toHex(new TextEncoder().encode('acorn'))

type Kind = 'deposit' | 'payment' | 'withdrawal' | 'payout' | 'kill' | 'roll-back'
/** Each kind, as often as it is drawn. */
const deck: readonly Kind[] = [
  ...Array<Kind>(3).fill('deposit'),
  ...Array<Kind>(3).fill('payment'),
  ...Array<Kind>(4).fill('withdrawal'),
  ...Array<Kind>(2).fill('payout'),
  'kill',
  'roll-back',
  'roll-back',
]

/** Blocks, one each second, that roll-backs undo at most: EVENT_WAIT_MS is longer. */
const deepest = 5

/** A node with a bridge in its own process, and users who do what a generator draws. */
interface BridgeStory {
  /** Does one thing. @returns it, for people */
  step(): Promise<string>
  /** Waits until all adds up. @throws Error with what does not */
  check(): Promise<Sums>
  /** Waits until everything is credited and paid. */
  rest(): Promise<Sums>
  readonly counts: Readonly<Record<string, number>>
}

interface Answered {
  readonly status: number
  readonly body: string
}

/** Starts the node and mints tokens on layer 1. */
async function openBridgeStory(t: Test, seed: number): Promise<BridgeStory> {
  const place = await createPlace(t)
  const stage = new Stage(t, place, generator(seed))
  await stage.start()
  await initialised(stage.url)
  await stage.mint()
  await stage.openSums()
  return stage
}

async function createPlace(t: Test) {
  const DATA_DIR = await temporaryDirectory(t)
  const [port, devnetPort] = [await freePort(), await freePort()]
  const genesis = users.flatMap((keys, user) =>
    [0, 1, 2].map((index) => ({
      outref: `${toHex(blake2b256(new TextEncoder().encode(`user ${user}`)))}#${index}`,
      output: toHex(outputOf({ address: keys.address.bytes }, ada(100))),
    })),
  )
  const file = join(await temporaryDirectory(t), 'genesis.json')
  await writeFile(file, JSON.stringify({ utxos: genesis }))
  const settings = {
    DATA_DIR,
    PORT: String(port),
    DEVNET_PORT: String(devnetPort),
    GENESIS_FILE: file,
    BRIDGED_POLICIES: policy,
    MATURITY_WINDOW_MS: '3000',
    VERDICT_POLICIES: 'none',
    MERGE_INTERVAL_MS: '500',
    BLOCK_VALIDITY_MS: '5000',
    EVENT_WAIT_MS: '10000',
    SEQUENCER_LEASE_MS: '4000',
  }
  return { settings, genesis, url: `http://127.0.0.1:${port}`, devnet: `http://127.0.0.1:${devnetPort}` }
}

class Stage implements BridgeStory {
  readonly url: string
  readonly counts: Record<string, number> = {}
  readonly #t: Test
  readonly #place: Awaited<ReturnType<typeof createPlace>>
  readonly #random: () => number
  readonly #layer1: Layer1
  readonly #layer2: Layer1
  /** The ids of what was sent to layer 1, which a roll-back may take. */
  readonly #deposits = new Set<string>()
  /** Accepted transactions. */
  readonly #withdrawn = new Amounts()
  #withdrawals = 0
  #parameters: ProtocolParameters | undefined
  /** The greatest height of layer 1 before a roll-back. */
  #highest = 0
  #node: NodeProcess | undefined
  #sums: ReturnType<typeof openSums> | undefined

  constructor(t: Test, place: Awaited<ReturnType<typeof createPlace>>, random: () => number) {
    this.#t = t
    this.#place = place
    this.#random = random
    this.url = place.url
    const common = { networkMagic: 42, pollMs: 200 }
    this.#layer1 = createBlockfrostLayer1({ ...common, url: `${place.devnet}/blockfrost/api/v0` })
    this.#layer2 = createBlockfrostLayer1({ ...common, url: `${place.url}/l2/blockfrost/api/v0` })
  }

  async start(): Promise<void> {
    this.#parameters ??= await devnetParameters()
    const AUTO_PAY = String(this.#below(3) > 0)
    this.#node = await spawnNode(this.#t, { ...this.#place.settings, AUTO_PAY })
    const isReady = async () => (await ask(`${this.url}/health/ready`)).status === 200
    await until(isReady, { what: 'the node is ready', ...patient })
  }

  /** Gives each user tokens on layer 1. */
  async mint(): Promise<void> {
    const layer1 = this.#layer1
    const { bytes, id } = await buildTransaction(
      {
        mint: [{ policy, assets: new Map([[tokenName, 3_000_000n]]) }],
        scripts: [tokens],
        outputs: users.map(({ addressText }) => ({
          address: addressText,
          lovelace: ada(2000),
          assets: tokensOf(1_000_000n),
        })),
      },
      {
        funds: await layer1.utxosAt(minter.addressText),
        changeAddress: minter.address.bytes,
        signers: [minter.payment],
        parameters: await layer1.parameters(),
        slots,
        slot: await layer1.currentSlot(),
        networkId: 0,
      },
    )
    await layer1.submit(bytes)
    await layer1.await(id)
  }

  /** Waits until the genesis of layer 2 is backed. */
  async openSums(): Promise<void> {
    const { address, policies, payoutFee } = JSON.parse((await ask(`${this.url}/bridge`)).body)
    const sums = openSums({
      layer1: `${this.#place.devnet}/blockfrost/api/v0`,
      archivist: `${this.url}/archivist`,
      bridge: { address, policies, payoutFee: BigInt(payoutFee) },
      genesis: this.#place.genesis,
      exits: exits.map(({ addressText }) => addressText),
    })
    this.#sums = sums
    await this.check()
    // No roll-back takes it.
    await sleep((deepest + 3) * 1000)
    await this.check()
  }

  async step(): Promise<string> {
    // Layer 1 makes a block each second.
    await sleep(this.#below(1000))
    const kind = pick(this.#random, deck)
    const told = await this.#act(kind)
    this.counts[kind] = (this.counts[kind] ?? 0) + (told.startsWith('refused') ? 0 : 1)
    return `${kind}: ${told}`
  }

  #act(kind: Kind): Promise<string> {
    if (kind === 'deposit') return this.#deposit()
    if (kind === 'payment') return this.#pay()
    if (kind === 'withdrawal') return this.#withdraw()
    if (kind === 'payout') return this.#payOut()
    return kind === 'kill' ? this.#kill() : this.#rollBack()
  }

  async check(): Promise<Sums> {
    const sums = this.#sums
    if (sums === undefined) throw new TypeError('The sums are not open')
    let last: Sums | undefined
    let faults: readonly string[] = ['the sums move all the time']
    const adds = async () => {
      const read = await sums.read()
      if (read === undefined) return false
      faults = faultsOf(read, sums.genesis)
      last = read
      return faults.length === 0
    }
    await until(adds, patient).catch((error: unknown) => {
      throw new Error(`It does not add up: ${faults.join('; ')}`, { cause: error })
    })
    return last as Sums
  }

  async rest(): Promise<Sums> {
    let sums = await this.check()
    const isDone = async () => {
      sums = await this.check()
      if (sums.settlements > 0) await this.#payOut()
      return sums.waiting.size === 0 && sums.payments === this.#withdrawals && sums.settlements === 0
    }
    await until(isDone, { what: 'all is credited and paid', ...patient }).catch((error: unknown) => {
      throw new Error(`${sums.payments} of ${this.#withdrawals} are paid, ${sums.waiting} wait`, {
        cause: error,
      })
    })
    this.#t.equal(String(sums.paid), String(this.#withdrawn), 'all that was accepted is paid, once')
    for (const id of sums.credited) this.#t.ok(this.#deposits.has(id), `${id} was deposited`)
    return sums
  }

  async #deposit(): Promise<string> {
    const keys = pick(this.#random, users)
    const lovelace = ada(5 + this.#below(95)) + BigInt(this.#below(1_000_000))
    const quantity = BigInt(this.#below(2) * (1 + this.#below(1000)))
    const drafted = await this.#post('/bridge/draft', {
      kind: 'deposit',
      utxos: walletOutputs(await this.#layer1.utxosAt(keys.addressText)),
      changeAddress: keys.addressText,
      to: pick(this.#random, users).addressText,
      lovelace: String(lovelace),
      ...(quantity > 0n && { assets: { [policy + tokenName]: String(quantity) } }),
    })
    if (drafted.status !== 200) return refused(drafted)
    const { transaction, id } = JSON.parse(drafted.body)
    this.#deposits.add(id)
    const sent = await this.#post('/bridge/submit', { transaction: signedBy(keys.payment, transaction) })
    return sent.status === 200 ? `${lovelace} lovelace and ${quantity} tokens` : refused(sent)
  }

  async #pay(): Promise<string> {
    const to = pick(this.#random, users).addressText
    return this.#send({ address: to }, ada(2 + this.#below(20)) + BigInt(this.#below(1_000_000)))
  }

  async #withdraw(): Promise<string> {
    const { address } = JSON.parse((await ask(`${this.url}/bridge`)).body)
    const data = encodePlutusData(pick(this.#random, exits).address.bytes)
    const lovelace = ada(3 + this.#below(40)) + BigInt(this.#below(1_000_000))
    return this.#send({ address, datum: { kind: 'inline', data } as const }, lovelace, true)
  }

  /** Sends ada, and perhaps tokens, on layer 2. */
  async #send(
    output: {
      readonly address: string
      readonly datum?: { readonly kind: 'inline'; readonly data: Uint8Array }
    },
    lovelace: bigint,
    leaves = false,
  ): Promise<string> {
    const keys = pick(this.#random, users)
    const funds = await this.#layer2.utxosAt(keys.addressText)
    const held = funds.reduce((sum, utxo) => sum + tokensIn(utxo), 0n)
    const wanted = BigInt(this.#below(2) * (1 + this.#below(200)))
    const quantity = wanted < held ? wanted : held
    const assets = quantity > 0n ? tokensOf(quantity) : new Map()
    const outputs = [{ ...output, lovelace, assets }]
    const parameters = this.#parameters as ProtocolParameters
    const built = await payment({ keys, funds, outputs, parameters, slots }).catch((error: unknown) => error)
    if (built instanceof Error || !isBuilt(built)) return `refused: ${built}`
    const body = toHex(built.bytes)
    const answer = await ask(`${this.url}/submit`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body,
    })
    if (answer.status !== 200) return refused(answer)
    if (leaves) {
      this.#withdrawals++
      this.#withdrawn.plus(new Map([['lovelace', lovelace]]))
      if (quantity > 0n) this.#withdrawn.plus(new Map([[policy + tokenName, quantity]]))
    }
    return `${lovelace} lovelace and ${quantity} tokens`
  }

  async #payOut(): Promise<string> {
    const answer = await this.#post('/payout', { limit: 1 + this.#below(3) })
    return answer.status === 200 ? `${JSON.parse(answer.body).paid} withdrawals` : refused(answer)
  }

  async #kill(): Promise<string> {
    await sleep(this.#below(1500))
    await this.#node?.stop('SIGKILL')
    const since = performance.now()
    await this.start()
    return `ready again after ${Math.round(performance.now() - since)} ms`
  }

  async #rollBack(): Promise<string> {
    const [drawn, resubmit] = [1 + this.#below(4), this.#below(2) === 0]
    const { tip } = JSON.parse((await ask(`${this.url}/devnet`)).body)
    this.#highest = Math.max(this.#highest, tip.height)
    const blocks = Math.min(drawn, tip.height - (this.#highest - deepest))
    if (blocks <= 0) return 'refused: too much is rolled back already'
    const answer = await ask(`${this.url}/devnet/roll-back`, jsonOf({ blocks, resubmit }))
    if (answer.status !== 200) return refused(answer)
    return `${blocks} blocks, whose transactions ${resubmit ? 'wait again' : 'are lost'}`
  }

  #post(path: string, body: unknown): Promise<Answered> {
    return ask(this.url + path, jsonOf(body))
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }
}

const jsonOf = (body: unknown) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

const refused = ({ status, body }: Answered): string => `refused: ${status} ${body.slice(0, 200)}`

const isBuilt = (built: unknown): built is Awaited<ReturnType<typeof payment>> =>
  typeof built === 'object' && built !== null && 'bytes' in built

const tokensOf = (quantity: bigint) => new Map([[policy, new Map([[tokenName, quantity]])]])

const tokensIn = ({ output }: Utxo): bigint => output.value.assets.get(policy)?.get(tokenName) ?? 0n

const seconds = Number(process.env.RATATOSK_BRIDGE_SECONDS ?? 60)
const seed = Number(process.env.RATATOSK_BRIDGE_SEED ?? 1)

t.setTimeout(seconds * 1000 + 600_000)

t.test(`random deposits, payments, withdrawals, kills and roll-backs add up (seed ${seed})`, async (t) => {
  const story = await openBridgeStory(t, seed)
  const end = performance.now() + seconds * 1000
  for (let step = 1; performance.now() < end; step++) {
    const told = await story.step()
    const since = performance.now()
    const sums = await story.check().catch((error: unknown) => {
      t.comment(`${step}. ${told}; it does not add up`)
      throw error
    })
    const { height, treasury, waiting, paid, toppedUp, payments, withdrawals } = sums
    const checked = Math.round(performance.now() - since)
    t.comment(
      `${step}. ${told}; block ${height}, treasury ${treasury}, of which wait ${waiting}, ` +
        `paid ${paid} (${payments} of ${withdrawals}), topped up ${toppedUp}; equal after ${checked} ms`,
    )
  }
  const { deposits, payments } = await story.rest()
  t.comment(
    `${deposits} deposits are credited, ${payments} withdrawals paid: ${JSON.stringify(story.counts)}`,
  )
})
