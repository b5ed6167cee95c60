import { recordedLog } from '@ratatosk/test-kit/http'
import { bech32, bech32m } from 'bech32'
import fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import txQuery, { type HistoryPage, type LedgerQueries, type TxQueryOptions, type UtxoRow } from '../index.js'

const keyHash = Buffer.alloc(28, 0x11)
const otherHash = Buffer.alloc(28, 0x22)

/** Address bytes: the header's type (CIP-19) and network id, then what follows. */
export function addressBytes(type: number, networkId: number, ...rest: Uint8Array[]): Buffer {
  return Buffer.concat([Buffer.of((type << 4) | networkId), ...rest])
}

/** Bech32 of any length. */
export function encode(prefix: string, bytes: Uint8Array): string {
  return bech32.encode(prefix, bech32.toWords(bytes), 10_000)
}

const pointer = Buffer.from('81021a05', 'hex')

/** Addresses of every type with a payment key credential, as bytes. */
export const keyAddresses = (networkId: number): Record<string, Buffer> => ({
  'base, key and key': addressBytes(0, networkId, keyHash, otherHash),
  'base, key and script': addressBytes(2, networkId, keyHash, otherHash),
  pointer: addressBytes(4, networkId, keyHash, pointer),
  enterprise: addressBytes(6, networkId, keyHash),
})

/** Addresses without a payment key credential. */
export const keylessAddresses: Record<string, string> = {
  'base, script and key': encode('addr_test', addressBytes(1, 0, keyHash, otherHash)),
  'base, script and script': encode('addr_test', addressBytes(3, 0, keyHash, otherHash)),
  'pointer, script': encode('addr_test', addressBytes(5, 0, keyHash, pointer)),
  'enterprise, script': encode('addr_test', addressBytes(7, 0, keyHash)),
  'stake key': encode('stake_test', addressBytes(14, 0, keyHash)),
  'stake script': encode('stake_test', addressBytes(15, 0, keyHash)),
  'stake key of the other network': encode('stake', addressBytes(14, 1, keyHash)),
  'script of the other network': encode('addr', addressBytes(7, 1, keyHash)),
}

/** An address of a test network. */
export const enterprise = encode('addr_test', addressBytes(6, 0, keyHash))
const words = bech32.toWords(addressBytes(6, 0, keyHash))

/** Texts that are not bech32. */
export const undecodable: Record<string, string> = {
  empty: '',
  'no separator': 'hello',
  'no data': 'addr_test1',
  'no prefix': enterprise.slice('addr_test'.length),
  'not the alphabet': enterprise.replace(/.$/, 'b'),
  'wrong checksum': enterprise.replace(/.$/, (last) => (last === 'q' ? 'p' : 'q')),
  'cut short': enterprise.slice(0, -1),
  'mixed case': enterprise.replace(/.$/, (last) => last.toUpperCase()).replace(/1v/, '1V'),
  'white space around it': ` ${enterprise}`,
  bech32m: bech32m.encode('addr_test', words, 2000),
  'padding that is not zero': bech32.encode(
    'addr_test',
    [...words.slice(0, -1), (words.at(-1) ?? 0) | 1],
    2000,
  ),
  'Byron, Icarus': 'Ae2tdPwUPEZFSi1cTyL1ZL6bgixhc2vSy5heg6Zg9uP7PpumkAJ82Qprt8b',
  'Byron, Daedalus':
    'DdzFFzCqrhsfZHjaBunVySZBU8i9Zom7Gujham6Jz8scCcAdkDmEbD9X' +
    'SdXKdBiPoa1fjgL4ksGjQXD8ZkSNHGJfT25ieA9rWNCSA5qc',
  hex: addressBytes(6, 0, keyHash).toString('hex'),
}

/** Bech32 that is not an address of a test network. */
export const foreign: Record<string, string> = {
  'address of mainnet': encode('addr', addressBytes(6, 1, keyHash)),
  'prefix of mainnet, id of a test network': encode('addr', addressBytes(6, 0, keyHash)),
  'prefix of a test network, id of mainnet': encode('addr_test', addressBytes(6, 1, keyHash)),
  'unknown network id': encode('addr_test', addressBytes(6, 2, keyHash)),
  'stake pool': encode('pool', keyHash),
  'key hash': encode('addr_vkh', keyHash),
  'another chain': encode('bc', keyHash),
  'prefix of a stake address': encode('stake_test', addressBytes(6, 0, keyHash)),
  'no bytes': encode('addr_test', Buffer.alloc(0)),
  'header alone': encode('addr_test', addressBytes(6, 0)),
  'enterprise, a byte short': encode('addr_test', addressBytes(6, 0, keyHash.subarray(1))),
  'enterprise, a byte more': encode('addr_test', addressBytes(6, 0, keyHash, Buffer.of(0))),
  'base, a byte short': encode('addr_test', addressBytes(0, 0, keyHash, otherHash.subarray(1))),
  'base, a byte more': encode('addr_test', addressBytes(0, 0, keyHash, otherHash, Buffer.of(0))),
  'pointer without end': encode('addr_test', addressBytes(4, 0, keyHash, Buffer.of(0x81))),
  'pointer with a byte more': encode('addr_test', addressBytes(4, 0, keyHash, pointer, Buffer.of(1))),
  'unknown type 9': encode('addr_test', addressBytes(9, 0, keyHash)),
  'unknown type 13': encode('addr_test', addressBytes(13, 0, keyHash, otherHash)),
  'Byron in bech32': encode(
    'addr_test',
    Buffer.from(
      '82d818582183581cba970ad36654d8dd8f74274b733452ddeab9a62a397746be3c42ccdda0001a9026da5b',
      'hex',
    ),
  ),
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

export class MemoryLedger implements LedgerQueries {
  readonly transactions = new Map<string, Uint8Array>()
  readonly histories = new Map<string, Uint8Array[]>()
  readonly utxos = new Map<string, UtxoRow[]>()
  readonly blocks = new Map<string, Uint8Array[]>()
  readonly asked: string[] = []

  async transaction(id: Uint8Array): Promise<Uint8Array | undefined> {
    this.asked.push(`transaction ${hex(id)}`)
    return this.transactions.get(hex(id))
  }

  async history(address: Uint8Array, { limit, offset }: HistoryPage): Promise<Uint8Array[]> {
    this.asked.push(`history ${hex(address)} ${limit} ${offset}`)
    return (this.histories.get(hex(address)) ?? []).slice(offset, offset + limit)
  }

  async utxosAt(address: Uint8Array): Promise<UtxoRow[]> {
    this.asked.push(`utxosAt ${hex(address)}`)
    return this.utxos.get(hex(address)) ?? []
  }

  async blockTransactions(headerHash: Uint8Array): Promise<Uint8Array[]> {
    this.asked.push(`blockTransactions ${hex(headerHash)}`)
    return this.blocks.get(hex(headerHash)) ?? []
  }
}

/** A server with the plugin only, over an in-memory ledger by default; `prepare` adds hooks first. */
export async function build(
  t: Test,
  options: Partial<TxQueryOptions> = {},
  prepare: (server: FastifyInstance) => void = () => undefined,
) {
  const ledger = new MemoryLedger()
  const log = recordedLog()
  const server = fastify({ logger: { level: 'info', stream: log.stream } })
  t.teardown(() => server.close())
  prepare(server)
  await server.register(txQuery, { ledger, network: 'testnet', ...options })
  const get = async (url: string) => {
    const response = await server.inject(url)
    return { status: response.statusCode, body: response.body, type: response.headers['content-type'] }
  }
  return { server, ledger, log, get }
}
