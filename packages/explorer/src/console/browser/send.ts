import { CborReader, CborWriter, concatBytes, fromHex, Major, toHex } from '@ratatosk/cbor'
import type { Cip30Api, Cip30Wallet } from '@ratatosk/client/wallet'

declare global {
  interface Window {
    readonly cardano?: { readonly ratatosk?: Cip30Wallet } & Readonly<Record<string, Cip30Wallet>>
  }
}

/** Lovelace. It is more than any payment of one input and two outputs needs. */
const fee = 200_000n
/** The least that the change must hold. */
const leastChange = 2_000_000n

/** Test wallets; a node itself pays from the first three. */
export const firstFreeAccount = 3

/**
 * Sends 5 ada from one test wallet to another on layer 2, through the node's dev wallet. Returns the hash
 * once accepted, or rejects with an error that states a remedy.
 */
export async function sendFiveAda(): Promise<string> {
  return pay(await openWallet(firstFreeAccount), firstFreeAccount + 1, 5_000_000n)
}

/**
 * Sends lovelace to a devnet's test wallet on layer 2. Returns the hash once validation has accepted it;
 * rejects with an error that states a remedy, or one of CIP-30.
 */
export async function pay(wallet: Cip30Api, to: number, amount: bigint): Promise<string> {
  return send(wallet, { receiver: await (await openWallet(to)).getChangeAddress(), amount })
}

/** Makes a payment on layer 2, as {@link pay} does. */
export async function send(wallet: Cip30Api, payment: Payment): Promise<string> {
  const body = draft((await wallet.getUtxos()) ?? [], payment, await wallet.getChangeAddress())
  const witnesses = await wallet.signTx(toHex(assemble(body, Uint8Array.of(0xa0))))
  return wallet.submitTx(toHex(assemble(body, fromHex(witnesses))))
}

/** No ledger is there. The node does not serve layer 1, and references of layer 2 may be the same. */
const nowhere = 'devnet/layer-1'

/** Adds the signature of a test wallet to a transaction of layer 1 that spends outputs of its payment key. */
export async function sign(account: number, transaction: string): Promise<string> {
  const reader = new CborReader(fromHex(transaction))
  reader.readArray()
  const next = () => {
    const start = reader.position
    reader.skip()
    return reader.since(start)
  }
  const [body, others] = [next(), next()]
  // Each is a map with a short head, and the draft has no signatures.
  const count = new CborReader(others).readMap()
  // A wallet that knows no owner signs with its payment key.
  const signatures = fromHex(await (await openWallet(account, nowhere)).signTx(transaction, true))
  const witnesses = new CborWriter()
    .map(count + 1)
    .raw(signatures.subarray(1))
    .raw(others.subarray(1))
  return toHex(assemble(body, witnesses.toBytes()))
}

/**
 * The dev wallet of an account, from a script that the node serves.
 *
 * @param url the Blockfrost API of a ledger; default: layer 2
 */
export async function openWallet(account: number, url?: string): Promise<Cip30Api> {
  const script = document.createElement('script')
  script.src = `dev-wallet.js?account=${account}${url === undefined ? '' : `&url=${encodeURIComponent(url)}`}`
  await new Promise<void>((resolve, reject) => {
    script.onload = () => resolve()
    script.onerror = () => reject(new Error('The node serves no dev wallet: set SERVE_LAYER2_APIS'))
    document.head.append(script)
  })
  script.remove()
  const wallet = window.cardano?.ratatosk
  if (wallet === undefined) throw new Error('The dev wallet did not start')
  return wallet.enable()
}

interface Payment {
  /** Address in hex. */
  readonly receiver: string
  /** Lovelace. */
  readonly amount: bigint
  /** CBOR of an inline datum. */
  readonly datum?: Uint8Array
}

/** The body of a payment that spends the largest output of ada alone. */
function draft(utxos: readonly string[], { receiver, amount, datum }: Payment, change: string): Uint8Array {
  const [largest] = utxos
    .flatMap((utxo) => adaOnly(fromHex(utxo)) ?? [])
    .sort((one, other) => (one.lovelace > other.lovelace ? -1 : 1))
  if (largest === undefined || largest.lovelace < amount + fee + leastChange)
    throw new Error('No output of this wallet holds enough ada and nothing else')
  const writer = new CborWriter().map(3).uint(0).array(1).raw(largest.input)
  writer.uint(1).array(2)
  if (datum === undefined) writer.array(2).bytes(fromHex(receiver)).uint(amount)
  else {
    writer.map(3).uint(0).bytes(fromHex(receiver)).uint(1).uint(amount)
    writer.uint(2).array(2).uint(1).tag(24).bytes(datum)
  }
  writer
    .array(2)
    .bytes(fromHex(change))
    .uint(largest.lovelace - amount - fee)
  return writer.uint(2).uint(fee).toBytes()
}

/** Input and lovelace of a `TransactionUnspentOutput`; undefined if it holds other assets. */
function adaOnly(utxo: Uint8Array): { readonly input: Uint8Array; readonly lovelace: bigint } | undefined {
  const reader = new CborReader(utxo)
  reader.readArray()
  const start = reader.position
  reader.skip()
  const input = reader.since(start)
  // The value is the second part of an output: of an array, or under the key 1 of a map.
  const isMap = reader.peekMajor() === Major.map
  if (isMap) reader.readMap()
  else reader.readArray()
  if (isMap) reader.readUint()
  reader.skip()
  if (isMap && reader.readUint() !== 1) return undefined
  return reader.peekMajor() === Major.unsigned ? { input, lovelace: reader.readUint64() } : undefined
}

function assemble(body: Uint8Array, witnesses: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(0x84), body, witnesses, Uint8Array.of(0xf5, 0xf6))
}
