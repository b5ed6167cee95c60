import { CborReader, fromHex, readList, readRecord, toHex } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'

// Imports nothing of Ratatosk but the CBOR reader and a hash: it sums what anyone can read.

/** Amounts by unit: `lovelace`, or policy id and asset name in hex, joined. None is zero. */
export class Amounts extends Map<string, bigint> {
  plus(other: ReadonlyMap<string, bigint>, times = 1n): this {
    for (const [unit, quantity] of other) {
      const sum = (this.get(unit) ?? 0n) + times * quantity
      if (sum === 0n) this.delete(unit)
      else this.set(unit, sum)
    }
    return this
  }

  override toString(): string {
    const named = [...this].map(([unit, quantity]) => `${quantity} ${unit.slice(0, 12)}`)
    return named.sort().join(' + ') || 'nothing'
  }
}

const lovelace = (amount: bigint): Amounts => new Amounts().plus(new Map([['lovelace', amount]]))

/** Where the sums are read from. */
export interface SumsSources {
  /** Base URLs of layer 1's Blockfrost API, and of an archivist. */
  readonly layer1: string
  readonly archivist: string
  readonly bridge: {
    /** In bech32. */
    readonly address: string
    /** Hashes of the script and of the policy of events, in hex. */
    readonly policies: { readonly bridge: string; readonly events: string }
    /** Lovelace of each withdrawal that go to its payer. */
    readonly payoutFee: bigint
  }
  /** CBOR of each output of the genesis, in hex. */
  readonly genesis: readonly { readonly outref: string; readonly output: string }[]
  /** The addresses of all withdrawals, which get nothing else on layer 1 and spend nothing. */
  readonly exits: readonly string[]
}

/** The outputs at the bridge and at the exits, on layer 1. */
interface Layer1Sums {
  readonly reserves: Amounts
  /** By id. */
  readonly deposits: ReadonlyMap<string, Amounts>
  readonly settlements: number
  /** The value that payouts took from the treasury, and their number. */
  readonly paid: Amounts
  readonly payments: number
  /** The value paid to the treasury without a deposit, with that of the payers of withdrawals. */
  readonly given: Amounts
  readonly toppedUp: Amounts
}

/** Sums at one moment. */
export interface Sums {
  readonly height: number
  /** Reserves and deposits, on layer 1. */
  readonly treasury: Amounts
  readonly waiting: Amounts
  readonly paid: Amounts
  readonly payments: number
  readonly given: Amounts
  readonly toppedUp: Amounts
  readonly settlements: number
  readonly unspent: Amounts
  readonly deposited: Amounts
  readonly deposits: number
  readonly withdrawn: Amounts
  readonly withdrawals: number
  readonly fees: bigint
  /** Ids of the deposits that blocks credit. */
  readonly credited: ReadonlySet<string>
}

/** Reserves back all of the genesis. @returns what does not add up */
export function faultsOf(sums: Sums, genesis: Amounts): string[] {
  const { treasury, waiting, paid, unspent, deposited, withdrawn, given, toppedUp } = sums
  const owed = new Amounts().plus(withdrawn).plus(paid, -1n)
  const equations = [
    [
      'unspent on layer 2 = genesis + deposited - withdrawn',
      unspent,
      new Amounts().plus(genesis).plus(deposited).plus(withdrawn, -1n),
    ],
    ['what is given = genesis', given, genesis],
    [
      'treasury = genesis + deposited + waiting - paid + topped up',
      treasury,
      new Amounts().plus(genesis).plus(deposited).plus(waiting).plus(paid, -1n).plus(toppedUp),
    ],
    [
      'treasury = unspent + owed + waiting + topped up',
      treasury,
      new Amounts().plus(unspent).plus(owed).plus(waiting).plus(toppedUp),
    ],
  ] as const
  const faults = equations.flatMap(([name, found, expected]) =>
    new Amounts().plus(found).plus(expected, -1n).size === 0 ? [] : [`${name}: ${found}, not ${expected}`],
  )
  for (const [unit, amount] of owed)
    if (amount < 0n) faults.push(`${-amount} ${unit} more paid than withdrawn`)
  return faults
}

/** Reads the sums of a deployment, each time anew from layer 1, and from the blocks that it has not read. */
export function openSums(sources: SumsSources) {
  const ledger = createLedger(sources)
  const readLayer1 = openLayer1(sources)
  return {
    genesis: ledger.genesis,
    /** Undefined while something moves. */
    async read(): Promise<Sums | undefined> {
      const before = await readLayer1()
      await ledger.follow()
      const tip = ledger.tip
      const { reserves, deposits, ...paid } = await readLayer1()
      await ledger.follow()
      const isSame =
        tip === ledger.tip &&
        String(before.paid) === String(paid.paid) &&
        String(before.toppedUp) === String(paid.toppedUp) &&
        String(before.reserves) === String(reserves) &&
        String([...before.deposits.keys()].sort()) === String([...deposits.keys()].sort())
      if (!isSame) return undefined
      const state = ledger.state()
      const [treasury, waiting] = [new Amounts().plus(reserves), new Amounts()]
      for (const [id, amounts] of deposits) {
        treasury.plus(amounts)
        if (!state.credited.has(id)) waiting.plus(amounts)
      }
      return { ...state, ...paid, treasury, waiting }
    },
  }
}

interface Layer1Output {
  readonly address: string
  readonly amount: readonly { readonly unit: string; readonly quantity: string }[]
  readonly inline_datum: string | null
}

interface Layer1Input extends Layer1Output {
  readonly collateral: boolean
  readonly reference?: boolean
}

interface Layer1Transaction {
  readonly inputs: readonly Layer1Input[]
  readonly outputs: readonly (Layer1Output & { readonly collateral: boolean })[]
}

const pageSize = 100

async function listOf<Item>(url: string): Promise<readonly Item[]> {
  const all: Item[] = []
  for (let page = 1; ; page++) {
    const items = await jsonOf<readonly Item[]>(`${url}?count=${pageSize}&page=${page}`)
    all.push(...(items ?? []))
    if (items === undefined || items.length < pageSize) return all
  }
}

/** Undefined for 404. */
async function jsonOf<Answer>(url: string): Promise<Answer | undefined> {
  const answer = await fetch(url)
  if (answer.status === 404) return undefined
  if (answer.status !== 200) throw new Error(`${url} answers ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as Answer
}

/** The value that a transaction of layer 1 brought to the treasury beside deposits, and its spending. */
interface Gift {
  readonly given: Amounts
  readonly spends: boolean
}

/** More than an output with a few tokens needs on layer 1. */
const mostToppedUp = 3_000_000n

function openLayer1({ layer1, bridge, exits }: SumsSources): () => Promise<Layer1Sums> {
  const { events, bridge: policy } = bridge.policies
  const gifts = new Map<string, Gift>()
  const isExit = new Set(exits)

  function read({ amount, inline_datum: datum }: Layer1Output) {
    const event = amount.find(({ unit }) => unit.startsWith(events))
    const held = amountsOf(amount.filter(({ unit }) => !unit.startsWith(events)))
    if (amount.some(({ unit }) => unit.startsWith(policy))) return { kind: 'settlement', held } as const
    if (datum === null) return { kind: 'reserve', held } as const
    if (event === undefined) throw new Error(`The bridge holds a stray output of ${held}`)
    return { kind: 'deposit', held, id: event.unit.slice(events.length) } as const
  }

  async function giftOf(hash: string): Promise<Gift> {
    const known = gifts.get(hash)
    if (known !== undefined) return known
    const transaction = await jsonOf<Layer1Transaction>(`${layer1}/txs/${hash}/utxos`)
    const given = new Amounts()
    // A roll-back took it: its sum does not count.
    if (transaction === undefined) return { given, spends: false }
    const spent = transaction.inputs.filter(
      ({ address, collateral, reference = false }) => address === bridge.address && !collateral && !reference,
    )
    for (const input of spent) if (read(input).kind !== 'settlement') given.plus(read(input).held, -1n)
    for (const output of transaction.outputs.filter(({ collateral }) => !collateral)) {
      if (output.address === bridge.address && read(output).kind === 'reserve') given.plus(read(output).held)
      if (isExit.has(output.address)) given.plus(amountsOf(output.amount)).plus(lovelace(bridge.payoutFee))
    }
    for (const [unit, amount] of spent.length > 0 ? given : [])
      if (unit !== 'lovelace' || amount < 0n || amount > mostToppedUp)
        throw new Error(`Transaction ${hash} leaves ${given} in the treasury, and not what it paid out`)
    const gift = { given, spends: spent.length > 0 }
    gifts.set(hash, gift)
    return gift
  }

  return async () => {
    const [reserves, paid, given, toppedUp] = [new Amounts(), new Amounts(), new Amounts(), new Amounts()]
    const deposits = new Map<string, Amounts>()
    let [settlements, payments] = [0, 0]
    const at = `${layer1}/addresses/`
    for (const each of await listOf<{ readonly tx_hash: string }>(`${at}${bridge.address}/transactions`)) {
      const gift = await giftOf(each.tx_hash)
      ;(gift.spends ? toppedUp : given).plus(gift.given)
    }
    for (const output of await listOf<Layer1Output>(`${at}${bridge.address}/utxos`)) {
      const found = read(output)
      if (found.kind === 'settlement') settlements++
      else if (found.kind === 'reserve') reserves.plus(found.held)
      else deposits.set(found.id, found.held)
    }
    for (const exit of exits)
      for (const { amount } of await listOf<Layer1Output>(`${at}${exit}/utxos`)) {
        paid.plus(amountsOf(amount)).plus(lovelace(bridge.payoutFee))
        payments++
      }
    return { reserves, deposits, settlements, paid, payments, given, toppedUp }
  }
}

const amountsOf = (amount: Layer1Output['amount']): Amounts =>
  new Amounts().plus(new Map(amount.map(({ unit, quantity }) => [unit, BigInt(quantity)])))

/** The effects of one block. */
interface BlockEffect {
  readonly hash: string
  readonly spent: readonly string[]
  readonly produced: ReadonlyMap<string, Amounts>
  readonly credited: ReadonlyMap<string, Amounts>
  /** CBOR of the outputs that are credited, in hex. */
  readonly outputs: ReadonlyMap<string, string>
  readonly withdrawn: readonly Amounts[]
  readonly fees: bigint
}

/** The newest blocks that may be removed. */
const mayChange = 20

function createLedger({ archivist, bridge, genesis }: SumsSources) {
  const blocks: BlockEffect[] = []
  const began = new Map(
    genesis.map(({ outref, output }) => [outref, outputOf(new CborReader(fromHex(output))).amounts]),
  )
  const sum = new Amounts()
  for (const amounts of began.values()) sum.plus(amounts)

  const hashAt = async (height: number) =>
    (await answerOf(`${archivist}/block/${height}/header`))?.get('hash')

  return {
    genesis: sum,
    get tip(): string | undefined {
      return blocks.at(-1)?.hash
    },

    /** Reads the blocks that are new, and forgets those that are gone. */
    async follow(): Promise<void> {
      for (let height = Math.max(1, blocks.length - mayChange); ; height++) {
        const hash = await hashAt(height)
        if (hash !== undefined && blocks[height - 1]?.hash === toHex(hash)) continue
        blocks.length = height - 1
        const body = hash && (await answerOf(`${archivist}/block/${toHex(hash)}/body`))?.get('body')
        if (hash === undefined || body === undefined) return
        blocks.push({ hash: toHex(hash), ...effectOf(body, bridge.policies.bridge) })
      }
    },

    /** The state after all blocks. @throws Error if a block spends or credits twice, or pays other fees */
    state() {
      const unspent = new Map(began)
      const credited = new Set<string>()
      const [deposited, withdrawn] = [new Amounts(), new Amounts()]
      let [fees, withdrawals] = [0n, 0]
      let previous = '00'.repeat(28)
      for (const block of blocks) {
        for (const key of block.spent)
          if (!unspent.delete(key)) throw new Error(`Block ${block.hash} spends ${key}, which is not unspent`)
        for (const [key, amounts] of block.produced) unspent.set(key, amounts)
        const isFees = (id: string) =>
          id === toHex(blake2b256(fromHex(previous + (block.outputs.get(id) ?? ''))))
        const feeId = [...block.credited.keys()].find(isFees)
        const paid = block.credited.get(feeId ?? '') ?? new Amounts()
        if (String(paid) !== String(lovelace(block.fees)))
          throw new Error(`Block ${block.hash} has fees of ${block.fees} lovelace, and pays ${paid}`)
        previous = block.hash
        for (const [id, amounts] of block.credited) {
          if (id === feeId) continue
          if (credited.has(id)) throw new Error(`Block ${block.hash} credits ${id} again`)
          credited.add(id)
          deposited.plus(amounts)
        }
        for (const amounts of block.withdrawn) withdrawn.plus(amounts)
        withdrawals += block.withdrawn.length
        fees += block.fees
      }
      const left = new Amounts()
      for (const amounts of unspent.values()) left.plus(amounts)
      const deposits = credited.size
      const height = blocks.length
      return { height, unspent: left, deposited, deposits, withdrawn, withdrawals, fees, credited }
    },
  }
}

/** The entries of an answer of the archivist: of a byte string its bytes; undefined for 404. */
async function answerOf(url: string): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
  const answer = await fetch(url, { headers: { accept: 'application/cbor' } })
  if (answer.status === 404) return undefined
  if (answer.status !== 200) throw new Error(`${url} answers ${answer.status}: ${await answer.text()}`)
  const reader = new CborReader(new Uint8Array(await answer.arrayBuffer()))
  const entries = new Map<string, Uint8Array>()
  const count = reader.readMap()
  while (reader.hasNext(count, entries.size)) {
    const name = reader.readText()
    const start = reader.position
    if (reader.peekMajor() === 2) entries.set(name, reader.readBytes())
    else {
      reader.skip()
      entries.set(name, reader.since(start))
    }
  }
  return entries
}

/** `[transactions, spent, produced, deposits, …]`. */
function effectOf(body: Uint8Array, bridge: string): Omit<BlockEffect, 'hash'> {
  const reader = new CborReader(body)
  reader.readArray()
  const transactions = readList(reader, (item) => transactionOf(item.readBytes(), bridge))
  const spent = readList(reader, outrefOf)
  const produced = readList(
    reader,
    (item) =>
      readRecord(item, 2, (pair) => [outrefOf(pair), outputOf(new CborReader(pair.readBytes())).amounts]) as [
        string,
        Amounts,
      ],
  )
  const credits = readList(
    reader,
    (item) =>
      readRecord(item, 2, (pair) => [toHex(pair.readBytesOf(32)), pair.readBytes()]) as [string, Uint8Array],
  )
  return {
    spent,
    produced: new Map(produced),
    credited: new Map(credits.map(([id, cbor]) => [id, outputOf(new CborReader(cbor)).amounts])),
    outputs: new Map(credits.map(([id, cbor]) => [id, toHex(cbor)])),
    withdrawn: transactions.flatMap(({ leaving }) => leaving),
    fees: transactions.reduce((sum, { fee }) => sum + fee, 0n),
  }
}

const outrefOf = (reader: CborReader): string =>
  readRecord(reader, 2, (pair) => `${toHex(pair.readBytesOf(32))}#${pair.readUint()}`)

/** The fee of a transaction, and the outputs that leave by it. */
function transactionOf(cbor: Uint8Array, bridge: string): { fee: bigint; leaving: Amounts[] } {
  const reader = new CborReader(cbor)
  reader.readArray()
  const leaving: Amounts[] = []
  let fee = 0n
  const count = reader.readMap()
  for (let index = 0; reader.hasNext(count, index); index++) {
    const field = reader.readUint()
    if (field === 1)
      for (const { address, amounts } of readList(reader, outputOf)) {
        if (address.startsWith('7') && address.slice(2) === bridge) leaving.push(amounts)
      }
    else if (field === 2) fee = reader.readUint64()
    else reader.skip()
  }
  return { fee, leaving }
}

/** An output, as a map or as an array. */
function outputOf(reader: CborReader): { address: string; amounts: Amounts } {
  let address = ''
  let amounts = new Amounts()
  const isMap = reader.peekMajor() === 5
  const count = isMap ? reader.readMap() : reader.readArray()
  for (let index = 0; reader.hasNext(count, index); index++) {
    const field = isMap ? reader.readUint() : index
    if (field === 0) address = toHex(reader.readBytes())
    else if (field === 1) amounts = valueIn(reader)
    else reader.skip()
  }
  return { address, amounts }
}

function valueIn(reader: CborReader): Amounts {
  if (reader.peekMajor() === 0) return lovelace(reader.readUint64())
  reader.readArray()
  const amounts = lovelace(reader.readUint64())
  const policies = reader.readMap()
  for (let policy = 0; reader.hasNext(policies, policy); policy++) {
    const id = toHex(reader.readBytes())
    const names = reader.readMap()
    for (let name = 0; reader.hasNext(names, name); name++)
      amounts.plus(new Map([[id + toHex(reader.readBytes()), reader.readUint64()]]))
  }
  return amounts
}
